// Package term holds the rules for writing to people: what may pass to a terminal,
// how wide it is there, in which colours, and how our own lines on stderr look.
package term

import (
	"syscall"

	xterm "golang.org/x/term"
)

// IsTerminal reports whether w is a file that is a terminal.
func IsTerminal(w any) (is bool) {
	control(w, func(fd int) { is = xterm.IsTerminal(fd) })
	return is
}

// Size returns the columns and rows of the terminal that w is; false if it is none.
func Size(w any) (columns, rows int, ok bool) {
	control(w, func(fd int) {
		var err error
		columns, rows, err = xterm.GetSize(fd)
		ok = err == nil && columns > 0 && rows > 0
	})
	if !ok {
		return 0, 0, false
	}
	return columns, rows, true
}

// control calls f with the descriptor of w, if it has one. It does not use the
// Fd method of files: that makes their reads and writes block a thread from then on.
func control(w any, f func(fd int)) {
	file, ok := w.(syscall.Conn)
	if !ok {
		return
	}
	if conn, err := file.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { f(int(fd)) }) // a closed file is no terminal
	}
}
