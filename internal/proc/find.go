package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// The exit codes of a command that could not be started, as shells have them.
const (
	ExitCannotRun = 126
	ExitNotFound  = 127
)

// StartError says why a command could not be started.
type StartError struct {
	Code   int    // ExitNotFound or ExitCannotRun
	Name   string // as it was given
	Looked string // where it was looked for, or what was found
	Err    error
}

// Error says what was looked for, and where.
func (e *StartError) Error() string {
	if e.Code == ExitNotFound {
		return fmt.Sprintf("start server: no program %q: looked %s", e.Name, e.Looked)
	}
	return fmt.Sprintf("start server: cannot run %q: %s: %v", e.Name, e.Looked, e.Err)
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// find returns the path of the program that name stands for, as execvp would.
func find(name, dir string) (string, error) {
	if name == "" {
		return "", &StartError{Code: ExitNotFound, Name: name, Looked: "at an empty name", Err: exec.ErrNotFound}
	}
	if isPath(name) {
		return findPath(name, dir)
	}
	path, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return path, nil // PATH may name the current directory; that is its owner's choice
	}
	dirs := filepath.SplitList(os.Getenv("PATH"))
	for _, d := range dirs {
		at := filepath.Join(d, name)
		if info, err := os.Stat(at); err == nil && !info.IsDir() {
			return "", &StartError{Code: ExitCannotRun, Name: name, Looked: at, Err: syscall.EACCES}
		}
	}
	looked := "in PATH, which is empty"
	if len(dirs) > 0 {
		looked = "in PATH: " + strings.Join(dirs, ", ")
	}
	return "", &StartError{Code: ExitNotFound, Name: name, Looked: looked, Err: exec.ErrNotFound}
}

// findPath judges a name that is a path. It is relative to the directory in which
// the command will run.
func findPath(name, dir string) (string, error) {
	at := name
	if !filepath.IsAbs(at) && dir != "" {
		at = filepath.Join(dir, at)
	}
	shown := at
	if abs, err := filepath.Abs(at); err == nil {
		shown = abs
	}
	info, err := os.Stat(at)
	switch {
	case err == nil && info.IsDir():
		return "", &StartError{Code: ExitCannotRun, Name: name, Looked: shown, Err: syscall.EISDIR}
	case err == nil:
		return resolve(name, at)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		if path, err := exec.LookPath(at); err == nil { // Windows adds extensions
			return path, nil
		}
		return "", &StartError{Code: ExitNotFound, Name: name, Looked: "at " + shown, Err: err}
	}
	return "", &StartError{Code: ExitCannotRun, Name: name, Looked: shown, Err: plainCause(err)}
}

// startError explains why the program found at path did not start.
func startError(name, path string, err error) error {
	err = plainCause(err)
	code := ExitCannotRun
	looked := path
	if errors.Is(err, fs.ErrNotExist) {
		// The file is there, so it is its interpreter that is not.
		if interpreter := shebang(path); interpreter != "" {
			looked = fmt.Sprintf("%s asks for the interpreter %q", path, interpreter)
		}
	}
	return &StartError{Code: code, Name: name, Looked: looked, Err: err}
}

// plainCause returns the system's own error without our words around it.
func plainCause(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// shebang returns the interpreter that a script's first line names, or "".
func shebang(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	line, ok := strings.CutPrefix(line, "#!")
	if fields := strings.Fields(line); ok && len(fields) > 0 {
		return fields[0]
	}
	return ""
}
