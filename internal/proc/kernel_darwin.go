package proc

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

type system struct{}

func (system) Boot() (string, error) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "", fmt.Errorf("read boot session: %w", err)
	}
	return id, nil
}

func (system) Parent() int { return os.Getppid() }

// Contained is false: process 1 is launchd.
func (system) Contained() bool { return false }

func (system) Process(pid int) (Process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	if int(k.Proc.P_pid) != pid {
		return Process{}, fmt.Errorf("process %d: %w", pid, errNoProcess)
	}
	start := k.Proc.P_starttime
	return Process{
		Parent: int(k.Eproc.Ppid),
		Start:  fmt.Sprintf("%d.%06d", start.Sec, start.Usec),
		Name:   unix.ByteSliceToString(k.Proc.P_comm[:]),
	}, nil
}
