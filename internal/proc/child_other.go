//go:build !linux

package proc

// lockThread is needed where a child dies with a thread.
func lockThread() (unlock func()) { return func() {} }

// awaitExit tells that this system cannot wait without reaping.
func awaitExit(int) bool { return false }
