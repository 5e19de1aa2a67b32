package checks

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestQuote: of a peer's text stands as much in a detail as may, in whole characters, and what
// was left out is marked.
func TestQuote(t *testing.T) {
	full := strings.Repeat("x", maxQuoted)
	for text, want := range map[string]string{
		"":                        `""`,
		"a\"b":                    `"a"b"`,
		"a\r\n\tb":                "\"a\\r\\n\tb\"",
		full:                      `"` + full + `"`,
		full + "x":                `"` + full + `"…`,
		full[1:] + "é":            `"` + full[1:] + `"…`,
		full[3:] + "😀":            `"` + full[3:] + `"…`,
		full[4:] + "😀":            `"` + full[4:] + `😀"`,
		strings.Repeat("é", 1000): `"` + strings.Repeat("é", maxQuoted/2) + `"…`,
	} {
		if got := quote(text); got != want || quote([]byte(text)) != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got := quote(strings.Repeat("\x80", 1000)); len(got) < maxQuoted {
		t.Errorf("of what is no text %d bytes are left", len(got))
	}
	for text, want := range map[string]string{
		" 1 ":                "1",
		`"é"`:                `"é"`,
		"{\n\t\"a\": 1\r\n}": `{  "a": 1  }`,
		"1" + full:           "1" + full[1:] + "…",
		full[1:] + "é":       full[1:] + "…",
	} {
		if got := quoteJSON([]byte(text)); got != want || !utf8.ValidString(got) {
			t.Errorf("JSON %q becomes %q", text, got)
		}
	}
}
