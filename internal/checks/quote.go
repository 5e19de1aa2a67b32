package checks

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxQuoted is how many bytes of a peer's text stand in a detail.
const maxQuoted = 120

// oneLine spells line breaks, which a detail has none of.
var oneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// quote quotes a peer's text for a detail, otherwise as it was sent: whoever shows it escapes it.
// Behind the quotes of long text … says that there is more of it.
func quote[T string | []byte](text T) string {
	part, more := cut(text)
	part = `"` + oneLine.Replace(part) + `"`
	if more {
		part += "…"
	}
	return part
}

// quoteJSON returns a peer's JSON for a detail: in one line, with … in place of what there is too
// much of.
func quoteJSON(text []byte) string {
	part, more := cut(bytes.TrimSpace(text))
	part = strings.Map(func(r rune) rune { return max(r, ' ') }, part)
	if more {
		return part + "…"
	}
	return part
}

// cut returns the beginning of text, as long as may be shown, and whether that is not all. It does
// not cut through characters.
func cut[T string | []byte](text T) (part string, more bool) {
	if len(text) <= maxQuoted {
		return string(text), false
	}
	end := maxQuoted
	for end > maxQuoted-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end]), true
}
