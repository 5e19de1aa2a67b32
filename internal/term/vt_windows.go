package term

import "golang.org/x/sys/windows"

// enableSequences makes the console that w is obey escape sequences, which on
// Windows must be asked for.
func enableSequences(w any) {
	control(w, func(fd int) {
		console := windows.Handle(fd)
		var mode uint32
		if windows.GetConsoleMode(console, &mode) == nil {
			_ = windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
		}
	})
}

// A console has no TERM, and knows all colours since it knows sequences at all.
const unnamedTerminal = TrueColor
