package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func indented(pieces ...string) string {
	var out bytes.Buffer
	n := indenter{w: bufio.NewWriter(&out)}
	for _, p := range pieces {
		n.write([]byte(p))
	}
	n.w.Flush()
	return out.String()
}

func TestIndent(t *testing.T) {
	const text = `{"a":[1,{"b":"x\"]\\","c":{}},[]], "d" : null,"e":"","f":[true ]}`
	var want bytes.Buffer
	if err := json.Indent(&want, []byte(text), "", "  "); err != nil {
		t.Fatal(err)
	}
	if got := indented(text); got != want.String() {
		t.Errorf("got:\n%s\nwant:\n%s", got, want.String())
	}
	var pieces []string
	for i := range text {
		pieces = append(pieces, text[i:i+1])
	}
	if got := indented(pieces...); got != want.String() {
		t.Errorf("byte by byte:\n%s", got)
	}
}

func TestDeepJSONStaysSmall(t *testing.T) {
	text := strings.Repeat("[", 900) + strings.Repeat("0,", 10_000) + "0" + strings.Repeat("]", 900)
	got := indented(text)
	if len(got) > len(text)+maxIndent*maxIndent*4 {
		t.Errorf("%d bytes became %d", len(text), len(got))
	}
	var back bytes.Buffer
	if err := json.Compact(&back, []byte(got)); err != nil || back.String() != text {
		t.Errorf("not the same JSON: %v", err)
	}
}

func FuzzIndent(f *testing.F) {
	f.Add(`{"a":[1,2,{"b":"\\\""}]}`, 3)
	f.Add(`[[],{},"",0]`, 1)
	f.Fuzz(func(t *testing.T, text string, at int) {
		var want bytes.Buffer
		if json.Compact(&want, []byte(text)) != nil {
			t.Skip()
		}
		at = max(0, min(at, len(text)))
		var got bytes.Buffer
		if err := json.Compact(&got, []byte(indented(text[:at], text[at:]))); err != nil || got.String() != want.String() {
			t.Errorf("%q became %q: %v", text, got.String(), err)
		}
	})
}
