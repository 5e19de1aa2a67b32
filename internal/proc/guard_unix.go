//go:build unix

package proc

import (
	"os"
	"strconv"
	"syscall"
)

// Guard has the server and its process group killed if from now on we are killed
// ourselves, until dismiss is called.
//
// The kernel kills no more than the server itself with us, on Linux, and nothing
// elsewhere. What a launcher started stays, and if it ignores the end of its input
// it stays for ever; a client that would have killed it with the whole process
// group cannot, since we gave the server a group of its own. So when we may be
// killed soon, a shell waits at a pipe that ends when we do.
func (c *Child) Guard() (dismiss func(), err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	target := strconv.Itoa(c.p.Pid)
	if c.hold.group {
		target = "-" + target
	}
	// In a session of its own, where nobody's signals for us reach it.
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", `read -r _ || kill -s KILL -- "$1"`, "sh", target}, &os.ProcAttr{
		Dir: "/", Files: []*os.File{r, nil, nil}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		w.Close()
		return nil, err
	}
	return func() {
		w.WriteString("\n")
		w.Close()
		p.Wait()
	}, nil
}
