package cli

import (
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
	"mcpsnoop/internal/statedir"
)

// demoServerName is the hidden command that is the demo's stdio server.
const demoServerName = "demo-server"

// The labels of the demo's sessions.
const (
	demoStdio = "demo"
	demoHTTP  = "demo-http"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Record real sessions with built-in clients and servers, and check them",
		Long: `demo runs real MCP clients and servers with the recorder between them, first over stdio,
then over HTTP. It prints what passes as it happens and then what check says of it. It
records into a temporary directory unless --home names one.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.demo(c.Context()) },
	}
}

func (a *app) demoServerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    demoServerName,
		Hidden: true,
		Args:   noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return demo.Server(c.Context(), a.env.Stdin, a.env.Stdout, a.env.Stderr)
		},
	}
}

// demoGoodbye is how long the parts of a demo may take to end after Ctrl-C.
const demoGoodbye = 2 * time.Second

func (a *app) demo(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return failed(fmt.Errorf("find own program: %w", err), "")
	}
	cleanup := func() {}
	if a.home == "" {
		if a.home, err = os.MkdirTemp("", "mcpsnoop-demo-"); err != nil {
			return failed(fmt.Errorf("create directory for the demo: %w", err), "name one with --home")
		}
		cleanup = func() { os.RemoveAll(a.home) }
	}
	defer cleanup()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	defer context.AfterFunc(ctx, func() { // a reader of ours that does not read must not keep us
		time.Sleep(demoGoodbye)
		cleanup()
		os.Exit(exitInterrupt)
	})() // before stop, which ends ctx too

	tap := func(label string, words ...string) []string {
		return append([]string{self, "--home", a.home, "--label", label, "--quiet"}, words...)
	}
	stdio, err := a.demoPart(ctx, demoStdio, func(ctx context.Context, _ *demoLog) error {
		return demo.Client(ctx, tap(demoStdio, "--", self, demoServerName), nil)
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(a.env.Stdout)
	web, err := a.demoPart(ctx, demoHTTP, func(ctx context.Context, log *demoLog) error {
		return demo.HTTP(ctx, func(target string) []string {
			return append([]string{self, "http", "--target", target, "--listen", "127.0.0.1:0"}, tap(demoHTTP)[1:]...)
		}, log.listen)
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(a.env.Stdout)
	err = a.check([]string{stdio, web}, "", report.Options{FailOn: gate.Default()})
	var said *exitError
	if errors.As(err, &said) && said.code == exitNo { // what the demo is about
		return nil
	}
	return err
}

// demoPart prints what play records under that label while it plays, and returns the
// id of the log.
func (a *app) demoPart(ctx context.Context, label string, play func(context.Context, *demoLog) error) (id string, err error) {
	dir, err := a.state()
	if err != nil {
		return "", err
	}
	log, err := expectLog(dir, label)
	if err != nil {
		return "", failed(err, "")
	}
	whole, cancel := context.WithCancel(ctx)
	defer cancel()
	await, giveUp := context.WithCancelCause(whole)
	defer giveUp(nil)
	ran := make(chan error, 1)
	go func() {
		err := play(whole, log)
		giveUp(errUnrecorded)
		ran <- err
	}()
	entry, shown := log.await(await)
	if shown == nil {
		shown = a.tail(whole, entry, 0, false)
	}
	if shown != nil && await.Err() == nil {
		cancel() // nobody sees it
	}
	played := <-ran
	switch {
	case ctx.Err() != nil:
		return "", answer(exitInterrupt)
	case shown != nil && (played == nil || whole.Err() != nil):
		return "", shown
	case played != nil:
		return "", failed(played, "")
	}
	return entry.ID, nil
}

// errUnrecorded: a log that is not there by the end of what it should hold will never be.
var errUnrecorded = errors.New("nobody has written one")

// demoLog is a log that somebody is about to write.
type demoLog struct {
	dir   statedir.Dir
	label string
	older map[string]bool // ids of logs with that label that were there before
}

// expectLog is called before whoever writes the log is started.
func expectLog(dir statedir.Dir, label string) (*demoLog, error) {
	listing, err := dir.List()
	if err != nil {
		return nil, err
	}
	l := &demoLog{dir, label, make(map[string]bool)}
	for _, e := range listing.Logs {
		if e.Label == label {
			l.older[e.ID] = true
		}
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
