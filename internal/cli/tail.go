package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/capture/foreign"
	"mcpsnoop/internal/export"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/term"
	"mcpsnoop/internal/tracectx"
	"mcpsnoop/internal/view"
)

func (a *app) tailCommand() *cobra.Command {
	var asJSON bool
	var runID string
	c := &cobra.Command{
		Use:   "tail [SESSION]",
		Short: "Print a session as it happens",
		Long: `tail prints what a session's log holds and goes on as long as somebody records.
Without an argument it takes the newest session. With --run it prints every session of
the run in order of time, those too that join it before all the others have ended.`,
		Args: maxArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			follow, err := a.toTail(args, runID, asJSON)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			forget := context.AfterFunc(ctx, func() { // a reader of ours that does not read must not keep us
				time.Sleep(lastWords)
				os.Exit(exitInterrupt)
			})
			defer forget() // before stop, which ends ctx too
			err = follow(ctx)
			if ctx.Err() != nil {
				return answer(exitInterrupt)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, one frame a line")
	addRun(c, &runID)
	return c
}

// toTail returns what prints the session, or the run, that was asked for.
func (a *app) toTail(args []string, runID string, asJSON bool) (func(context.Context) error, error) {
	if runID != "" {
		r, of, err := a.onlyRun(args, runID)
		return func(ctx context.Context) error { return a.tailRun(ctx, r, of, asJSON) }, err
	}
	entry, which, err := a.resolve(first(args))
	return func(ctx context.Context) error { return a.tail(ctx, entry, which, asJSON) }, err
}

// lastWords is how long the end of the output may take after Ctrl-C.
const lastWords = 500 * time.Millisecond

// errEnded ends following: the log is complete.
var errEnded = errors.New("the session has ended")

// tailing is one log being printed while it grows.
type tailing struct {
	app     *app
	out     *bufio.Writer
	printer printer
	reducer *session.Reducer
	judge   *judge.Judge
	found   []judge.Group // by the frame that is being read
	entry   statedir.Entry
	picked  picked
	trace   tracectx.TraceID // unless zero, what belongs to others is left out
	unknown bool             // nobody can tell whether the log is being written
	quiet   bool             // nobody wants to hear what is wrong with the log
	any     bool             // a frame was read,
	bad     bool             // or a line that is none
}

// tail prints a log until it has ended or ctx does.
func (a *app) tail(ctx context.Context, entry statedir.Entry, which pick, asJSON bool) error {
	t := &tailing{app: a, out: bufio.NewWriter(a.env.Stdout), entry: entry}
	t.begin()
	t.picked.pick = which
	t.printer = &linePrinter{out: t.out, palette: a.palette()}
	if asJSON {
		t.out = bufio.NewWriter(a.jsonOut())
		t.printer = &jsonPrinter{out: export.NewEventWriter(t.out)}
	}
	var err error
	if entry.Packed() {
		err = t.packed(ctx)
	} else {
		follow := statedir.Follower{Logs: []statedir.Entry{entry}, Decoder: foreign.NewDecoder}
		err = follow.Run(ctx, t.event)
	}
	if errors.Is(err, errEnded) {
		err = t.nothing()
	}
	if flushed := t.out.Flush(); err == nil {
		err = flushed
	}
	return err
}

// begin makes ready to read the log from its start.
func (t *tailing) begin() {
	t.reducer = session.New(session.Options{})
	t.judge = t.app.newJudge(judge.Options{Found: t.heard})
}

// heard takes a finding. Several rows that say the same are told of as one.
func (t *tailing) heard(_ int, f *judge.Finding) {
	for i := range t.found {
		if g := &t.found[i]; g.Check == f.Check && g.Seq == f.Seq && g.Detail == f.Detail {
			g.Rows++
			return
		}
	}
	own := *f
	t.found = append(t.found, judge.Group{Finding: &own, Rows: 1})
}

// packed prints a compressed log, which nobody writes any more.
func (t *tailing) packed(ctx context.Context) error { return t.packedTo(ctx, t.event) }

// packedTo gives what is in a compressed log to event.
func (t *tailing) packedTo(ctx context.Context, event func(*statedir.Event) error) error {
	log, err := capture.OpenLog(capture.Options{Decoder: foreign.NewDecoder}, t.entry.Paths...)
	if err != nil {
		return unreadable(err)
	}
	defer log.Close()
	f := new(capture.Frame)
	for ctx.Err() == nil {
		e := statedir.Event{Kind: statedir.Read, Log: &t.entry, Frame: f}
		e.Ref, e.Err = log.Next(f)
		var bad *capture.LineError
		switch {
		case e.Err == io.EOF:
			return errEnded
		case errors.As(e.Err, &bad):
			e.Kind = statedir.BadLine
		case e.Err != nil:
			return unreadable(e.Err)
		}
		if err := event(&e); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// nothing is what there is to say of a log in which no frame was.
func (t *tailing) nothing() error {
	switch {
	case t.any:
		return nil
	case t.bad:
		return unreadable(fmt.Errorf("read log %q: %w", t.entry.Paths[0], capture.ErrNoCapture))
	}
	return unreadable(fmt.Errorf("read log %q: %w", t.entry.Paths[0], capture.ErrEmpty))
}

func (t *tailing) note(format string, args ...any) {
	if !t.quiet {
		t.app.note(format, args...)
	}
}

func (t *tailing) event(e *statedir.Event) error {
	switch e.Kind {
	case statedir.Read:
		t.any = true
		step := t.reducer.Apply(e.Frame, e.Ref)
		t.found = t.found[:0]
		t.judge.Step(e.Frame, step)
		if !ofTrace(&step, t.trace) {
			return nil
		}
		h := t.reducer.Header(step.Session)
		return t.picked.print(t.printer, &h, e.Frame, step, t.found)
	case statedir.BadLine:
		t.bad = true
		var bad *capture.LineError
		if errors.As(e.Err, &bad) {
			t.reducer.Skip(bad)
			t.judge.Skip()
		}
		t.note("%v", e.Err)
	case statedir.Again:
		t.note("%v", e.Err)
		t.begin()
	case statedir.Trouble:
		return unreadable(e.Err)
	case statedir.Gone:
		t.note("log %q was removed", t.entry.Paths[0])
		t.any = true // it was said
		return errEnded
	case statedir.CaughtUp:
		if t.unknown && t.over() {
			return errEnded
		}
		return t.out.Flush()
	case statedir.Became:
		if t.unknown = e.State == statedir.Unknown; t.unknown && !t.over() {
			t.note("cannot tell whether %q is still written: going on until Ctrl-C or its last frame", t.entry.ID)
			return nil
		}
		if e.State != statedir.Live {
			return errEnded
		}
	}
	return nil
}

// over reports whether every tap in the log has said that it ends.
func (t *tailing) over() bool {
	for i := range t.reducer.Len() {
		if h := t.reducer.Header(i); h.End == nil {
			return false
		}
	}
	return t.reducer.Len() > 0
}

// printer prints frames as they come, with what they did in the session of that id, and
// what the judge found by them.
type printer interface {
	frame(id string, f *capture.Frame, st session.Step, found []judge.Group) error
}

// linePrinter prints a line a frame.
type linePrinter struct {
	out     *bufio.Writer
	liner   view.Liner
	palette term.Palette
}

func (p *linePrinter) frame(id string, f *capture.Frame, st session.Step, found []judge.Group) error {
	here, late := split(found, f.Seq)
	lines := p.liner.Lines(f, &st)
	if n := len(lines); n > 0 {
		lines[n-1].Mark(here, p.liner.ASCII)
	} else {
		late = found
	}
	for i := range late {
		lines = append(lines, p.liner.Late(f, &late[i]))
	}
	for _, line := range lines {
		if !st.Guess && (f.Exchange != 0 || f.Passed()) {
			line.Label += strings.TrimPrefix(id, f.Tap) // the number, where a tap holds several
		}
		if _, err := p.out.WriteString(line.Paint(p.palette) + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// split parts what was found at a frame from what was found at earlier ones.
func split(found []judge.Group, seq uint64) (here, late []judge.Group) {
	for _, g := range found {
		if g.Seq == seq {
			here = append(here, g)
		} else {
			late = append(late, g)
		}
	}
	return here, late
}

// jsonPrinter prints NDJSON.
type jsonPrinter struct{ out *export.EventWriter }

func (p *jsonPrinter) frame(id string, f *capture.Frame, st session.Step, found []judge.Group) error {
	return p.out.Frame(id, f, st, found)
}
