//go:build unix

package proc

import (
	"os/signal"
	"syscall"
)

// aside is a process group of its own and no session: where the kernel gives every
// session its share of the processor, a low priority counts within the session only.
func aside() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Outlast keeps us alive, who were started by [StartAside], until our work is done: what
// asks all processes of a job or service to end leaves us to do so by ourselves, and a
// terminal or pipe that takes nothing from us does not end or stop us.
func Outlast() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGTTOU)
}
