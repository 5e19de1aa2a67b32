package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// Exit codes; a shim exits with the server's own (see docs/design.md).
const (
	exitYes        = 0   // done, or the answer is yes
	exitNo         = 1   // the answer is no
	exitUsage      = 2   // wrong use, unknown session, nothing to judge
	exitUnreadable = 3   // the input is no capture at all
	exitFailed     = 4   // something went wrong while running
	exitDefect     = 70  // a defect of ours
	exitInterrupt  = 130 // Ctrl-C in a reading command
)

// exitError is an error that knows the exit code it means and what to do about it.
type exitError struct {
	code int
	err  error  // nil: the command has said everything itself
	hint string // "" for none
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usagef is an error of use; hint may be empty.
func usagef(hint, format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...), hint}
}

// failed marks an error as one of running, with a hint.
func failed(err error, hint string) error { return &exitError{exitFailed, err, hint} }

// answer ends a command that has printed its answer with that exit code.
func answer(code int) error {
	if code == exitYes {
		return nil
	}
	return &exitError{code: code}
}

// exitCode returns the code an error means: anything unmarked failed at run time.
func exitCode(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitYes
	case errors.As(err, &e):
		return e.code
	}
	return exitFailed
}

// flagWants says what the values of flags are, by their type.
var flagWants = map[string]string{
	"bool": "true or false", "int": "a number", "duration": "a duration such as 2h or 1m30s",
}

// flagError words what is wrong with a value without the words of the parser.
func flagError(err error) error {
	var e *pflag.InvalidValueError
	if !errors.As(err, &e) {
		return err
	}
	wants := flagWants[e.GetFlag().Value.Type()]
	if wants == "" {
		return err
	}
	return fmt.Errorf("--%s takes %s, not %q", e.GetFlag().Name, wants, e.GetValue())
}
