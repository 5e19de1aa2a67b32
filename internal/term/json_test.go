package term

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestJSON: nothing that a terminal would obey passes, the value stays the same, and
// it does not matter where the pieces end.
func TestJSON(t *testing.T) {
	const text = "{\"a\x7f\u009b31m\u202e\U000e0041\u200b\ufeff\u2028é漢🙂\":\t[\"\\u001b[2J\", 1e400,\r\n null]}\n"
	const want = `{"a\u007f\u009b31m\u202e\udb40\udc41\u200b\ufeff\u2028é漢🙂": ["\u001b[2J", 1e400, ` + "\n null]}\n"
	for split := range len(text) {
		var out bytes.Buffer
		w := JSON(&out)
		for _, piece := range []string{text[:split], text[split:]} {
			if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		if out.String() != want {
			t.Fatalf("split at %d: %q", split, out.String())
		}
	}
	var before, after any
	for value, text := range map[*any]string{&before: text, &after: want} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(value); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("%v became %v", before, after)
	}
}
