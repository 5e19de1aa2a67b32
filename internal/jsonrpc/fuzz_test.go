package jsonrpc

import (
	"bytes"
	"encoding/json"
	"testing"

	"mcpsnoop/internal/jsontree"
)

// FuzzParse compares with what encoding/json makes of the same members.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `[1]`, `5`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":null}`,
		`{"jsonrpc":"2.0","id":"\u0031","error":{"code":1,"message":"x"}}`, `{"method":null,"id":1.5,"error":"x","error":null}`,
		`[{"jsonrpc":"2.0","method":"a","params":[]},{"id":{},"params":5}]`, `{"jsonrpc":"2\u002e0","m\u0065thod":"x","id":null}`,
	} {
		f.Add([]byte(s))
	}
	var p Parser // reused: nothing of one text may show in the next
	f.Fuzz(func(t *testing.T, text []byte) {
		if jsontree.Check(text) != nil {
			return
		}
		messages := p.Parse(text)
		elements, batch := []json.RawMessage{text}, bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("["))
		if batch {
			elements = nil // Unmarshal would write over text
			if err := json.Unmarshal(text, &elements); err != nil {
				t.Fatal(err)
			}
		}
		if batch && len(elements) == 0 {
			if len(messages) != 1 || messages[0].Defects != EmptyBatch || messages[0].Kind != Invalid {
				t.Errorf("empty batch: %+v", messages)
			}
			return
		}
		if len(elements) > MaxBatch {
			return
		}
		if len(messages) != len(elements) {
			t.Fatalf("%d messages, want %d", len(messages), len(elements))
		}
		for i := range messages {
			compare(t, &messages[i], elements[i], batch, i)
		}
	})
}

func compare(t *testing.T, m *Message, text []byte, batch bool, i int) {
	want := map[string]json.RawMessage{}
	isObject := json.Unmarshal(text, &want) == nil && bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
	if m.Defects.Has(NotObject) == isObject || m.Defects.Has(InBatch) != batch || batch && m.Element != i {
		t.Errorf("%s: defects %s, element %d", text, names(m.Defects), m.Element)
	}
	if !isObject {
		return
	}
	for name, got := range map[string][]byte{"id": m.ID, "params": m.Params.Text(), "result": m.Result.Text(), "error": m.Error.Text()} {
		if !bytes.Equal(got, want[name]) {
			t.Errorf("%s: %s is %q, want %q", text, name, got, want[name])
		}
	}
	var method *string
	if raw, ok := want["method"]; ok && json.Unmarshal(raw, &method) != nil {
		method = nil
	}
	if method != nil && m.Method != *method || method == nil && m.Method != "" {
		t.Errorf("%s: method %q", text, m.Method)
	}
	if (m.Kind == Request || m.Kind == Notification) != (method != nil) || m.Kind == Request && m.ID == nil || m.Kind == Notification && m.ID != nil {
		t.Errorf("%s is a %v", text, m.Kind)
	}
	if m.Kind == Response && !m.Result.Exists() && !says(m.Error) || m.Result.Exists() && method == nil && m.Kind != Response {
		t.Errorf("%s is a %v", text, m.Kind)
	}
}

// FuzzIDKey: two strings have one key if, and only if, they are the same text.
func FuzzIDKey(f *testing.F) {
	f.Add([]byte(`"1"`), []byte(`"\u0031"`))
	f.Add([]byte(`"\ud83d\ude00"`), []byte(`"😀"`))
	f.Add([]byte(`"\ud83d"`), []byte(`"\ufffd"`))
	f.Add([]byte(`1`), []byte(`1.0`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
		if jsontree.Check(a) != nil || jsontree.Check(b) != nil {
			return
		}
		if key := IDKey(a); jsontree.Check(key) != nil || !bytes.Equal(IDKey(key), key) || key[0] != a[0] {
			t.Errorf("key of %s: %s", a, key)
		}
		same := bytes.Equal(a, b)
		if a[0] == '"' && b[0] == '"' {
			var x, y string
			if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
				t.Fatal("no strings")
			}
			if bytes.Contains([]byte(x+y), []byte("\ufffd")) {
				return // encoding/json cannot tell what it was
			}
			same = x == y
		}
		if bytes.Equal(IDKey(a), IDKey(b)) != same {
			t.Errorf("%s and %s: equal is not %v", a, b, same)
		}
	})
}
