package proc

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/windows"
)

func aside() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// Outlast keeps us alive, who were started by [StartAside], until our work is done,
// whatever asks the processes of a console to end. Events are ignored by taking them.
func Outlast() { signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM) }
