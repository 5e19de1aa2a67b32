//go:build unix

package tap

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mcpsnoop/internal/proc"
)

// signals are the signals that reach us while a server runs, and what becomes of
// them.
type signals struct {
	c          chan os.Signal
	foreground bool
	tty        *os.File // our terminal, in the foreground only
}

var passedOn = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
	syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// catch takes the signals that are to go to the server. What we were told to
// ignore (nohup, a shell's background job) stays ignored, for the server too. In
// the foreground the terminal stops and continues us and the server together.
func catch(foreground bool) *signals {
	s := &signals{c: make(chan os.Signal, 16), foreground: foreground}
	for _, sig := range passedOn {
		if signal.Ignored(sig) || foreground && (sig == syscall.SIGTSTP || sig == syscall.SIGCONT) {
			continue
		}
		signal.Notify(s.c, sig)
	}
	survivePipes()
	if foreground {
		s.tty, _ = os.OpenFile("/dev/tty", os.O_RDONLY|unix.O_NOCTTY, 0)
	}
	return s
}

func (s *signals) stop() {
	signal.Stop(s.c)
	if s.tty != nil {
		s.tty.Close()
	}
}

// survivePipes sees to it that writing to a stdout or stderr that nobody reads is an
// error and does not end us, from now on. The signal is caught and forgotten; to
// ignore it would make the server ignore it too.
var survivePipes = sync.OnceFunc(func() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) })

// ends reports whether a signal is one that asks a server to end.
func ends(sig os.Signal) bool {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return true
	}
	return false
}

// insists reports whether the second of them kills.
func insists(sig os.Signal) bool { return sig == syscall.SIGINT || sig == syscall.SIGTERM }

// pass gives a signal to the server, unless the terminal did that already.
func (s *signals) pass(sig os.Signal, child *proc.Child) {
	if s.foreground && s.fromTerminal(sig) {
		return
	}
	child.Signal(sig.(syscall.Signal))
	switch {
	case ends(sig):
		child.Signal(syscall.SIGCONT) // a stopped server would never know
	case sig == syscall.SIGTSTP:
		stop(child)
	}
}

// stop stops us as the server was, so that whoever watches us sees it, until we are
// told to go on. Where there is nobody who could, the kernel lets a stop from the
// terminal stop nobody, and so do we.
func stop(child *proc.Child) {
	// Lets the server take the signal, which a SIGCONT would take back, and the
	// writer write what has passed.
	time.Sleep(2 * coalesce)
	if !continuable() {
		child.Signal(syscall.SIGCONT)
		return
	}
	syscall.Kill(os.Getpid(), syscall.SIGSTOP)
}

// continuable reports whether our process group is a shell's job: whether the first
// of our ancestors outside of it is in our session.
func continuable() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	for pid := os.Getppid(); pid > 1; {
		if group, err := syscall.Getpgid(pid); err != nil || group != syscall.Getpgrp() {
			theirs, serr := unix.Getsid(pid)
			return err == nil && serr == nil && theirs == session
		}
		p, err := proc.System.Process(pid)
		if err != nil {
			return false
		}
		pid = p.Parent
	}
	return false
}

// fromTerminal reports whether the terminal sent a signal to our whole process
// group, which the server shares.
func (s *signals) fromTerminal(sig os.Signal) bool {
	if s.tty == nil || !ends(sig) || sig == syscall.SIGTERM {
		return false
	}
	group, err := unix.IoctlGetInt(int(s.tty.Fd()), unix.TIOCGPGRP)
	if err != nil { // it hung up, and that is what the signal says
		return sig == syscall.SIGHUP
	}
	return group == unix.Getpgrp()
}
