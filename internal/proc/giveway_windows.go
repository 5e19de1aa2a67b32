package proc

import "golang.org/x/sys/windows"

// GiveWay gives the whole process a lower priority.
func GiveWay() {
	windows.SetPriorityClass(windows.CurrentProcess(), windows.BELOW_NORMAL_PRIORITY_CLASS)
}
