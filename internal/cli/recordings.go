package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mcpsnoop/internal/export"
	"mcpsnoop/internal/index"
	"mcpsnoop/internal/run"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
)

// recordings is the sessions that are known, and the runs they make up.
type recordings struct {
	list []recording
	at   map[sessionKey]int // in list
	runs []run.Run          // whose members are numbered as in list
}

// recording is a session and the log it is in.
type recording struct {
	log    *index.Log // nil for one that lies elsewhere than in the state directory
	key    sessionKey
	header *session.Header
	facts  run.Session
}

// sessionKey is what tells sessions of all logs apart: of the log, its first file.
type sessionKey struct {
	path, tap string
	number    int
}

func keyOf(paths []string, h *session.Header) sessionKey {
	k := sessionKey{tap: h.Tap, number: h.Number}
	if len(paths) > 0 {
		k.path = absolute(paths[0])
	}
	return k
}

// absolute is a path as it stands from the root, as far as that is known.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// recordings returns every session of the state directory with the runs they make up.
func (a *app) recordings(dir statedir.Dir) (*recordings, error) {
	logs, err := a.indexed(dir)
	if err != nil {
		return nil, err
	}
	r := newRecordings()
	r.addLogs(logs)
	r.group(a)
	return r, nil
}

func newRecordings() *recordings { return &recordings{at: map[sessionKey]int{}} }

// addLogs adds the sessions of logs that are not there yet.
func (r *recordings) addLogs(logs []index.Log) {
	more := 0
	for i := range logs {
		more += len(logs[i].Sessions)
	}
	r.list = slices.Grow(r.list, more)
	if len(r.at) == 0 {
		r.at = make(map[sessionKey]int, more)
	}
	for i := range logs {
		log := &logs[i]
		for n := range log.Sessions {
			h := &log.Sessions[n]
			one := recording{log: log, key: keyOf(log.Paths, h), header: h, facts: run.Of(h)}
			if log.Findings != nil {
				one.facts.Findings = &log.Findings[n]
			}
			r.add(one)
		}
	}
}

// add adds a session. One that is there already stays as it is.
func (r *recordings) add(one recording) {
	if _, known := r.at[one.key]; known {
		return
	}
	r.at[one.key] = len(r.list)
	r.list = append(r.list, one)
}

func (r *recordings) group(a *app) {
	list := make([]run.Session, len(r.list))
	for i := range list {
		list[i] = r.list[i].facts
	}
	r.runs = run.Group(list, a.env.thisHost())
}

// around returns the sessions of logs that were read, and all that may be in a run with
// them: those of the state directory, if a log lies there.
func (a *app) around(own []ownSession) (*recordings, error) {
	dir, err := a.state()
	if err != nil {
		return nil, err
	}
	r, recorded := newRecordings(), false
	for i := range own {
		o := &own[i]
		recorded = recorded || filepath.Dir(o.key.path) == absolute(dir.Sessions())
		r.add(recording{key: o.key, header: &o.header, facts: run.Of(&o.header)})
	}
	if recorded {
		found, err := a.readQuietly(dir, a.indexOptions(dir))
		if err != nil {
			return nil, err
		}
		r.addLogs(found.Logs)
	}
	r.group(a)
	return r, nil
}

// ownSession is a session of a log that was read.
type ownSession struct {
	key    sessionKey
	header session.Header
	wanted bool // it was asked for
}

// headersOf returns the headers of all sessions.
func headersOf(r *session.Reducer) []session.Header {
	all := make([]session.Header, r.Len())
	for i := range all {
		all[i] = r.Header(i)
	}
	return all
}

// ownOf returns the sessions of an input, of which all are those of its logs.
func ownOf(in *input, all []session.Header) (own []ownSession) {
	for i := range all {
		if key, ok := in.keyOf(&all[i]); ok {
			own = append(own, ownSession{key, all[i], in.wants(&all[i])})
		}
	}
	return own
}

// mostTold is how many runs are told of.
const mostTold = 3

// tellRuns says of which runs only a part was looked at, and the command for all of it.
func (a *app) tellRuns(command string, own []ownSession) {
	r, err := a.around(own)
	if err != nil {
		return // whatever is wrong there was no part of what was asked
	}
	wanted := map[int]bool{}
	for i := range own {
		if own[i].wanted {
			wanted[r.at[own[i].key]] = true
		}
	}
	told, more := 0, 0
	for i := range r.runs {
		in := &r.runs[i]
		var some []string
		for k := range in.Members {
			if wanted[in.Members[k].Index] {
				some = append(some, in.Members[k].Session.ID)
			}
		}
		switch {
		case len(some) == 0 || len(some) == len(in.Members):
		case told == mostTold:
			more++
		default:
			told++
			which := fmt.Sprintf("session %q is one", some[0])
			if len(some) > 1 {
				which = fmt.Sprintf("%d of the sessions are", len(some))
			}
			a.note("%s of the %d of run %s: for all of it, %s --run %s", which, len(in.Members), in.ID, a.self(command), in.ID)
		}
	}
	if more > 0 {
		a.note("and of %d more runs: mcpsnoop runs lists them", more)
	}
}

// self is how a command of ours is called to look where this one looks.
func (a *app) self(command string) string {
	if a.home == "" {
		return "mcpsnoop " + command
	}
	home := a.home
	if strings.ContainsAny(home, " \t'\"\\$`*?&;|<>()") {
		home = "'" + strings.ReplaceAll(home, "'", `'\''`) + "'"
	}
	return "mcpsnoop --home " + home + " " + command
}

// partsOf says of which runs the sessions of an input are part: all are those of its
// logs, in order.
func (a *app) partsOf(in *input, all []session.Header) map[int][]export.RunPart {
	r, err := a.around(ownOf(in, all))
	if err != nil {
		return nil
	}
	parts := export.NewRunParts(r.runs)
	of := map[int][]export.RunPart{}
	for i := range all {
		if key, ok := in.keyOf(&all[i]); ok {
			of[i] = parts[r.at[key]]
		}
	}
	return of
}

// findRun returns the run of the state directory that --run, or an argument, names.
func (a *app) findRun(text string) (*recordings, *run.Run, error) {
	dir, err := a.state()
	if err != nil {
		return nil, nil, err
	}
	r, err := a.recordings(dir)
	if err != nil {
		return nil, nil, err
	}
	found, err := run.Find(r.runs, text)
	var missing *run.NotFoundError
	var ambiguous *run.AmbiguousError
	switch {
	case errors.As(err, &missing) && len(missing.Near) > 0:
		return nil, nil, &exitError{exitUsage, err, "mcpsnoop runs lists them; nearest: " + strings.Join(missing.Near, ", ")}
	case errors.As(err, &missing):
		return nil, nil, &exitError{exitUsage, err, fmt.Sprintf("there is none in %q", dir.Sessions())}
	case errors.As(err, &ambiguous):
		return nil, nil, &exitError{exitUsage, err, "give more of the id"}
	case err != nil:
		return nil, nil, err
	}
	return r, found, nil
}
