package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
)

func parse(t testing.TB, text string) Node {
	t.Helper()
	var tree Tree
	if err := tree.Parse([]byte(text)); err != nil {
		t.Fatalf("parse %.60q: %v", text, err)
	}
	return tree.Root()
}

func TestCheck(t *testing.T) {
	nested := func(open, inner, close string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(close, n)
	}
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"empty", "", ErrSyntax},
		{"blank", " \t\r\n", ErrSyntax},
		{"number", "0", nil},
		{"spaced", " \t\r\n{ \"a\" : [ 1 , 2 ] } \n", nil},
		{"two values", "{} {}", ErrSyntax},
		{"trailing comma", "[1,]", ErrSyntax},
		{"byte order mark", "\ufeff{}", ErrSyntax},
		{"NaN", "NaN", ErrSyntax},
		{"leading zero", "01", ErrSyntax},
		{"raw newline in string", "\"a\nb\"", ErrSyntax},
		{"duplicate names", `{"a":1,"a":2}`, nil},
		{"invalid UTF-8", "\"\xff\"", ErrSyntax},
		{"encoded surrogate", "\"\xed\xa0\x80\"", ErrSyntax},
		{"lone surrogate escapes", `["\ud83d","\uDC00",{"\ud800":"\ud800\u0041"}]`, nil},
		{"lone surrogate, bad grammar", `["\ud83d",]`, ErrSyntax},
		{"lone surrogate, invalid UTF-8", "[\"\\ud83d\xff\"]", ErrSyntax},
		{"deepest", nested("[", "", "]", MaxDepth), nil},
		{"deepest objects", nested(`{"a":`, "1", "}", MaxDepth), nil},
		{"too deep", nested("[", "", "]", MaxDepth+1), ErrDepth},
		{"too deep, mixed", nested(`[{"]":`, "1", "}]", MaxDepth/2+1), ErrDepth},
		{"far too deep", nested("[", "", "]", 100_000), ErrDepth},
		{"wide, not deep", "[" + strings.Repeat("[],", 5000) + "0]", nil},
		{"brackets in strings", `["` + strings.Repeat(`[{\"`, 5000) + `"]`, nil},
		{"surrogate and too deep", nested("[", `"\ud83d"`, "]", MaxDepth+1), ErrDepth},
	} {
		if got := Check([]byte(c.text)); !errors.Is(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAbsent(t *testing.T) {
	var n Node
	if n.Exists() || n.Kind() != None || n.Text() != nil || n.Offset() != 0 || n.Len() != 0 || n.IsInt() {
		t.Error("the zero node is not absent")
	}
	if n.Get("a") != (Node{}) || n.Path("a", "b") != (Node{}) {
		t.Error("the zero node has members")
	}
	for range n.Members() {
		t.Error("the zero node yields members")
	}
	for range n.Elements() {
		t.Error("the zero node yields elements")
	}
	if s, ok := n.Str(); s != "" || ok {
		t.Error("Str")
	}
	if s, ok := n.StrBytes(); s != nil || ok {
		t.Error("StrBytes")
	}
	if _, ok := n.Int(); ok {
		t.Error("Int")
	}
	if _, ok := n.Float(); ok {
		t.Error("Float")
	}
	if _, ok := n.Bool(); ok {
		t.Error("Bool")
	}
	if _, ok := n.Repeated(); ok {
		t.Error("Repeated")
	}
	if _, ok := n.AnyRepeated(); ok {
		t.Error("AnyRepeated")
	}
	if (&Tree{}).Root() != (Node{}) {
		t.Error("an empty tree has a root")
	}
}

func TestNode(t *testing.T) {
	text := ` {"s":"a\tb","n":-1.5,"t":true,"f":false,"z":null,"a":[1,[2],{"b":3}],"o":{"p":{"q":"deep"}},"s":"again","e":{},"l":[]} `
	root := parse(t, text)
	if got := string(root.Text()); got != strings.TrimSpace(text) || root.Offset() != 1 {
		t.Errorf("root is %q at %d", got, root.Offset())
	}
	var names, values []string
	for name, value := range root.Members() {
		names = append(names, name.String())
		values = append(values, string(value.Text()))
		if at := value.Offset(); text[at:at+len(value.Text())] != string(value.Text()) {
			t.Errorf("%s: offset %d is wrong", name.String(), at)
		}
	}
	if got := strings.Join(names, ""); got != "sntfzaosel" || root.Len() != 10 {
		t.Errorf("members %q, Len %d", got, root.Len())
	}
	if got := strings.Join(values, " "); got != `"a\tb" -1.5 true false null [1,[2],{"b":3}] {"p":{"q":"deep"}} "again" {} []` {
		t.Errorf("values %s", got)
	}
	for name, want := range map[string]Kind{"s": String, "n": Number, "t": True, "f": False, "z": Null, "a": Array, "o": Object, "x": None} {
		if got := root.Get(name).Kind(); got != want {
			t.Errorf("%s is of kind %q, want %q", name, got, want)
		}
	}
	if s, ok := root.Get("s").Str(); s != "again" || !ok {
		t.Errorf("Get gives %q, not the last of two", s)
	}
	if s, _ := root.Path("o", "p", "q").Str(); s != "deep" {
		t.Errorf("Path gives %q", s)
	}
	if root.Path() != root || root.Path("a", "b").Exists() || root.Path("o", "x", "q").Exists() {
		t.Error("Path finds what is not there")
	}
	var elements []string
	for e := range root.Get("a").Elements() {
		elements = append(elements, string(e.Text()))
	}
	if got := strings.Join(elements, " "); got != `1 [2] {"b":3}` || root.Get("a").Len() != 3 {
		t.Errorf("elements %s, Len %d", got, root.Get("a").Len())
	}
	if root.Get("e").Len() != 0 || root.Get("l").Len() != 0 || root.Get("s").Len() != 0 {
		t.Error("Len of what is empty")
	}
	for range root.Elements() {
		t.Error("an object yields elements")
	}
	for range root.Get("a").Members() {
		t.Error("an array yields members")
	}
	for range root.Members() { // stopping early must not panic
		break
	}
	for range root.Get("a").Elements() {
		break
	}
	if v, ok := root.Get("t").Bool(); !v || !ok {
		t.Error("true")
	}
	if v, ok := root.Get("f").Bool(); v || !ok {
		t.Error("false")
	}
	if v, ok := root.Get("z").Bool(); v || ok || !root.Get("z").Exists() {
		t.Error("null")
	}
}

func TestStrings(t *testing.T) {
	for _, text := range []string{
		`""`, `"plain"`, `"漢字 😀"`, `"a\"b\\c\/d\b\f\n\r\t"`, `"\u0041\u00e9\u6f22\ud83d\ude00"`, `"\ud83d"`, `"\ude00x"`, `"\ud83d\ud83d\ude00"`,
		`"\uD83D\uDE00\uD83D"`, `"` + strings.Repeat("x", 100) + `\n` + strings.Repeat("y", 100) + `"`, `"\\"`, `"\\\""`, `"` + strings.Repeat(`\\`, 99) + `"`,
		`"` + strings.Repeat("a", 31) + `\""`, `"` + strings.Repeat("a", 32) + `\""`, `"` + strings.Repeat("a", 33) + `\\"`,
	} {
		var want string
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		n := parse(t, text)
		if got, ok := n.Str(); got != want || !ok {
			t.Errorf("Str of %s gives %q, want %q", text, got, want)
		}
		if got, ok := n.StrBytes(); string(got) != want || !ok {
			t.Errorf("StrBytes of %s gives %q, want %q", text, got, want)
		}
		o := parse(t, "{"+text+":1}")
		for name := range o.Members() {
			if !name.Is(want) || name.Is(want+"x") || want != "" && name.Is("") || name.String() != want || string(name.Bytes()) != want || !name.Equal(name) {
				t.Errorf("the name %s is not %q", text, want)
			}
		}
		if !o.Get(want).Exists() || o.Get(want+"x").Exists() {
			t.Errorf("Get does not find %s", text)
		}
	}
	if n := parse(t, `5`); func() bool { _, ok := n.Str(); return ok }() {
		t.Error("a number is a string")
	}
}

// Slices of a tree must not let their holder write on what follows.
func TestViewsHaveNoRoom(t *testing.T) {
	root := parse(t, `{"a":"b","c":[1]}`)
	s, _ := root.Get("a").StrBytes()
	for _, view := range [][]byte{s, root.Get("a").Text(), root.Text(), root.Get("c").Text()} {
		if cap(view) != len(view) {
			t.Errorf("%s has room for %d more bytes", view, cap(view)-len(view))
		}
	}
}

func TestNumbers(t *testing.T) {
	long := strings.Repeat("9", 400)
	for _, c := range []struct {
		text  string
		value int64
		isInt bool // by value
		fits  bool
	}{
		{"0", 0, true, true}, {"-0", 0, true, true}, {"7", 7, true, true}, {"-12", -12, true, true}, {"1.0", 1, true, true},
		{"1e3", 1000, true, true}, {"1E+3", 1000, true, true}, {"1200e-2", 12, true, true}, {"1.5e1", 15, true, true}, {"0.0", 0, true, true},
		{"0e999999999999", 0, true, true}, {"0.000e-99999999999", 0, true, true}, {"-1.50e2", -150, true, true}, {"100e-2", 1, true, true},
		{"9223372036854775807", 9223372036854775807, true, true}, {"9223372036854775808", 0, true, false},
		{"-9223372036854775808", -9223372036854775808, true, true}, {"-9223372036854775809", 0, true, false},
		{"9223372036854775807.000", 9223372036854775807, true, true}, {"9007199254740993.0", 9007199254740993, true, true},
		{"922337203685477580.7e1", 9223372036854775807, true, true}, {"18446744073709551616", 0, true, false}, {"99999999999999999999", 0, true, false},
		{"1e18", 1e18, true, true}, {"1e19", 0, true, false}, {"1e400", 0, true, false}, {long, 0, true, false}, {"1e99999999999999999999", 0, true, false},
		{"1.5", 0, false, false}, {"1e-1", 0, false, false}, {"0.1", 0, false, false}, {"15e-1", 0, false, false}, {"1e-99999999999", 0, false, false},
		{"123456789.0000001", 0, false, false}, {long + ".5", 0, false, false}, {"1.0e-1", 0, false, false}, {"0.00012e4", 0, false, false}, {"0.00012e5", 12, true, true},
	} {
		n := parse(t, c.text)
		if got, ok := n.Int(); got != c.value || ok != c.fits {
			t.Errorf("%.40s: Int gives %d, %v, want %d, %v", c.text, got, ok, c.value, c.fits)
		}
		if got := n.IsInt(); got != c.isInt {
			t.Errorf("%.40s: IsInt gives %v", c.text, got)
		}
	}
	if v, ok := parse(t, "-2.5e1").Float(); v != -25 || !ok {
		t.Error("Float of -2.5e1")
	}
	if v, ok := parse(t, "1e400").Float(); ok || v != 0 {
		t.Error("1e400 has a Float")
	}
	for _, text := range []string{`"1"`, `null`, `[1]`, `{}`, `true`} {
		n := parse(t, text)
		_, isInt := n.Int()
		if _, isFloat := n.Float(); isInt || isFloat || n.IsInt() {
			t.Errorf("%s is a number", text)
		}
	}
}

func TestRepeated(t *testing.T) {
	many := func(n int, extra string) string {
		var b strings.Builder
		b.WriteByte('{')
		for i := range n {
			b.WriteString(`"n` + strings.Repeat("0", i%7) + string(rune('a'+i%26)) + strings.Repeat("z", i/26) + `":{"n":0},`)
		}
		return b.String() + extra + "}"
	}
	for _, c := range []struct{ text, own, any string }{
		{`{}`, "", ""},
		{`5`, "", ""},
		{`{"a":1,"b":2}`, "", ""},
		{`{"a":1,"b":2,"a":3}`, "a", "a"},
		{`{"":1,"b":2,"":3}`, "-", "-"}, // see below: "" is a name
		{`{"a":1,"\u0061":2}`, "a", "a"},
		{`{"\u0061":1,"a":2}`, "a", "a"},
		{`{"\u0061":1,"\u0062":2}`, "", ""},
		{`{"a\n":1,"b":2,"a\u000a":3}`, "a\n", "a\n"},
		{`{"a":{"b":1,"b":2}}`, "", "b"},
		{`[{"a":1},{"a":1},[{"c":1,"c":{}}]]`, "", "c"},
		{`{"ab":1,"ba":2,"aab":3,"abb":4,"acb":5,"adb":6}`, "", ""}, // same length and ends
		{`{"acb":1,"adb":2,"acb":3}`, "acb", "acb"},
		{`{"x":{"y":1},"z":{"y":1}}`, "", ""},
		{many(31, `"n":1`), "", ""},
		{many(500, `"last":1`), "", ""},
		{many(500, `"x":1,"nb0":2,"x":3`), "x", "x"},
		{many(40, `"x":{"q":1,"q":2}`), "", "q"},
		{many(40, `"\u0078":1,"y":1,"x":2`), "x", "x"},
	} {
		n := parse(t, c.text)
		own, ok := n.Repeated()
		if want := c.own != ""; ok != want || want && c.own != "-" && own != c.own {
			t.Errorf("%.60s: Repeated gives %q, %v", c.text, own, ok)
		}
		got, ok := n.AnyRepeated()
		if want := c.any != ""; ok != want || want && c.any != "-" && got != c.any {
			t.Errorf("%.60s: AnyRepeated gives %q, %v", c.text, got, ok)
		}
	}
	if _, ok := parse(t, `{"a":[{"x":1,"x":1}],"b":{"c":1}}`).Get("b").AnyRepeated(); ok {
		t.Error("AnyRepeated looks beside its node")
	}
}

func TestReuse(t *testing.T) {
	var tree Tree
	if err := tree.Parse([]byte(`{"a":[1,2,3]}`)); err != nil {
		t.Fatal(err)
	}
	if err := tree.Parse([]byte(`{`)); !errors.Is(err, ErrSyntax) || tree.Root().Exists() {
		t.Errorf("after a refused text: %v, root %v", err, tree.Root().Exists())
	}
	if err := tree.Parse([]byte(`"x"`)); err != nil || string(tree.Root().Text()) != `"x"` {
		t.Errorf("after a refused text: %v", err)
	}
	tree.Reset()
	if tree.Root().Exists() {
		t.Error("Reset leaves a root")
	}
	text := []byte(`{"jsonrpc":"2.0","id":1,"params":{"a":[{"b":"c"}],"d":1.5}}`)
	if n := testing.AllocsPerRun(100, func() {
		if tree.Index(text) != nil {
			t.Error("refused")
		}
		tree.Root().AnyRepeated()
		for range tree.Root().Members() {
			tree.Root().Path("params", "d").Int()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What one huge text needed is given back when small ones follow.
func TestMemoryIsReturned(t *testing.T) {
	var tree Tree
	huge := []byte(`{"a":[` + strings.Repeat("1,", 1<<20) + "1]}")
	if err := tree.Parse(huge); err != nil {
		t.Fatal(err)
	}
	if err := tree.Parse([]byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if cap(tree.nodes) > keepNodes {
		t.Errorf("%d nodes are kept", cap(tree.nodes))
	}
}

// hostile are texts that cost much if anything here were not linear. All are of
// about 16 MiB, the largest that is recorded.
func hostile() map[string][]byte {
	const size = 16 << 20
	fill := func(open, unit, close string) []byte {
		return append(append([]byte(open), bytes.Repeat([]byte(unit), (size-len(open)-len(close))/len(unit))...), close...)
	}
	distinct := func(format func(int) string) []byte {
		b := []byte("{")
		for i := 0; len(b) < size; i++ {
			b = append(b, format(i)...)
			b = append(b, `:0,`...)
		}
		return append(b, `"":0}`...)
	}
	return map[string][]byte{
		"plain string":      fill(`"`, "x", `"`),
		"lines":             fill(`"`, strings.Repeat("x", 40)+`\n`, `"`),
		"quotes":            fill(`"`, `\"`, `"`),
		"backslashes":       fill(`"`, `\\`, `"`),
		"unicode escapes":   fill(`"`, `\u00e9`, `"`),
		"lone surrogates":   fill(`"`, `\ud83d`, `"`),
		"numbers":           fill(`[`, "1,", `1]`),
		"empty arrays":      fill(`[`, "[],", `[]]`),
		"one digit string":  fill(`1`, "0", `1`),
		"one long exponent": fill(`1e`, "0", `1`),
		"names":             distinct(func(i int) string { return `"k` + strconv.Itoa(i) + `"` }),
		"escaped names":     distinct(func(i int) string { return `"\u006b` + strconv.Itoa(i) + `"` }),
		"long names":        fill(`{`, `"`+strings.Repeat("n", 1<<19)+`":0,`, `"":0}`),
		"long near-equal names": func() []byte {
			b := []byte("{")
			for i := range 60 {
				b = append(append(append(b, '"'), bytes.Repeat([]byte("n"), 1<<18)...), strconv.Itoa(100+i)...)
				b = append(b, `":0,`...)
			}
			return append(b, `"":0}`...)
		}(),
		"long escaped names": func() []byte {
			b := []byte("{")
			for i := range 30 {
				b = append(append(append(b, `"\n`...), bytes.Repeat([]byte("n"), 1<<19)...), strconv.Itoa(100+i)...)
				b = append(b, `":0,`...)
			}
			return append(b, `"":0}`...)
		}(),
		"small objects": fill(`[`, `{"\n":1},`, `0]`),
	}
}

func TestHostileIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("16 MiB texts")
	}
	for name, text := range hostile() {
		start := time.Now()
		var tree Tree
		if err := tree.Parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		root := tree.Root()
		root.AnyRepeated()
		for range 3 {
			root.Get("jsonrpc")
			root.Get(strings.Repeat("n", 1<<18))
		}
		root.Len()
		root.Int()
		root.IsInt()
		root.Float()
		root.Str()
		Deep(text)
		// Linear work takes about 0.1 to 1 s here, under the race detector too;
		// quadratic work would take hours.
		if d := time.Since(start); d > 30*time.Second {
			t.Errorf("%s: took %v", name, d)
		} else {
			t.Logf("%-22s %v", name, d)
		}
	}
}
