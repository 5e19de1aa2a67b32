// Package cli is the command line: one command a file. It composes the packages
// below and decides nothing itself beyond exit codes and where output goes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"

	"mcpsnoop/internal/index"
	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/term"
)

// app is one run of the program: its environment and its global flags.
type app struct {
	env   *Env
	home  string
	color string

	passing    bool              // the state directory is not there to stay: no index of it is kept
	judgements []index.Judgement // for keepJudged
}

// Main runs the command that args name and returns the exit code.
func Main(env *Env, args []string) (code int) {
	a := &app{env: env}
	defer func() {
		if p := recover(); p != nil {
			term.Error(env.Stderr, fmt.Sprintf("internal defect: %v", p), "please report this with the lines that follow")
			fmt.Fprintf(env.Stderr, "%s", debug.Stack())
			code = exitDefect
		}
	}()
	root := a.newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	a.report(err)
	return exitCode(err)
}

// report says on stderr what went wrong, and what to do where we know.
func (a *app) report(err error) {
	var e *exitError
	hint := ""
	if errors.As(err, &e) {
		if e.err == nil {
			return
		}
		hint = e.hint
	}
	if err != nil {
		term.Error(a.env.Stderr, err.Error(), hint)
	}
}

// note prints one line about what a command does on the side.
func (a *app) note(format string, args ...any) {
	term.Note(a.env.Stderr, fmt.Sprintf(format, args...))
}

// state returns the state directory the flags and the environment name.
func (a *app) state() (statedir.Dir, error) {
	dir, err := statedir.Locate(a.home, a.env.Getenv, os.UserHomeDir)
	if err != nil {
		return dir, usagef("name a directory with --home", "%w", err)
	}
	return dir, nil
}

// onInterrupt makes Ctrl-C end a reading command with its own exit code, after
// cleanup. The returned function takes that back.
func (a *app) onInterrupt(cleanup func()) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, os.Interrupt)
	go func() {
		select {
		case <-signals:
			if cleanup != nil {
				cleanup()
			}
			os.Exit(exitInterrupt)
		case <-done:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
