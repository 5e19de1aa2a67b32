package cli

import (
	"os"
	"runtime/debug"
	"time"

	"mcpsnoop/internal/checks"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/proc"
)

// Env is everything a command takes from the process around it.
type Env struct {
	Stdin, Stdout, Stderr *os.File
	Getenv                func(string) string
	Now                   func() time.Time
	Version               string                 // "1.2.3", or what the build knows
	CacheDir              func() (string, error) // of the user; nil: there is none

	host     func() string          // hash of this machine's boot identity; nil: the real one
	registry func() *judge.Registry // by which sessions are judged; nil: all checks there are
}

// thisHost is the hash of this machine's boot identity, "" if it has none.
func (e *Env) thisHost() string {
	if e.host != nil {
		return e.host()
	}
	return proc.Host(proc.System)
}

// checks returns what sessions are judged by.
func (e *Env) checks() *judge.Registry {
	if e.registry != nil {
		return e.registry()
	}
	return checks.Registry()
}

// SystemEnv returns the Env of this process. version is what the linker was
// told; without one the module's build information is asked.
func SystemEnv(version string) *Env {
	return &Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv:   os.Getenv,
		Now:      time.Now,
		CacheDir: os.UserCacheDir,
		Version:  buildVersion(version),
	}
}

func buildVersion(linked string) string {
	if linked != "" {
		return linked
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "dev-" + s.Value[:12]
		}
	}
	return "dev"
}
