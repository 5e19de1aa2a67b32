package view

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
)

// params previews what a request asks beside its target: the arguments, or the
// parameters without what only carries them.
func (l *Liner) params(m *session.Message, node jsontree.Node) string {
	params := node.Get("params")
	if args := params.Get("arguments"); args.Exists() {
		return l.compact(args.Text())
	}
	if params.Kind() != jsontree.Object {
		if params.Exists() {
			return l.compact(params.Text())
		}
		return ""
	}
	var b strings.Builder
	for name, value := range params.Members() {
		if name.Is("_meta") {
			continue
		}
		if s, ok := value.Str(); ok && s == m.Target {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(name.String()))
		b.WriteByte(':')
		b.WriteString(head(string(value.Text()), 8*previewWidth))
		if b.Len() > 8*previewWidth {
			break
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return l.compact([]byte("{" + b.String() + "}"))
}

func (l *Liner) width() int {
	if l.Preview > 0 {
		return l.Preview
	}
	return previewWidth
}

// compact shows JSON on one line, blanks outside strings left out.
func (l *Liner) compact(json []byte) string {
	limit := 8 * l.width()
	b := make([]byte, 0, min(len(json), limit))
	inString := false
	for i := 0; i < len(json) && len(b) < limit; i++ {
		switch c := json[i]; {
		case inString && c == '\\' && i+1 < len(json):
			b = append(b, c, json[i+1])
			i++
			continue
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			continue
		}
		b = append(b, json[i])
	}
	return term.Cut(term.Escape(whole(b)), l.width())
}

// text shows a line of a peer, cut.
func (l *Liner) text(payload []byte) string {
	if l.bare {
		return term.Escape(string(payload))
	}
	return term.Cut(term.Escape(whole(payload[:min(len(payload), 8*l.width())])), l.width())
}

func (l *Liner) quoted(f *capture.Frame) string {
	if l.bare && f.Form == capture.Raw {
		return ""
	}
	return `"` + l.text(f.Payload) + `"`
}

// whole drops a rune that a cut at a byte split.
func whole(b []byte) string {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				b = b[:len(b)-i]
			}
			break
		}
	}
	return string(b)
}

func text(s string, width int) string { return term.Cut(term.Escape(head(s, 8*width)), width) }
