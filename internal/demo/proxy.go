package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"mcpsnoop/internal/proc"
)

// settle is how long a proxy that can only be killed has to write down what passed.
const settle = 200 * time.Millisecond

// proxy is the process between the HTTP server and its clients.
type proxy struct {
	child  *proc.Child
	stderr tail
	copied chan struct{} // closed when stderr has ended
}

// startProxy starts command. Where the kernel offers it, the process lives no longer
// than this one: nothing else would tell it to end.
func startProxy(command []string) (*proxy, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	said, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	// In the foreground: Ctrl-C is for both of us.
	child, err := proc.Start(proc.Command{Argv: command, Stdin: null, Stdout: null, Stderr: theirs, Foreground: true})
	if err != nil {
		said.Close()
		return nil, err
	}
	p := &proxy{child: child, copied: make(chan struct{})}
	go func() {
		defer close(p.copied)
		defer said.Close()
		io.Copy(&p.stderr, said) // nobody else holds it: a proxy starts nothing
	}()
	return p, nil
}

var errProxyEnded = errors.New("the proxy has ended")

// whileRunning returns a context that ends with the process, if not before.
func (p *proxy) whileRunning(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.child.Exited():
			cancel(errProxyEnded)
		case <-ctx.Done():
			cancel(nil)
		}
	}()
	return ctx
}

// end tells the process to end and waits until it has. One that does not end is killed.
func (p *proxy) end() error {
	if runtime.GOOS == "windows" { // no signal there means one process alone
		time.Sleep(settle)
		p.child.Kill()
	} else {
		p.child.Signal(syscall.SIGTERM)
	}
	kill := time.AfterFunc(exitWithin, func() { p.child.Kill() })
	defer kill.Stop()
	status := p.child.Reap()
	<-p.copied
	if code := status.ExitCode(); code != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("the proxy ended with code %d", code)
	}
	return nil
}
