package term

import (
	"math"
	"strings"
	"testing"
)

// environment is a getenv over "NAME=value NAME=value".
func environment(vars string) func(string) string {
	return func(name string) string {
		for _, v := range strings.Fields(vars) {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		mode     Mode
		env      string
		want     Palette
	}{
		{true, Auto, "TERM=xterm-256color", Palette{SixteenColors, Dark}},
		{true, Auto, "TERM=xterm COLORTERM=truecolor", Palette{TrueColor, Dark}},
		{true, Auto, "TERM=xterm COLORTERM=24bit", Palette{TrueColor, Dark}},
		{true, Auto, "TERM=xterm-direct", Palette{TrueColor, Dark}},
		{true, Auto, "TERM=linux MCPSNOOP_THEME=light", Palette{SixteenColors, Light}},
		{true, Auto, "TERM=xterm MCPSNOOP_THEME=pink", Palette{SixteenColors, Dark}},
		{true, Auto, "TERM=dumb COLORTERM=truecolor", Palette{}},
		{true, Auto, "TERM=xterm NO_COLOR=1", Palette{Weights, Dark}},
		{true, Auto, "TERM=xterm NO_COLOR=", Palette{SixteenColors, Dark}},
		{true, Auto, "TERM=dumb NO_COLOR=1", Palette{}},
		{true, Never, "TERM=xterm COLORTERM=truecolor", Palette{Weights, Dark}},
		{true, Never, "TERM=dumb", Palette{}},
		{true, Always, "TERM=xterm NO_COLOR=1", Palette{SixteenColors, Dark}},
		{true, Always, "TERM=dumb", Palette{SixteenColors, Dark}},
		{false, Auto, "TERM=xterm COLORTERM=truecolor", Palette{}},
		{false, Never, "TERM=xterm", Palette{}},
		{false, Always, "TERM=xterm COLORTERM=truecolor MCPSNOOP_THEME=LIGHT", Palette{TrueColor, Light}},
		{false, Always, "", Palette{max(SixteenColors, unnamedTerminal), Dark}},
		{true, Auto, "", Palette{unnamedTerminal, Dark}},
	} {
		if got := choose(c.terminal, c.mode, environment(c.env)); got != c.want {
			t.Errorf("terminal %v, mode %v, %s: got %v, want %v", c.terminal, c.mode, c.env, got, c.want)
		}
	}
	if got := PaletteFor(&strings.Builder{}, Auto, environment("TERM=xterm")); got != (Palette{}) {
		t.Errorf("a buffer is coloured: %v", got)
	}
}

func TestParseMode(t *testing.T) {
	for s, want := range map[string]Mode{"auto": Auto, "always": Always, "never": Never} {
		if got, err := ParseMode(s); got != want || err != nil {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	if _, err := ParseMode("Always"); err == nil || !strings.Contains(err.Error(), `"Always"`) {
		t.Errorf("error %v", err)
	}
}

func TestPaint(t *testing.T) {
	for _, c := range []struct {
		palette Palette
		role    Role
		want    string
	}{
		{Palette{}, Err, "x"},
		{Palette{Weights, Dark}, Err, "\x1b[1mx\x1b[0m"},
		{Palette{Weights, Dark}, OK, "x"},
		{Palette{Weights, Dark}, Warn, "\x1b[4mx\x1b[0m"},
		{Palette{SixteenColors, Dark}, Text, "x"},
		{Palette{SixteenColors, Dark}, Find, "\x1b[1;35mx\x1b[0m"},
		{Palette{SixteenColors, Light}, Line, "\x1b[37mx\x1b[0m"},
		{Palette{TrueColor, Dark}, Err, "\x1b[38;2;255;125;125mx\x1b[0m"},
		{Palette{TrueColor, Light}, Err, "\x1b[38;2;194;24;58mx\x1b[0m"},
		{Palette{TrueColor, Dark}, Match, "\x1b[38;2;0;0;0;48;2;255;216;102mx\x1b[0m"},
		{Palette{TrueColor, Dark}, Selection, "\x1b[48;2;38;55;77mx\x1b[0m"},
		{Palette{TrueColor, Dark}, Role(200), "x"},
	} {
		if got := c.palette.Paint(c.role, "x"); got != c.want {
			t.Errorf("%v: role %d gives %q, want %q", c.palette, c.role, got, c.want)
		}
	}
	if got := (Palette{TrueColor, Dark}).Paint(Err, ""); got != "" {
		t.Errorf("nothing is painted as %q", got)
	}
}

// The bright half of the 16 colours vanishes on white, and NO_COLOR means no hue.
func TestRolesKeepTheirRules(t *testing.T) {
	for r := range roles {
		role := roles[r]
		if role.name == "" || Role(r).String() != role.name {
			t.Errorf("role %d has no name", r)
		}
		for _, p := range strings.Split(role.sixteen[Light], ";") {
			if len(p) == 2 && (p[0] == '9' || p[0] == '1') {
				t.Errorf("%s uses bright colour %s on light", role.name, p)
			}
		}
		if strings.ContainsAny(role.weight, "35689") {
			t.Errorf("%s keeps a hue under NO_COLOR: %s", role.name, role.weight)
		}
	}
}

// All text has a contrast of at least 4.5 on the background of reference and on the
// selection; lines have 3.
func TestContrast(t *testing.T) {
	backgrounds := [2][]RGB{
		{0x14171c, Selection.RGB(Dark), 0x000000, 0x1e1e1e, 0x282c34, 0x002b36, 0x282a36},
		{0xfcfcfa, Selection.RGB(Light), 0xffffff, 0xfdf6e3, 0xeff1f5, 0xfafafa},
	}
	for _, theme := range []Theme{Dark, Light} {
		for r := Text; r <= Num; r++ {
			want := 4.5
			if r == Line {
				want = 3
			}
			for _, b := range backgrounds[theme] {
				if got := contrast(r.RGB(theme), b); got < want {
					t.Errorf("theme %d: %v on #%06x has a contrast of %.2f", theme, r, b, got)
				}
			}
		}
		if got := contrast(0x000000, Match.RGB(theme)); got < 12 {
			t.Errorf("theme %d: black on match has a contrast of %.2f", theme, got)
		}
	}
}

// contrast is that of WCAG 2.
func contrast(a, b RGB) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c RGB) float64 {
	channel := func(v RGB) float64 {
		s := float64(v&0xff) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(c>>16) + 0.7152*channel(c>>8) + 0.0722*channel(c)
}
