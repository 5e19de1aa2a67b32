package cli

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/capture/foreign"
	"mcpsnoop/internal/export"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/view"
)

func (a *app) tailCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "tail [SESSION]",
		Short: "Print a session as it happens",
		Long: `tail prints what a session's log holds and goes on as long as somebody records.
Without an argument it takes the newest session.`,
		Args: maxArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			entry, err := a.resolve(first(args))
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			err = a.tail(ctx, entry, asJSON)
			if ctx.Err() != nil {
				return answer(exitInterrupt)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, one frame a line")
	return c
}

// errEnded ends following: the log is complete.
var errEnded = errors.New("the session has ended")

// tailing is one log being printed while it grows.
type tailing struct {
	app     *app
	out     *bufio.Writer
	printer printer
	reducer *session.Reducer
	entry   statedir.Entry
	unknown bool // nobody can tell whether the log is being written
}

// tail prints a log until it has ended or ctx does.
func (a *app) tail(ctx context.Context, entry statedir.Entry, asJSON bool) error {
	t := &tailing{app: a, out: bufio.NewWriter(a.env.Stdout), entry: entry, reducer: session.New(session.Options{})}
	t.printer = &linePrinter{out: t.out}
	if asJSON {
		t.printer = &jsonPrinter{out: export.NewEventWriter(t.out)}
	}
	follow := statedir.Follower{Logs: []statedir.Entry{entry}, Decoder: foreign.NewDecoder}
	err := follow.Run(ctx, t.event)
	if errors.Is(err, errEnded) {
		err = nil
	}
	return errors.Join(err, t.out.Flush())
}

func (t *tailing) event(e *statedir.Event) error {
	switch e.Kind {
	case statedir.Read:
		step := t.reducer.Apply(e.Frame, e.Ref)
		return t.printer.frame(t.reducer.Header(step.Session).ID, e.Frame, step)
	case statedir.BadLine:
		var bad *capture.LineError
		if errors.As(e.Err, &bad) {
			t.reducer.Skip(bad)
		}
		t.app.note("%v", e.Err)
	case statedir.Again:
		t.app.note("%v", e.Err)
		t.reducer = session.New(session.Options{})
	case statedir.Trouble:
		return failed(e.Err, "")
	case statedir.Gone:
		t.app.note("log %q was removed", t.entry.Paths[0])
		return errEnded
	case statedir.CaughtUp:
		if t.unknown && t.over() {
			return errEnded
		}
		return t.out.Flush()
	case statedir.Became:
		if t.unknown = e.State == statedir.Unknown; t.unknown && !t.over() {
			t.app.note("cannot tell whether %q is still written: going on until Ctrl-C or its last frame", t.entry.ID)
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

// printer prints frames as they come, with what they did in the session of that id.
type printer interface {
	frame(id string, f *capture.Frame, st session.Step) error
}

// linePrinter prints a line a frame.
type linePrinter struct {
	out   *bufio.Writer
	liner view.Liner
}

func (p *linePrinter) frame(_ string, f *capture.Frame, st session.Step) error {
	for _, line := range p.liner.Lines(f, &st) {
		if _, err := p.out.WriteString(line.String() + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// jsonPrinter prints NDJSON.
type jsonPrinter struct{ out *export.EventWriter }

func (p *jsonPrinter) frame(id string, f *capture.Frame, st session.Step) error {
	return p.out.Frame(id, f, st)
}
