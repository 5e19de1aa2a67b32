package jsontree

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

var seeds = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-1.5e+3`, `""`, ` { "a" : [ 1 , "b" , { } ] } `, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`,
	`"\ud83d\ude00"`, `"\ud83d"`, `{"\udc00":"\udc00"}`, `"\\\"\/\b\f\n\r\t"`, `[[[[]]]]`, `[1e400,0.1,100e-2,9007199254740993.0]`,
	"\"\xff\"", `{"a":`, `{"a":1,}`, `01`, `{"":{"":[]},"":""}`, `"` + strings.Repeat("x", 40) + `\n` + strings.Repeat("y", 40) + `"`,
	`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"list","arguments":{"text":"caf\u00e9 \/ 3 < 4 & 5, Ωμέγα, 東京 🚲 \t \"so\" \\ and on"}}}`,
	"\ufeff{}", `{} {}`, `[{"x":1,"y":{"x":1,"x":2}}]`, `"a` + "\u2028" + `"`,
}

// FuzzCheck: what Check accepts is what encoding/json accepts, valid UTF-8 and our
// depth apart.
func FuzzCheck(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := Check(text)
		if valid := json.Valid(text) && utf8.Valid(text); (got == nil) != (valid && depth(text) <= MaxDepth) {
			t.Errorf("Check says %v, encoding/json %v, depth %d", got, valid, depth(text))
		}
	})
}

// FuzzTree walks every accepted text with jsontext's decoder and a Tree at once.
func FuzzTree(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	var tree Tree // reused: no text may leave anything behind
	f.Fuzz(func(t *testing.T, text []byte) {
		if tree.Parse(text) != nil {
			if tree.Root().Exists() {
				t.Error("a refused text leaves a root")
			}
			return
		}
		w := walker{t, text, jsontext.NewDecoder(bytes.NewBuffer(bytes.Clone(text)), allowDuplicates, allowSurrogates)}
		w.value(tree.Root())
		wantName, want := repeatedAnywhere(tree.Root())
		if name, ok := tree.Root().AnyRepeated(); ok != want || name != wantName {
			t.Errorf("AnyRepeated gives %q, %v, want %q, %v", name, ok, wantName, want)
		}
	})
}

type walker struct {
	t    *testing.T
	text []byte
	dec  *jsontext.Decoder
}

// value compares n with the decoder's next value.
func (w *walker) value(n Node) {
	t, kind := w.t, w.dec.PeekKind()
	switch kind {
	case '{', '[':
		w.token()
		start := int(w.dec.InputOffset()) - 1
		if kind == '{' {
			w.members(n)
		} else {
			count := 0
			for e := range n.Elements() {
				w.value(e)
				count++
			}
			if count != n.Len() {
				t.Errorf("%d elements, Len %d", count, n.Len())
			}
		}
		if end := w.token(); end.Kind() != kind+2 {
			t.Fatalf("%s has too few members: %v", n.Text(), end)
		}
		if n.Kind() != Kind(kind) || n.Offset() != start || !bytes.Equal(n.Text(), w.text[start:w.dec.InputOffset()]) {
			t.Fatalf("%q at %d, want %q at %d", n.Text(), n.Offset(), w.text[start:w.dec.InputOffset()], start)
		}
		return
	}
	want, err := w.dec.ReadValue()
	if err != nil {
		t.Fatal(err)
	}
	if start := int(w.dec.InputOffset()) - len(want); n.Offset() != start || !bytes.Equal(n.Text(), want) || byte(n.Kind()) != byte(kind) {
		t.Fatalf("%q at %d, want %q at %d", n.Text(), n.Offset(), want, start)
	}
	w.scalar(n)
}

func (w *walker) members(n Node) {
	t := w.t
	last := map[string]Node{}
	count := 0
	for name, value := range n.Members() {
		w.sameString(w.token().String(), name.String(), string(name.Bytes()))
		w.value(value)
		if !name.Is(name.String()) || name.Is(name.String()+"\x00") {
			t.Errorf("%q is not itself", name.String())
		}
		last[name.String()] = value
		count++
	}
	if n.Len() != count {
		t.Errorf("%d members, Len %d", count, n.Len())
	}
	if _, ok := n.Repeated(); ok != (len(last) < count) {
		t.Errorf("%s: Repeated gives %v", n.Text(), ok)
	}
	for name, value := range last {
		if n.Get(name) != value {
			t.Errorf("Get(%q) does not give the last", name)
		}
	}
}

func (w *walker) scalar(n Node) {
	t := w.t
	switch n.Kind() {
	case String:
		var want string
		if err := json.Unmarshal(n.Text(), &want); err != nil {
			t.Fatal(err)
		}
		s, _ := n.Str()
		b, _ := n.StrBytes()
		w.sameString(want, s, string(b))
	case Number:
		value, isInt := n.Int()
		if len(n.Text()) > 100 || bytes.ContainsAny(n.Text(), "eE") && len(n.Text()) > 8 {
			return // beyond what the oracle should be asked
		}
		want, ok := new(big.Rat).SetString(string(n.Text()))
		if !ok {
			t.Fatalf("big.Rat refuses %s", n.Text())
		}
		if n.IsInt() != want.IsInt() || isInt != (want.IsInt() && want.Num().IsInt64()) || isInt && value != want.Num().Int64() {
			t.Errorf("%s: Int gives %d, %v, IsInt %v", n.Text(), value, isInt, n.IsInt())
		}
	}
}

func (w *walker) sameString(want string, got ...string) {
	for _, g := range got {
		if g != want {
			w.t.Errorf("unescaped to %q, want %q", g, want)
		}
	}
}

func (w *walker) token() jsontext.Token {
	token, err := w.dec.ReadToken()
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

// repeatedAnywhere is AnyRepeated as one would write it without care for speed.
func repeatedAnywhere(n Node) (string, bool) {
	seen := map[string]bool{}
	for name := range n.Members() {
		if seen[name.String()] {
			return name.String(), true
		}
		seen[name.String()] = true
	}
	for _, v := range n.Members() {
		if name, ok := repeatedAnywhere(v); ok {
			return name, true
		}
	}
	for v := range n.Elements() {
		if name, ok := repeatedAnywhere(v); ok {
			return name, true
		}
	}
	return "", false
}
