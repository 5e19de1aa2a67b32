package cli

import (
	"github.com/spf13/cobra"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/capture/foreign"
	"mcpsnoop/internal/run"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/term"
	"mcpsnoop/internal/tracectx"
)

// target is what a command is to look at: what an argument names, or the sessions of a
// run that are in one log.
type target struct {
	arg     string
	log     *statedir.Entry // nil: arg says which
	members members
}

// members are sessions of one log; nil means all.
type members map[memberKey]bool

type memberKey struct {
	tap    string
	number int
}

func (m members) has(h *session.Header) bool { return m == nil || m[memberKey{h.Tap, h.Number}] }

// addRun adds the flag of that name.
func addRun(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "run", "", "take every session of this run, as mcpsnoop runs names it")
}

// targets returns what arguments or --run name. The run is nil without --run.
func (a *app) targets(args []string, runID string) ([]target, *run.Run, error) {
	if runID == "" {
		if len(args) == 0 {
			args = []string{""}
		}
		list := make([]target, len(args))
		for i, arg := range args {
			list[i].arg = arg
		}
		return list, nil, nil
	}
	r, found, err := a.onlyRun(args, runID)
	if err != nil {
		return nil, nil, err
	}
	return r.targets(found), found, nil
}

// onlyRun returns the run that --run names, beside which nothing else may be named.
func (a *app) onlyRun(args []string, runID string) (*recordings, *run.Run, error) {
	if len(args) > 0 {
		return nil, nil, usagef("name sessions or a run", "both %q and --run %q are given", args[0], runID)
	}
	return a.findRun(runID)
}

// targets returns the logs in which the sessions of a run are, in order of its members.
func (r *recordings) targets(of *run.Run) (list []target) {
	at := map[*statedir.Entry]int{}
	for i := range of.Members {
		one := &r.list[of.Members[i].Index]
		log := &one.log.Entry
		n, known := at[log]
		if !known {
			n = len(list)
			at[log] = n
			list = append(list, target{arg: log.ID, log: log, members: members{}})
		}
		list[n].members[memberKey{one.header.Tap, one.header.Number}] = true
	}
	return list
}

// openTarget opens what is to be looked at, as open does.
func (a *app) openTarget(t target, again bool) (*input, error) {
	if t.log == nil {
		return a.open(t.arg, again)
	}
	in, err := a.openLogs(again, *t.log)
	if err != nil {
		return nil, err
	}
	in.logs[0].members = t.members
	return in, nil
}

// openRun opens all logs of a run as one, one behind the other.
func (a *app) openRun(list []target) (*input, error) {
	entries := make([]statedir.Entry, len(list))
	for i, t := range list {
		entries[i] = *t.log
	}
	in, err := a.openLogs(true, entries...)
	if err != nil {
		return nil, err
	}
	for i, t := range list {
		in.logs[i].members = t.members
	}
	return in, nil
}

// openLogs opens logs of the state directory, as one.
func (a *app) openLogs(again bool, entries ...statedir.Entry) (*input, error) {
	in := &input{bar: term.NewProgress(a.env.Stderr, a.env.Getenv)}
	for i := range entries {
		e := &entries[i]
		state, _ := e.State()
		in.paths, in.size = append(in.paths, e.Paths...), in.size+e.Size
		in.logs = append(in.logs, opened{paths: e.Paths, live: state == statedir.Live})
	}
	if len(entries) == 1 {
		in.entry, in.live = entries[0], in.logs[0].live
	}
	var err error
	if in.Log, err = capture.OpenLog(capture.Options{Again: again, Decoder: foreign.NewDecoder}, in.paths...); err != nil {
		return nil, unreadable(err)
	}
	return in, nil
}

// wants reports whether a session is one of those that were asked for.
func (in *input) wants(h *session.Header) bool {
	if !in.pick.ofTap(h) {
		return false
	}
	return in.logs == nil || in.logOf(h) != nil
}

// opened is a log of a run.
type opened struct {
	paths   []string
	live    bool
	members members
}

// logOf returns the log of a run that a session of it is in, nil if it is none of it.
func (in *input) logOf(h *session.Header) *opened {
	for i := range in.logs {
		if in.logs[i].members.has(h) {
			return &in.logs[i]
		}
	}
	return nil
}

// keyOf tells a session of the input from those of other logs; false if it is none that
// the input was opened for, so that nobody knows which log it is in.
func (in *input) keyOf(h *session.Header) (sessionKey, bool) {
	if len(in.logs) < 2 {
		return keyOf(in.paths, h), true
	}
	log := in.logOf(h)
	if log == nil {
		return sessionKey{}, false
	}
	return keyOf(log.paths, h), true
}

// isLive reports whether a session is being recorded.
func (in *input) isLive(h *session.Header) bool {
	if log := in.logOf(h); log != nil {
		return log.live
	}
	return in.live
}

// traceOf is the trace of a run, zero if its key is none.
func traceOf(r *run.Run) (id tracectx.TraceID) {
	if r == nil || r.Kind != run.ByTrace {
		return id
	}
	id, _ = tracectx.ParseTraceID(r.Trace) // it was written by String
	return id
}
