package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/demo"
	"mcpsnoop/internal/gate"
	"mcpsnoop/internal/report"
	"mcpsnoop/internal/run"
	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/tracectx"
)

// demoServerName is the hidden command that is one of the demo's stdio servers.
const demoServerName = "demo-server"

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Record a real agent run on built-in servers, check it, and show it to scale",
		Long: `demo runs a real agent that uses three real MCP servers at once, two over stdio and one
over HTTP, with the recorder in front of each. It prints the messages as they pass, then
what check says, then the run to scale. It records into a temporary directory, which it
leaves to be looked at, unless --home names one.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.demo(c.Context()) },
	}
}

func (a *app) demoServerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    demoServerName + " NAME",
		Hidden: true,
		Args:   maxArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return demo.Server(c.Context(), first(args), a.env.Stdin, a.env.Stdout, a.env.Stderr)
		},
	}
}

// demoGoodbye is how long the parts of a demo may take to end after Ctrl-C.
const demoGoodbye = 2 * time.Second

func (a *app) demo(ctx context.Context) (err error) {
	self, err := os.Executable()
	if err != nil {
		return failed(fmt.Errorf("find own program: %w", err), "")
	}
	cleanup := func() {}
	if a.home == "" {
		if a.home, err = os.MkdirTemp("", "mcpsnoop-demo-"); err != nil {
			return failed(fmt.Errorf("create directory for the demo: %w", err), "name one with --home")
		}
		a.passing, cleanup = true, func() { os.RemoveAll(a.home) }
	}
	defer func() {
		if err != nil { // there is nothing to look at
			cleanup()
		}
	}()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	defer context.AfterFunc(ctx, func() { // a reader of ours that does not read must not keep us
		time.Sleep(demoGoodbye)
		cleanup()
		os.Exit(exitInterrupt)
	})() // before stop, which ends ctx too

	trace := demo.NewTrace()
	if err := a.demoRun(ctx, self, trace); err != nil {
		return err
	}
	id := "trace:" + trace.String()
	fmt.Fprintln(a.env.Stdout)
	err = a.check(nil, id, report.Options{FailOn: gate.Default()})
	var said *exitError
	if !errors.As(err, &said) || said.code != exitNo { // what the demo is about
		return cmp.Or(err, failed(errors.New("check the demo: nothing was found in it"), ""))
	}
	fmt.Fprintln(a.env.Stdout)
	if err := a.showRun(id, false); err != nil {
		return err
	}
	_, found, err := a.findRun(id)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.env.Stdout, "\nto see this again: %s %s\n", a.self("runs"), found.ID)
	return err
}

// demoRun plays the demo and prints its messages meanwhile.
func (a *app) demoRun(ctx context.Context, self string, trace tracectx.TraceID) error {
	dir, err := a.state()
	if err != nil {
		return err
	}
	log, err := expectLog(dir, demo.Railway)
	if err != nil {
		return failed(err, "")
	}
	whole, cancel := context.WithCancel(ctx)
	defer cancel()
	tap := func(label string, words ...string) []string {
		return append([]string{self, "--home", a.home, "--label", label, "--quiet"}, words...)
	}
	ran, over := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(over)
		ran <- demo.Run(whole, trace, demo.Taps{
			Stdio: func(server string) []string { return tap(server, "--", self, demoServerName, server) },
			HTTP: func(target string) []string {
				return append([]string{self, "http", "--target", target, "--listen", "127.0.0.1:0"}, tap(demo.Railway)[1:]...)
			},
			Address: log.listen,
		})
	}()
	m := &merging{
		app: a, run: &run.Run{Kind: run.ByTrace, Trace: trace.String()}, brief: true,
		out: bufio.NewWriter(a.env.Stdout), lanes: map[string]*lane{},
	}
	shown := m.follow(whole, &statedir.Follower{Dir: dir, Done: over, Want: func(e *statedir.Entry) bool { return !log.older[e.ID] }})
	if shown != nil {
		cancel() // nobody sees it
	}
	played := <-ran
	switch shown = errors.Join(shown, m.flush()); {
	case ctx.Err() != nil:
		return answer(exitInterrupt)
	case shown != nil && (played == nil || whole.Err() != nil):
		return shown
	case played != nil:
		return failed(played, "")
	}
	return nil
}

// demoLog is a log that somebody is about to write.
type demoLog struct {
	dir   statedir.Dir
	label string
	older map[string]bool // ids of logs that were there before
}

// expectLog is called before whoever writes the log is started.
func expectLog(dir statedir.Dir, label string) (*demoLog, error) {
	listing, err := dir.List()
	if err != nil {
		return nil, err
	}
	l := &demoLog{dir, label, make(map[string]bool)}
	for _, e := range listing.Logs {
		l.older[e.ID] = true
	}
	return l, nil
}

// await waits until something was written to the log.
func (l *demoLog) await(ctx context.Context) (statedir.Entry, error) {
	for {
		if listing, err := l.dir.List(); err == nil {
			for _, e := range listing.Logs {
				if e.Label == l.label && !l.older[e.ID] {
					return e, nil
				}
			}
		}
		select {
		case <-ctx.Done():
			return statedir.Entry{}, fmt.Errorf("find log of %q in %q: %w", l.label, l.dir.Sessions(), context.Cause(ctx))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

var errListens = errors.New("the tap has said where it listens")

// listen waits for the log's first frame and returns where its tap listens.
func (l *demoLog) listen(ctx context.Context) (addr string, err error) {
	entry, err := l.await(ctx)
	if err != nil {
		return "", err
	}
	follow := statedir.Follower{Logs: []statedir.Entry{entry}}
	err = follow.Run(ctx, func(e *statedir.Event) error {
		if e.Kind != statedir.Read || e.Frame.Kind != capture.Start {
			return e.Err
		}
		start, err := capture.ParseStart(e.Frame.Payload)
		if err != nil {
			return err
		}
		addr = start.Listen
		return errListens
	})
	switch {
	case errors.Is(err, errListens):
		return addr, nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	}
	return "", err
}
