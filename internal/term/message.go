package term

import "io"

// Error writes what went wrong, and what to do about it unless hint is "":
//
//	mcpsnoop: error: cannot read log "x": permission denied
//	mcpsnoop: hint: run it as the user who recorded the log
//
// Messages begin in lower case, have no full stop, and come out on one line each,
// escaped, whatever they hold. Both lines are one Write.
func Error(w io.Writer, message, hint string) {
	b := appendLine(nil, "error: ", message)
	if hint != "" {
		b = appendLine(b, "hint: ", hint)
	}
	_, _ = w.Write(b) // nobody is left to tell
}

// Note writes a line about what is done on the side:
//
//	mcpsnoop: "files" means files-4711-a1b2c3d4e5f6, its newest session
func Note(w io.Writer, message string) { _, _ = w.Write(appendLine(nil, "", message)) }

func appendLine(b []byte, kind, message string) []byte {
	b = append(append(b, "mcpsnoop: "...), kind...)
	return append(AppendEscape(b, message), '\n')
}
