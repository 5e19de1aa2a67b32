package tap

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// writerNice is by how much the writer's thread gives way to the others.
const writerNice = 5

// yieldCPU makes the calling goroutine, until it ends, give way to those that
// forward: on a busy machine the record falls behind, not the traffic.
func yieldCPU() {
	runtime.LockOSThread() // for good: a thread cannot take its nice value back
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return
	}
	nice := 20 - raw // as the system call has it
	unix.Setpriority(unix.PRIO_PROCESS, 0, min(nice+writerNice, 19))
}
