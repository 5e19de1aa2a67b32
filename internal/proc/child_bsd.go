//go:build unix && !linux

package proc

import "syscall"

// dieWithUs has no means here: when we are killed, the server sees the end of its
// standard input.
func dieWithUs(*syscall.SysProcAttr) {}
