package term

import (
	"fmt"
	"strconv"
	"strings"
)

// Mode is what the flag --color asks for.
type Mode uint8

// The modes. Auto colours terminals only and heeds NO_COLOR.
const (
	Auto Mode = iota
	Always
	Never
)

// ParseMode reads the value of --color.
func ParseMode(s string) (Mode, error) {
	switch s {
	case "auto":
		return Auto, nil
	case "always":
		return Always, nil
	case "never":
		return Never, nil
	}
	return Auto, fmt.Errorf("colour must be auto, always or never, not %q", s)
}

// Depth is how much of a role an output can show.
type Depth uint8

// The depths. Weights are bold, faint, underline and reverse: what NO_COLOR leaves.
const (
	Plain Depth = iota // no escape sequence at all
	Weights
	SixteenColors
	TrueColor
)

// Theme says which background the colours are for.
type Theme uint8

// The themes.
const (
	Dark Theme = iota
	Light
)

// ThemeFrom returns the theme that MCPSNOOP_THEME names; false if it names none,
// so that the terminal may be asked.
func ThemeFrom(getenv func(string) string) (Theme, bool) {
	switch strings.ToLower(getenv("MCPSNOOP_THEME")) {
	case "dark":
		return Dark, true
	case "light":
		return Light, true
	}
	return Dark, false
}

// Palette paints roles for one output. The zero Palette paints nothing.
type Palette struct {
	Depth Depth
	Theme Theme
}

// PaletteFor returns the palette for an output, by the flag, the environment and
// what the output is.
func PaletteFor(w any, mode Mode, getenv func(string) string) Palette {
	p := choose(IsTerminal(w), mode, getenv)
	if p.Depth != Plain {
		enableSequences(w)
	}
	return p
}

func choose(terminal bool, mode Mode, getenv func(string) string) Palette {
	theme, _ := ThemeFrom(getenv)
	known := depthOf(getenv)
	switch {
	case mode == Always: // whoever asks for colours gets some
		return Palette{max(known, SixteenColors), theme}
	case !terminal || known == Plain:
		return Palette{}
	case mode == Never || getenv("NO_COLOR") != "":
		return Palette{Weights, theme}
	}
	return Palette{known, theme}
}

// depthOf returns what the terminal that the environment describes can do.
func depthOf(getenv func(string) string) Depth {
	name := getenv("TERM")
	switch color := getenv("COLORTERM"); {
	case name == "dumb":
		return Plain
	case color == "truecolor" || color == "24bit" || strings.HasSuffix(name, "-direct"):
		return TrueColor
	case name == "":
		return unnamedTerminal
	}
	return SixteenColors
}

// SGR returns the escape sequence that turns a role on, "" if nothing changes.
func (p Palette) SGR(r Role) string {
	if params := p.params(r); params != "" {
		return "\x1b[" + params + "m"
	}
	return ""
}

// Paint returns text in a role. Text must not hold escape sequences.
func (p Palette) Paint(r Role, text string) string {
	on := p.SGR(r)
	if on == "" || text == "" {
		return text
	}
	return on + text + "\x1b[0m"
}

func (p Palette) params(r Role) string {
	if int(r) >= len(roles) {
		return ""
	}
	switch role := &roles[r]; p.Depth {
	case Weights:
		return role.weight
	case SixteenColors:
		return role.sixteen[p.Theme]
	case TrueColor:
		c := role.rgb[p.Theme]
		triple := strconv.Itoa(int(c>>16)) + ";" + strconv.Itoa(int(c>>8&0xff)) + ";" + strconv.Itoa(int(c&0xff))
		switch r {
		case Match:
			return "38;2;0;0;0;48;2;" + triple
		case Selection:
			return "48;2;" + triple
		}
		return "38;2;" + triple
	}
	return ""
}
