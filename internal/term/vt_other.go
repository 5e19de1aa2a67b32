//go:build !windows

package term

// enableSequences does nothing: terminals obey escape sequences.
func enableSequences(any) {}

// A terminal without a TERM may be anything.
const unnamedTerminal = Plain
