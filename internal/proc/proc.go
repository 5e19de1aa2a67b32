// Package proc runs a server and knows who runs us: it starts a command so that it
// dies with us, passes signals on to it, waits for it, and names our own parent as
// the kernel does.
//
// Who gets a signal: a server normally has a process group of its own, so the
// terminal's signals do not reach it by themselves; [Child.Signal] sends each to
// that whole group, as the terminal would have. It has to be the group, because
// what was started is often a launcher (npx, uvx, sh -c) that passes nothing on.
// In the foreground the server shares our group and gets the terminal's signals
// from the terminal; [Child.Signal] then means the one process.
package proc

import (
	"os"
	"sync"
	"syscall"
)

// Command says what to start.
type Command struct {
	Argv                  []string
	Dir                   string   // "" is ours
	Env                   []string // nil is ours
	Stdin, Stdout, Stderr *os.File // the server's ends
	// Foreground leaves the server in our own process group, and so in the
	// terminal's foreground if we are there.
	Foreground bool
}

// Child is a started server. It lives no longer than we do where the kernel offers
// that: on Linux it is killed when we die, on Windows so is everything it started.
type Child struct {
	p      *os.Process
	hold   hold // by what it can be signalled and killed
	exited chan struct{}
	reap   chan struct{} // closed: take the zombie away
	reaped chan struct{}

	status Status // set when reaped is closed

	mu   sync.Mutex
	gone bool // reaped: the process id may be another's by now
}

// Start starts c. An error is a [*StartError].
func Start(c Command) (*Child, error) {
	path, err := find(c.Argv[0], c.Dir)
	if err != nil {
		return nil, err
	}
	child := &Child{exited: make(chan struct{}), reap: make(chan struct{}), reaped: make(chan struct{})}
	started := make(chan error)
	go child.live(c, path, started)
	if err := <-started; err != nil {
		return nil, startError(c.Argv[0], path, err)
	}
	return child, nil
}

// live starts the process and stays with it until it is reaped. On Linux the child
// is killed when the thread that forked it ends, so this goroutine keeps its thread
// for as long as the child lives; it costs nothing, since it waits in the kernel.
func (c *Child) live(cmd Command, path string, started chan<- error) {
	unlock := lockThread()
	defer unlock()
	var err error
	if c.p, c.hold, err = startProcess(cmd, path); err != nil {
		started <- err
		return
	}
	started <- nil
	if awaitExit(c.p.Pid) { // still a zombie, so that its group keeps its number
		close(c.exited)
		<-c.reap
	}
	c.finish()
}

// finish waits and reaps. Where [awaitExit] cannot, this is what notices the exit.
func (c *Child) finish() {
	c.status = statusOf(c.p.Wait())
	select {
	case <-c.exited:
	default:
		close(c.exited)
	}
	close(c.reaped)
}

// Pid returns the process id.
func (c *Child) Pid() int { return c.p.Pid }

// Exited is closed when the process has ended. What it started may live on.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Reap waits until the process has ended and returns how. Until then its process
// group can be signalled, after it nothing can.
func (c *Child) Reap() Status {
	<-c.exited
	c.mu.Lock()
	if !c.gone {
		c.gone = true
		close(c.reap)
		c.hold.release()
	}
	c.mu.Unlock()
	<-c.reaped
	return c.status
}

// Signal sends a signal to the server, see the package documentation.
func (c *Child) Signal(sig syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return os.ErrProcessDone
	}
	return c.signal(sig)
}

// Kill ends the server, and all that is in its process group or job.
func (c *Child) Kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return os.ErrProcessDone
	}
	return c.kill()
}

// Status says how a process ended: by a signal or with a code.
type Status struct {
	Code   int
	Signal syscall.Signal // 0 if it exited by itself
}

// ExitCode is what a shell would report: the code, or 128 and the signal's number.
func (s Status) ExitCode() int {
	if s.Signal != 0 {
		return 128 + int(s.Signal)
	}
	return s.Code
}

// SignalName returns "SIGTERM" and the like, "" if no signal ended the process.
func (s Status) SignalName() string {
	if s.Signal == 0 {
		return ""
	}
	return signalName(s.Signal)
}
