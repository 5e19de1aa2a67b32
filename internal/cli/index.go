package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/capture/foreign"
	"mcpsnoop/internal/index"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/term"
	"mcpsnoop/internal/view"
)

func (a *app) indexCommand() *cobra.Command {
	var stats, rebuild bool
	c := &cobra.Command{
		Use:   "index",
		Short: "Bring the index of the recorded sessions up to date, or say how it stands",
		Long: `index brings the one file up to date that makes finding things among thousands of
sessions fast. Every command that looks for something does so too, so there is no
need to; the file may be deleted at any time.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case stats && rebuild:
				return usagef("", "--stats leaves the index alone, --rebuild does not")
			case stats:
				return a.indexStats()
			}
			return a.indexUpdate(rebuild)
		},
	}
	c.Flags().BoolVar(&stats, "stats", false, "say how the index stands and leave it alone")
	c.Flags().BoolVar(&rebuild, "rebuild", false, "make it anew from the logs; how many findings sessions have is forgotten until they are judged again")
	return c
}

// indexed returns what each log of the state directory holds, last written first,
// from the index as far as it holds. What cannot be read is named on stderr, once,
// and left out.
func (a *app) indexed(dir statedir.Dir) ([]index.Log, error) {
	found, err := a.readIndex(dir, a.indexOptions(dir))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found.Logs, func(log index.Log) bool {
		if log.Err != nil {
			a.note("%v", log.Err)
		}
		return log.Err != nil
	}), nil
}

// readIndex reads the index and names problems of the directory.
func (a *app) readIndex(dir statedir.Dir, o index.Options) (*index.Index, error) {
	found, err := a.readQuietly(dir, o)
	if err != nil {
		return nil, unreadable(err) // as when a session is looked for in it
	}
	for _, problem := range found.Problems {
		a.note("%v", problem)
	}
	return found, nil
}

// readQuietly reads the index for a command that is not about the directory.
func (a *app) readQuietly(dir statedir.Dir, o index.Options) (*index.Index, error) {
	// Everything that is made of an index stays: looking for what does not costs a fifth
	// of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	if bar := term.NewProgress(a.env.Stderr, a.env.Getenv); bar != nil {
		defer bar.Clear()
		o.Progress = func(done, total int64) {
			bar.Show(func() string {
				return fmt.Sprintf("indexing logs: %s of %s", view.Size(done), view.Size(total))
			})
		}
	}
	return index.Read(dir, o)
}

// gcPercent is how much the heap may grow before rubbish is looked for while the index
// is read: a list of 10,000 sessions is 10 MB, and folding holds little.
const gcPercent = 400

// indexOptions says where the index of a state directory lies.
func (a *app) indexOptions(dir statedir.Dir) index.Options {
	build, cache := a.build(), a.env.CacheDir
	if cache == nil {
		cache = func() (string, error) { return "", errors.ErrUnsupported }
	}
	o := index.Options{Build: build, Now: a.env.Now, Decoder: foreign.NewDecoder}
	if !a.passing {
		o.Path = index.Locate(dir, build, a.env.Getenv, cache)
	}
	return o
}

// build names the program as far as it matters to what it makes of a log. Versions
// under development have one name and are many programs.
func (a *app) build() string {
	version := a.env.Version
	if !strings.HasPrefix(version, "dev") && !strings.Contains(version, "dirty") {
		return version
	}
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			return fmt.Sprintf("%s %+v", version, statedir.StampOf(info))
		}
	}
	return version
}

// judged remembers for keepJudged what a judge found that saw all of an input.
func (a *app) judged(in *input, r *session.Reducer, j *judge.Judge) {
	if len(in.paths) == 0 {
		return
	}
	one := index.Judgement{Log: in.entry}
	for i := range r.Len() {
		one.Sessions = append(one.Sessions, r.Header(i))
		one.Findings = append(one.Findings, findings(j.End(i)))
	}
	a.judgements = append(a.judgements, one)
}

// findings counts all that was found in a session, whatever weight it has.
func findings(r *judge.Report) (n int) {
	for _, rows := range append([]judge.Rows{r.Rows}, r.Also...) {
		for i := range rows.List {
			n += len(rows.List[i].Findings) + rows.List[i].More
		}
	}
	return n
}

// keepJudged adds to the index what was judged. It is a favour to later commands: that
// it cannot be done is not said.
func (a *app) keepJudged() {
	if dir, err := a.state(); err == nil && len(a.judgements) > 0 {
		_ = index.Judge(dir, a.indexOptions(dir), a.judgements)
	}
}

// holding returns the log that holds the session which arg names by its id or the
// beginning of it, and which of its sessions that is. It is asked where no log has that
// name: logs are renamed, and some hold sessions of several recorders.
func (a *app) holding(dir statedir.Dir, arg string) (log statedir.Entry, which pick, ok bool) {
	if arg == "" {
		return log, 0, false
	}
	found, err := a.readIndex(dir, a.indexOptions(dir))
	if err != nil {
		return log, 0, false
	}
	for i := range found.Logs {
		l := &found.Logs[i]
		for n := range l.Sessions {
			switch h := &l.Sessions[n]; {
			case h.Tap == arg:
				return l.Entry, 0, true
			case h.ID == arg:
				return l.Entry, pick(h.Number), true
			case strings.HasPrefix(h.Tap, arg) && (log.ID == "" || log.ID == l.ID):
				log = l.Entry
			case strings.HasPrefix(h.Tap, arg):
				ok = true // several begin so
			}
		}
	}
	return log, 0, log.ID != "" && !ok
}

// indexUpdate brings the index up to date and says what that took.
func (a *app) indexUpdate(rebuild bool) error {
	defer a.onInterrupt(nil)()
	dir, err := a.state()
	if err != nil {
		return err
	}
	o := a.indexOptions(dir)
	o.Rebuild = rebuild
	start := time.Now()
	found, err := a.readIndex(dir, o)
	if err != nil {
		return err
	}
	if err := found.Write; err != nil {
		return failed(err, "nothing depends on the index but speed")
	}
	for i := range found.Logs {
		if err := found.Logs[i].Err; err != nil {
			a.note("%v", err)
		}
	}
	_, err = fmt.Fprintf(a.env.Stdout, "%d logs indexed, %d of them now, in %s\n", len(found.Logs), found.Folded, view.Duration(time.Since(start)))
	return err
}

// indexStats says how the index stands.
func (a *app) indexStats() error {
	dir, err := a.state()
	if err != nil {
		return err
	}
	o := a.indexOptions(dir)
	s, err := index.Inspect(dir, o)
	if err != nil {
		return unreadable(err)
	}
	file := o.Path
	switch {
	case file == "":
		file = "none: there is no cache directory"
	case s.Size == 0:
		file += " (not there)"
	}
	t := &view.Table{Columns: []view.Column{{Head: "index"}, {Head: file}}}
	add := func(what, text string) { t.Rows = append(t.Rows, []string{what, text}) }
	add("state directory", string(dir))
	if s.Size > 0 {
		add("size", view.Size(s.Size))
		add("written", view.Moment(s.Written, a.env.Now()))
	}
	add("logs", fmt.Sprintf("%d, %s", s.Logs, view.Size(s.LogBytes)))
	add("indexed", fmt.Sprintf("%d logs, %d sessions, %d of them judged", s.Held, s.Sessions, s.Judged))
	add("to fold", fmt.Sprintf("%d logs, %s", s.Logs-s.Held, view.Size(s.LogBytes-s.HeldBytes)))
	return a.print(t)
}
