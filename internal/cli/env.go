package cli

import (
	"os"
	"runtime/debug"
	"time"

	"mcpsnoop/internal/checks"
	"mcpsnoop/internal/judge"
)

// Env is everything a command takes from the process around it.
type Env struct {
	Stdin, Stdout, Stderr *os.File
	Getenv                func(string) string
	Now                   func() time.Time
	Version               string // "1.2.3", or what the build knows

	registry func() *judge.Registry // by which sessions are judged; nil: all checks there are
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
		Getenv:  os.Getenv,
		Now:     time.Now,
		Version: buildVersion(version),
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
