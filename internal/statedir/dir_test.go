package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLocate(t *testing.T) {
	cwd, tmp := t.TempDir(), os.TempDir()
	t.Chdir(cwd)
	abs := func(parts ...string) string { return filepath.Join(append([]string{t.TempDir()}, parts...)...) }
	a, b, c, user := abs("a"), abs("b"), abs("c"), abs("user")
	for _, x := range []struct {
		name, home, env, xdg, user, want string
	}{
		{"flag first", a, b, c, user, a},
		{"then MCPSNOOP_HOME", "", b, c, user, b},
		{"then XDG_STATE_HOME", "", "", c, user, filepath.Join(c, "mcpsnoop")},
		{"then the user's home", "", "", "", user, filepath.Join(user, ".local", "state", "mcpsnoop")},
		{"home unknown", "", "", "", "", filepath.Join(tmp, ".local", "state", "mcpsnoop")},
		{"relative flag", "x/../y", b, c, user, filepath.Join(cwd, "y")},
		{"relative MCPSNOOP_HOME", "", "y", c, user, filepath.Join(cwd, "y")},
		{"relative XDG_STATE_HOME", "", "", "y", user, filepath.Join(user, ".local", "state", "mcpsnoop")},
	} {
		getenv := func(name string) string {
			return map[string]string{"MCPSNOOP_HOME": x.env, "XDG_STATE_HOME": x.xdg}[name]
		}
		userHome := func() (string, error) {
			if x.user == "" {
				return "", errors.New("none")
			}
			return x.user, nil
		}
		got, err := Locate(x.home, getenv, userHome)
		if err != nil || same(t, string(got)) != same(t, x.want) {
			t.Errorf("%s: %q, %v, want %q", x.name, got, err, x.want)
		}
	}
}

// same resolves the links that lead to temporary directories on some systems.
func same(t *testing.T, path string) string {
	t.Helper()
	dir := path
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			rest, _ := filepath.Rel(dir, path)
			return filepath.Join(real, rest)
		}
		dir = filepath.Dir(dir)
	}
}
