package term

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"plain text":                    "plain text",
		"a\x1b[2Jb":                     `a\u{1b}[2Jb`,
		"a\nb\rc\td":                    `a\nb\rc\td`,
		"\x00\x07\x08\x0b\x7f":          `\u{0}\u{7}\u{8}\u{b}\u{7f}`,
		"\u0085\u009b":                  `\u{85}\u{9b}`,
		"Ωμέγα 東京 🚲":                    "Ωμέγα 東京 🚲",
		"e\u0301":                       "e\u0301",
		"non\u00a0breaking":             "non\u00a0breaking",
		"zero\u200bwidth\ufeff":         `zero\u{200b}width\u{feff}`,
		"right\u202eleft\u2066":         `right\u{202e}left\u{2066}`,
		"soft\u00adhyphen":              `soft\u{ad}hyphen`,
		"👨\u200d👩":                      `👨\u{200d}👩`,
		"tag\U000e0041\U000e007f":       `tag\u{e0041}\u{e007f}`,
		"\u2028\u2029":                  `\u{2028}\u{2029}`,
		"private\ue000\U00100000":       `private\u{e000}\u{100000}`,
		"unassigned\u0378\U000e0fff":    `unassigned\u{378}\u{e0fff}`,
		"noncharacter\uffff":            `noncharacter\u{ffff}`,
		"bad\xffbytes\xc3(\xed\xa0\x80": `bad\x{ff}bytes\x{c3}(\x{ed}\x{a0}\x{80}`,
		"cut\xe6\xbc":                   `cut\x{e6}\x{bc}`,
		"replacement \ufffd":            "replacement \ufffd",
		`C:\new\table`:                  `C:\new\table`,
		"osc\x1b]8;;http://x\x07y":      `osc\u{1b}]8;;http://x\u{7}y`,
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if got := string(AppendEscape([]byte("+"), text)); got != "+"+want {
			t.Errorf("%q: AppendEscape gives %s", text, got)
		}
	}
}

func TestEscapeKeepsCleanText(t *testing.T) {
	text := "clean 漢字 text"
	if n := testing.AllocsPerRun(100, func() { Escape(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	dst := make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() { dst = AppendEscape(dst[:0], "dirty\n\u200b\xff 漢字") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzEscape: what comes out is inert, whatever goes in.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a\x1b[2Jb", "漢字\n", "\xff\xc3", "\u200d\u202e\ue000\u0378", `\n`, "e\u0301"} {
		f.Add(s, 5)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		got := Escape(text)
		if !utf8.ValidString(got) {
			t.Errorf("%q gives invalid UTF-8", text)
		}
		for _, r := range got {
			if unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) || !unicode.IsGraphic(r) {
				t.Errorf("%q leaves %U", text, r)
			}
		}
		if Escape(got) != got {
			t.Errorf("%q is escaped twice", text)
		}
		if again := string(AppendEscape(nil, text)); again != got {
			t.Errorf("%q: AppendEscape gives %q, Escape %q", text, again, got)
		}
		if clean := strings.ToValidUTF8(text, ""); clean == text && cleanLen(text) == len(text) && got != text {
			t.Errorf("%q is clean and changed", text)
		}
		width = width % 300
		cut := Cut(got, width)
		if Width(cut) > max(0, width) {
			t.Errorf("Cut(%q, %d) is %d wide", got, width, Width(cut))
		}
		if prefix, was := strings.CutSuffix(cut, Ellipsis); cut != got && width > 0 && !(was && strings.HasPrefix(got, prefix)) {
			t.Errorf("Cut(%q, %d) gives %q", got, width, cut)
		}
	})
}

func BenchmarkEscape(b *testing.B) {
	for name, text := range map[string]string{
		"clean": strings.Repeat("a line of plain text ", 20), "wide": strings.Repeat("漢字 naïve ", 20), "dirty": strings.Repeat("line\n\u200b", 40),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Escape(text)
			}
		})
	}
}

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "naïve": 5, "漢字": 4, "😀": 2, "e\u0301": 1, "→ ✗ ◆ ▒ ○": 9, "±◷⊘↻┆·■§●◐▌▏▸▾█░▓‖": 18, "…": 1, "🇩🇪": 2, "–": 1,
	} {
		if got := Width(text); got != want {
			t.Errorf("%q is %d wide, want %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	zalgo := "z" + strings.Repeat("\u0301", 1000)
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 5, ""}, {"", 0, ""}, {"abc", 0, ""}, {"abc", -1, ""}, {"abc", 3, "abc"}, {"abc", 4, "abc"}, {"abcd", 3, "ab…"}, {"ab", 1, "…"}, {"a", 1, "a"},
		{"漢字", 4, "漢字"}, {"漢字", 3, "漢…"}, {"漢字", 2, "…"}, {"漢字漢", 5, "漢字…"}, {"漢字漢", 4, "漢…"}, {"a漢", 2, "a…"}, {"a漢b", 3, "a…"},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"🇩🇪🇫🇷", 3, "🇩🇪…"}, {"ab" + zalgo, 5, "ab…"}, {zalgo, 1, "…"},
	} {
		if got := Cut(c.text, c.width); got != c.want {
			t.Errorf("Cut(%.20q, %d) gives %q, want %q", c.text, c.width, got, c.want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { Cut("fits well", 20); Width("fits well") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	huge := strings.Repeat("漢", 4<<20)
	start := time.Now()
	for range 1000 {
		Cut(huge, 20)
	}
	if d := time.Since(start); d > 5*time.Second { // 1 ms when only the start is read, minutes else
		t.Errorf("cutting a huge text a thousand times takes %v", d)
	}
}
