//go:build unix

package proc

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// hold says whether a child leads a process group of its own.
type hold struct{ group bool }

func isPath(name string) bool { return strings.Contains(name, "/") }

// resolve returns what to run for the file that name was found to be.
func resolve(name, _ string) (string, error) { return name, nil }

func startProcess(c Command, path string) (*os.Process, hold, error) {
	attr := &os.ProcAttr{
		Dir: c.Dir, Env: c.Env,
		Files: []*os.File{c.Stdin, c.Stdout, c.Stderr},
		Sys:   &syscall.SysProcAttr{Setpgid: !c.Foreground},
	}
	dieWithUs(attr.Sys)
	p, err := os.StartProcess(path, c.Argv, attr)
	if errors.Is(err, syscall.ENOEXEC) {
		// A script without a first line that names its interpreter. execvp, and so
		// every client written in C or Node, gives it to the shell.
		argv := append([]string{"sh", path}, c.Argv[1:]...)
		if p, err := os.StartProcess("/bin/sh", argv, attr); err == nil {
			return p, hold{!c.Foreground}, nil
		}
	}
	return p, hold{!c.Foreground}, err
}

func statusOf(state *os.ProcessState, err error) Status {
	if err != nil { // somebody else reaped it
		return Status{Code: 1}
	}
	ws := state.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return Status{Signal: ws.Signal()}
	}
	return Status{Code: ws.ExitStatus()}
}

func (c *Child) signal(sig syscall.Signal) error {
	if c.hold.group {
		return syscall.Kill(-c.p.Pid, sig)
	}
	return c.p.Signal(sig)
}

func (c *Child) kill() error { return c.signal(syscall.SIGKILL) }

func (hold) release() {}

func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return sig.String() // "signal 42"
}
