//go:build unix && !linux

package proc

import "golang.org/x/sys/unix"

// GiveWay gives the whole process, for good, a lower priority: threads have none of
// their own here.
func GiveWay() {
	if nice, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil {
		unix.Setpriority(unix.PRIO_PROCESS, 0, max(nice, 10))
	}
}
