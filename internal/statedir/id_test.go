package statedir

import (
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNewIDKeepsLabelAndPIDReadable(t *testing.T) {
	a, b := NewID("v1..v2-x", 4711), NewID("v1..v2-x", 4711)
	if a == b {
		t.Fatalf("two runs of one process share the id %q", a)
	}
	if !strings.HasPrefix(a, "v1..v2-x-4711-") {
		t.Errorf("id %q does not begin with label and pid", a)
	}
	label, pid, ok := ParseID(a)
	if !ok || label != "v1..v2-x" || pid != 4711 {
		t.Errorf("ParseID(%q) = %q, %d, %v", a, label, pid, ok)
	}
}

func TestParseID(t *testing.T) {
	for id, want := range map[string]bool{
		"server-0-1000-a129abed2903":          true,
		"..-1-a129abed2903":                   true,
		"ünï-1-a129abed2903":                  true,
		"":                                    false,
		"..":                                  false,
		"s-1-0a":                              false,
		"s-1-A129ABED2903":                    false,
		"s-1-a129abed29033":                   false,
		"s--a129abed2903":                     false,
		"s-x-a129abed2903":                    false,
		"s-+1-a129abed2903":                   false,
		"s-99999999999999999999-a129abed2903": false,
		"-1-a129abed2903":                     false,
		"--a-1-a129abed2903":                  false,
		"../s-1-a129abed2903":                 false,
		"a\\b-1-a129abed2903":                 false,
		"a\x1b-1-a129abed2903":                false,
		"a\xff-1-a129abed2903":                false,
		strings.Repeat("x", 200) + "-1-a129abed2903": true,
		strings.Repeat("x", 201) + "-1-a129abed2903": false,
	} {
		if _, _, ok := ParseID(id); ok != want {
			t.Errorf("ParseID(%q) accepts: %v, want %v", id, ok, want)
		}
	}
}

func TestValidateLabel(t *testing.T) {
	for label, want := range map[string]bool{
		"v1..v2": true, "a b": true, "..": true, "x-": true, strings.Repeat("é", 100): true,
		"": false, "-x": false, "../x": false, `a\b`: false, "a\x1b": false, "a\x00": false,
		"a\u0085": false, "a\x7f": false, "a\xff": false, strings.Repeat("é", 101): false,
		"a:b": runtime.GOOS != "windows",
	} {
		if err := ValidateLabel(label); (err == nil) != want {
			t.Errorf("ValidateLabel(%q) = %v, want valid: %v", label, err, want)
		}
	}
}

func TestDeriveLabel(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"npx", "-y", "@scope/server-foo"}, "server-foo"},
		{[]string{"node", "build/index.js"}, "index.js"},
		{[]string{"/usr/bin/node", "--inspect", "build/index.js", "/data"}, "index.js"},
		{[]string{"python3", "-m", "my_mcp.main"}, "my_mcp.main"},
		{[]string{"uv", "run", "--directory", "/opt/x", "weather.py"}, "weather.py"},
		{[]string{"uvx", "tool", "serve"}, "tool"},
		{[]string{"docker", "run", "-i", "mcp/time"}, "time"},
		{[]string{`C:\tools\npx.CMD`, `C:\srv\thing`}, "thing"},
		{[]string{"cat"}, "cat"},
		{[]string{"node"}, "node"},
		{[]string{"bash", "-c"}, "bash"},
		{[]string{"./build/"}, "build"},
		{[]string{"env", "API_KEY=sk-secret", "A=mcp", "/opt/thing"}, "thing"},
		{[]string{"fetcher", "--", "https://me:pw@mcp.example.test/v1/mcp?key=secret"}, "mcp"},
		{[]string{"fetcher", "https://me:pw@mcp.example.test"}, "mcp.example.test"},
		{[]string{"-"}, "server"},
		{[]string{"/"}, "server"},
		{nil, "server"},
		{[]string{"a/-x"}, "x"},
		{[]string{"a\x1b[31mb"}, "a_[31mb"},
		{[]string{"a\xffb"}, "a_b"},
	} {
		if got := DeriveLabel(c.argv); got != c.want {
			t.Errorf("DeriveLabel(%q) = %q, want %q", c.argv, got, c.want)
		}
	}
}

// What DeriveLabel gives is a label, whatever the command line.
func FuzzDeriveLabel(f *testing.F) {
	f.Add("npx", "@scope/server-foo")
	f.Add(strings.Repeat("é", 150), "\x00")
	f.Add(strings.Repeat("x", 199)+"é", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		label := DeriveLabel([]string{a, b})
		if err := ValidateLabel(label); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := ParseID(NewID(label, 1)); !ok {
			t.Fatalf("id of label %q does not parse", label)
		}
	})
}

func TestCleanLabelCutsBetweenRunes(t *testing.T) {
	label := CleanLabel(strings.Repeat("x", 199) + "é")
	if len(label) != 199 || !utf8.ValidString(label) {
		t.Errorf("cut to %d bytes: %q", len(label), label)
	}
}
