package proc

import (
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	const rest = " S 812 4100 4100 0 -1 4194560 1 0 0 0 3 1 0 0 20 0 7 0 123456789 55 1 2 3"
	for _, name := range []string{"node", "a b", "x) R 1 2 3", "))((", "(sd-pam)", "two\nlines", ""} {
		p, err := parseStat([]byte("4100 (" + name + ")" + rest + "\n"))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if want := (Process{Parent: 812, Start: "123456789", Name: name}); p != want {
			t.Errorf("%q: got %+v", name, p)
		}
	}
	for _, bad := range []string{
		"", "4100", "4100 (node", "4100 )node(" + rest, "4100 (node) S 812 1",
		"4100 (node)" + strings.Replace(rest, "812", "x", 1),
		"4100 (node)" + strings.Replace(rest, "123456789", "-1", 1),
	} {
		if p, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q: read as %+v", bad, p)
		}
	}
}
