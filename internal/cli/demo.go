package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/demo"
	"mcpsnoop/internal/gate"
	"mcpsnoop/internal/report"
	"mcpsnoop/internal/statedir"
)

// demoServerName is the hidden command that is the demo's server.
const demoServerName = "demo-server"

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Record a real session with built-in client and server, and check it",
		Long: `demo runs a real MCP client and a real server with the recorder between them, prints
what passes as it happens and then what check says of it. It records into a temporary
directory unless --home names one.`,
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

func (a *app) demo(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return failed(fmt.Errorf("find own program: %w", err), "")
	}
	if a.home == "" {
		if a.home, err = os.MkdirTemp("", "mcpsnoop-demo-"); err != nil {
			return failed(fmt.Errorf("create directory for the demo: %w", err), "name one with --home")
		}
		defer os.RemoveAll(a.home)
		defer a.onInterrupt(func() { os.RemoveAll(a.home) })()
	}
	command := []string{self, "--home", a.home, "--label", "demo", "--quiet", "--", self, demoServerName}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ran := make(chan error, 1)
	go func() { ran <- demo.Client(ctx, command, nil) }()
	shown := a.demoTail(ctx)
	cancelled := errors.Join(shown, <-ran)
	if cancelled != nil {
		return failed(cancelled, "")
	}
	fmt.Fprintln(a.env.Stdout)
	err = a.check([]string{"demo"}, report.Options{FailOn: gate.Default()})
	var said *exitError
	if errors.As(err, &said) && said.code == exitNo { // what the demo is about
		return nil
	}
	return err
}

// demoTail prints the session while it runs; it waits for the recorder to begin.
func (a *app) demoTail(ctx context.Context) error {
	dir, err := a.state()
	if err != nil {
		return err
	}
	entry, err := awaitLog(ctx, dir, "demo")
	if err != nil {
		return err
	}
	return a.tail(ctx, entry, false)
}

// awaitLog waits until a live log with that label is there.
func awaitLog(ctx context.Context, dir statedir.Dir, label string) (statedir.Entry, error) {
	for {
		if listing, err := dir.List(); err == nil {
			for _, e := range listing.Logs {
				if state, _ := e.State(); e.Label == label && state == statedir.Live {
					return e, nil
				}
			}
		}
		select {
		case <-ctx.Done():
			return statedir.Entry{}, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
