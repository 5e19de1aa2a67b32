package export

import (
	"bufio"
	"bytes"
)

// maxIndent is how deep JSON is set off by lines. What lies deeper stays on one
// line, so that a deep payload cannot blow up the output.
const maxIndent = 24

// indenter writes valid JSON, handed over in any pieces, with two blanks a level.
// Strings and numbers pass verbatim; only the space between them is ours.
type indenter struct {
	w       *bufio.Writer
	depth   int
	opened  bool // a container that may yet be empty
	str     bool // inside a string,
	escaped bool // and after a backslash
}

func (n *indenter) newline() {
	if n.depth > maxIndent {
		return
	}
	n.w.WriteByte('\n')
	for range n.depth {
		n.w.WriteString("  ")
	}
}

// value is called before anything that is not a closing bracket.
func (n *indenter) value() {
	if n.opened {
		n.opened = false
		n.newline()
	}
}

func (n *indenter) write(json []byte) {
	for i := 0; i < len(json); {
		if n.str {
			i += n.string(json[i:])
			continue
		}
		c := json[i]
		i++
		switch c {
		case ' ', '\t', '\r', '\n':
		case '{', '[':
			n.value()
			n.w.WriteByte(c)
			n.depth++
			n.opened = true
		case '}', ']':
			n.depth--
			if !n.opened && n.depth < maxIndent {
				n.newline()
			}
			n.opened = false
			n.w.WriteByte(c)
		case ',':
			n.w.WriteByte(c)
			n.newline()
		case ':':
			n.w.WriteByte(c)
			if n.depth <= maxIndent {
				n.w.WriteByte(' ')
			}
		case '"':
			n.value()
			n.w.WriteByte(c)
			n.str = true
		default:
			n.value()
			n.w.WriteByte(c)
		}
	}
}

// string writes up to the end of the string it is in, and returns how much that was.
func (n *indenter) string(json []byte) int {
	i := 0
	if n.escaped {
		n.escaped = false
		i = 1
	}
	for i < len(json) {
		k := bytes.IndexAny(json[i:], `"\`)
		if k < 0 {
			i = len(json)
			break
		}
		i += k + 1
		if json[i-1] == '"' {
			n.str = false
			break
		}
		if i == len(json) {
			n.escaped = true
			break
		}
		i++
	}
	n.w.Write(json[:i])
	return i
}
