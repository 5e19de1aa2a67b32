package term

import "github.com/clipperhouse/displaywidth"

// Ellipsis stands where [Cut] cut.
const Ellipsis = "…"

// maxGrapheme is how many bytes one grapheme may have to be shown. Text can pile
// any number of marks on one letter, and all of them count as one column.
const maxGrapheme = 64

// Width returns how many columns text takes on a terminal. It is meant for text
// that passed [Escape].
func Width(text string) int {
	if isPlain(text) {
		return len(text)
	}
	return displaywidth.String(text)
}

// Cut returns text if it fits in width columns, else as many whole graphemes as
// fit before an [Ellipsis]. Nothing fits in no columns.
func Cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	if len(text) <= width && isPlain(text) {
		return text
	}
	fits, end, columns := 0, 0, 0
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		if columns += g.Width(); columns > width || len(g.Value()) > maxGrapheme {
			return text[:fits] + Ellipsis
		}
		if end += len(g.Value()); columns < width {
			fits = end
		}
	}
	return text
}

// isPlain reports whether each byte of text is a printable ASCII character.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
