package term

// Role is what a colour means. A hue has one meaning, and never stands alone: each
// meaning also has a glyph or a word.
type Role uint8

// The roles.
const (
	Text      Role = iota // data
	Dim                   // context: preview, settled request, seen before
	Line                  // rules, box edges, empty bars; never text
	Focus                 // keys, cursor, focused pane, links
	OK                    // settled well
	Err                   // JSON-RPC, tool or transport error, bad frame
	Find                  // a MUST is broken
	Warn                  // SHOULD, slow, late, cancelled, drift, incomplete
	Run                   // going on: live, pending, streaming, progress
	Key                   // JSON: member names
	Str                   // JSON: strings
	Num                   // JSON: numbers and literals
	Match                 // a search hit: a background
	Selection             // the selected row: a background
)

// RGB is a colour as 0xRRGGBB.
type RGB uint32

// RGB returns the colour of a role. [Match] and [Selection] are backgrounds.
func (r Role) RGB(t Theme) RGB { return roles[r].rgb[t] }

// String returns the name of a role.
func (r Role) String() string { return roles[r].name }

// roles is the palette: shared/faces.md section 2. On 16 colours the light theme
// uses the first eight only, since the bright ones vanish on white.
var roles = [...]struct {
	name    string
	rgb     [2]RGB    // dark, light
	sixteen [2]string // SGR parameters, dark and light
	weight  string    // SGR parameters without hues
}{
	Text:      {"fg", [2]RGB{0xd8dce4, 0x1c212b}, [2]string{"", ""}, ""},
	Dim:       {"dim", [2]RGB{0x9da6b5, 0x565e6c}, [2]string{"2", "2"}, "2"},
	Line:      {"line", [2]RGB{0x7a8494, 0x737b88}, [2]string{"90", "37"}, ""},
	Focus:     {"focus", [2]RGB{0x79b8ff, 0x0b57a4}, [2]string{"1;34", "1;34"}, "1"},
	OK:        {"ok", [2]RGB{0x5ccfa0, 0x1b6a35}, [2]string{"32", "32"}, ""},
	Err:       {"err", [2]RGB{0xff7d7d, 0xc2183a}, [2]string{"1;31", "1;31"}, "1"},
	Find:      {"find", [2]RGB{0xdca0ff, 0x862ba3}, [2]string{"1;35", "1;35"}, "1"},
	Warn:      {"warn", [2]RGB{0xf2b661, 0x8a5a00}, [2]string{"33", "33"}, "4"},
	Run:       {"run", [2]RGB{0x63d3d9, 0x07646d}, [2]string{"36", "36"}, ""},
	Key:       {"key", [2]RGB{0x8ec3ff, 0x1a559f}, [2]string{"34", "34"}, ""},
	Str:       {"str", [2]RGB{0xa8d6a0, 0x2a6426}, [2]string{"32", "32"}, ""},
	Num:       {"num", [2]RGB{0xf3bb8c, 0x87440f}, [2]string{"33", "33"}, ""},
	Match:     {"match", [2]RGB{0xffd866, 0xffe08a}, [2]string{"7", "7"}, "7"},
	Selection: {"sel", [2]RGB{0x26374d, 0xd9e6f6}, [2]string{"7", "7"}, "7"},
}
