// Package statedir knows where logs lie: how they are named, written by one
// process while others read, found again by what a person remembers of them, and
// followed while they grow.
//
//	<state>/sessions/<id>.jsonl          the log of one tap, one frame a line
//	<state>/sessions/<id>.part2.jsonl    the same tap, after --max-log-size
//
// with <id> = <label>-<pid>-<12 hex>. Whoever writes a log holds a shared advisory
// lock on it, so a log that can be locked exclusively is written by nobody. The
// package moves lines and decodes none but through capture.
package statedir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Dir is a state directory: an absolute path, which need not exist.
type Dir string

// Locate returns the state directory that the flag --home and the environment
// name: home, else MCPSNOOP_HOME, else XDG_STATE_HOME/mcpsnoop, else
// ~/.local/state/mcpsnoop (with the directory for temporary files where the
// user's home is unknown). A relative home or MCPSNOOP_HOME is taken from the
// working directory, as a shell would; a relative XDG_STATE_HOME is ignored, as
// its specification says.
func Locate(home string, getenv func(string) string, userHome func() (string, error)) (Dir, error) {
	for _, named := range []struct{ by, path string }{
		{"--home", home},
		{"MCPSNOOP_HOME", getenv("MCPSNOOP_HOME")},
	} {
		if named.path == "" {
			continue
		}
		abs, err := filepath.Abs(named.path)
		if err != nil {
			return "", fmt.Errorf("locate state directory %q of %s: %w", named.path, named.by, err)
		}
		return Dir(abs), nil
	}
	if xdg := getenv("XDG_STATE_HOME"); filepath.IsAbs(xdg) {
		return Dir(filepath.Join(xdg, "mcpsnoop")), nil
	}
	base, err := userHome()
	if err != nil || !filepath.IsAbs(base) {
		base = os.TempDir()
	}
	return Dir(filepath.Join(base, ".local", "state", "mcpsnoop")), nil
}

// Sessions returns the directory of the logs.
func (d Dir) Sessions() string { return filepath.Join(string(d), "sessions") }

// logPath returns the path of the first part of a log.
func (d Dir) logPath(id string) string { return filepath.Join(d.Sessions(), id+logExt) }

// make creates the directory of the logs, for its owner only. What exists keeps
// its mode.
func (d Dir) make() error {
	if err := os.MkdirAll(d.Sessions(), 0o700); err != nil {
		return fmt.Errorf("create state directory: %w", pathCause(err))
	}
	return nil
}

// pathCause names the path once in an error that os wrapped.
func pathCause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%q: %w", p.Path, p.Err)
	}
	return err
}
