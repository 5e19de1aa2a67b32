package mcpsnoop_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unportable finds text that is true on one machine only.
var unportable = map[string]*regexp.Regexp{
	"an absolute path of a machine": regexp.MustCompile(`(?:^|[\s"'` + "`" + `=(:])/(?:root|work)/`),
	"the host of a package registry": regexp.MustCompile(`(?i)\b(?:registry\.npmjs|registry\.yarnpkg|files\.pythonhosted|` +
		`pypi\.org|proxy\.golang|sum\.golang|repo1?\.maven)\b`),
	// A lock file pins by version and hash; where a machine fetches packages from
	// is that machine's affair.
	"a download address in a lock file": regexp.MustCompile(`"resolved":\s*"[a-z+]+:`),
}

// thisMachine finds the directories of the machine that the test runs on.
func thisMachine(t *testing.T) *regexp.Regexp {
	t.Helper()
	var dirs []string
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	home, _ := os.UserHomeDir()
	for _, dir := range []string{filepath.Dir(wd), home} {
		if strings.Count(filepath.ToSlash(dir), "/") > 1 { // "/tmp" or "/" stands in honest texts
			dirs = append(dirs, regexp.QuoteMeta(dir+string(filepath.Separator)))
		}
	}
	if dirs == nil {
		return regexp.MustCompile(`a^`)
	}
	return regexp.MustCompile(strings.Join(dirs, "|"))
}

// TestNothingOfOneMachine looks at what people write: testdata keeps what was captured.
func TestNothingOfOneMachine(t *testing.T) {
	here := thisMachine(t)
	for name := range files(t) {
		data, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		binary := bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0
		if binary || strings.Contains(name, "testdata/") || name == "hygiene_test.go" {
			continue
		}
		n := 0
		for line := range bytes.Lines(data) {
			n++
			if m := here.Find(line); m != nil {
				t.Errorf("%s:%d: a path of this machine: %s", name, n, m)
			}
			for what, re := range unportable {
				if m := re.Find(line); m != nil {
					t.Errorf("%s:%d: %s: %s", name, n, what, bytes.TrimSpace(m))
				}
			}
		}
	}
}

// TestUnportableIsFound proves that the rules above can fail, and what passes them.
func TestUnportableIsFound(t *testing.T) {
	for line, want := range map[string]string{
		`see /root/x`:                              "an absolute path of a machine",
		`{"cwd":"/work/x"}`:                        "an absolute path of a machine",
		`https://registry.npmjs.org/x`:             "the host of a package registry",
		`"resolved": "https://example.org/x.tgz",`: "a download address in a lock file",
		`"resolved": "packages/x",`:                "",
		`--home ~/.local/state/mcpsnoop`:           "",
		`./work/x`:                                 "",
		`import "golang.org/x/sys/unix"`:           "",
		`#!/usr/bin/env bash`:                      "",
		`${XDG_CACHE_HOME:-$HOME/.cache}/x/`:       "",
	} {
		got := ""
		for what, re := range unportable {
			if re.MatchString(line) {
				got = what
			}
		}
		if got != want {
			t.Errorf("%q: found %q, want %q", line, got, want)
		}
	}
}
