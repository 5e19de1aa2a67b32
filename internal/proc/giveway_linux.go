package proc

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// GiveWay keeps the calling goroutine, until it ends, on a thread of the lowest
// priority. The thread ends with it: a priority cannot be taken back.
func GiveWay() {
	runtime.LockOSThread()
	unix.Setpriority(unix.PRIO_PROCESS, 0, 19)
}
