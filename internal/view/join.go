package view

import (
	"strings"

	"mcpsnoop/internal/term"
)

// words joins what is not empty.
type words struct {
	b     strings.Builder
	signs []Sign
}

func (w *words) add(parts ...string) {
	for _, p := range parts {
		if p == "" {
			continue
		}
		if w.b.Len() > 0 {
			w.b.WriteByte(' ')
		}
		w.b.WriteString(p)
	}
}

// sign adds a word or mark that has a role.
func (w *words) sign(text string, role term.Role) {
	if text == "" {
		return
	}
	w.add(text)
	if role != term.Text {
		w.signs = append(w.signs, Sign{w.b.Len() - len(text), w.b.Len(), role})
	}
}

func (w *words) status(s Status) { w.sign(string(s), s.Role()) }

func (w *words) String() string { return w.b.String() }
