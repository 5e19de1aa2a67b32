package index

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
)

// dropped are the fields of a header that are only in the log. A field that is new
// belongs here or into the codec.
var dropped = strings.Fields(`
	Start.Tool Start.Command Start.Cwd Start.ServerPID Start.Listen Start.Target Start.Client.Ancestors
	Client.Capabilities Server.Capabilities Instructions`)

// filled sets every field below v to something else than zero, but for those dropped.
func filled(t *testing.T, v reflect.Value, path string, n *int) {
	t.Helper()
	for _, d := range dropped {
		if d == path {
			return
		}
	}
	*n++
	if at, ok := v.Addr().Interface().(*time.Time); ok {
		*at = time.Unix(int64(1e9+*n), int64(*n)).UTC()
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			filled(t, v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(t, v.Elem(), path, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			filled(t, v.Index(i), path, n)
		}
	case reflect.Array:
		for i := range v.Len() {
			filled(t, v.Index(i), path, n)
		}
	case reflect.String:
		v.SetString(strings.Repeat("é", *n%50) + path)
	case reflect.Uint8: // enums have few values
		v.SetUint(1 + uint64(*n)%2)
	case reflect.Uint64:
		v.SetUint(1<<63 + uint64(*n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n) * 1e9 * int64(1-2*(*n%2)))
	default:
		t.Fatalf("%s is a %s: teach the test, and the codec", path, v.Type())
	}
}

func TestEveryFieldIsKept(t *testing.T) {
	n := 0
	var h session.Header
	filled(t, reflect.ValueOf(&h).Elem(), "", &n)
	stamp := statedir.Stamp{}
	filled(t, reflect.ValueOf(&stamp).Elem(), "", &n)
	want := record{
		parts: []part{{"sessions/a", stamp}, {"sessions/b", statedir.Stamp{}}}, idle: true, none: "none",
		findings: []int{7, 0, 0}, sessions: []session.Header{h, {}, h},
	}
	got := want
	if !got.write() {
		t.Fatal("what was written cannot be read")
	}
	got.raw = ""
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(record{}, part{})); diff != "" {
		t.Error(diff)
	}
}

// A header that cannot be written so that it is read again is no reason to fail.
func TestTimesThatAreNone(t *testing.T) {
	for _, at := range []time.Time{time.Unix(1<<40, 0), time.Unix(-1<<40, 0)} {
		r := record{parts: []part{{path: "p"}}, sessions: []session.Header{{ID: "a", First: session.Instant{Wall: at}}}}
		if r.write() || len(r.sessions) != 1 || r.sessions[0].ID != "a" {
			t.Errorf("%v: %+v", at, r.sessions)
		}
		if text := string(encode("b", "d", []*record{&r, nil})); len(decode(text, "b", "d")) != 0 || decode(text, "b", "d") == nil {
			t.Errorf("%v is in %q", at, text)
		}
	}
}

func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, s := rapid.Int64().Draw(t, "a"), rapid.Uint64().Draw(t, "b"), rapid.String().Draw(t, "s")
		c := codec{writing: true}
		number(&c, &a)
		c.unsigned(&b)
		c.text(&s)
		r := codec{in: string(c.out)}
		var a2 int64
		var b2 uint64
		var s2 string
		number(&r, &a2)
		r.unsigned(&b2)
		r.text(&s2)
		if a2 != a || b2 != b || s2 != s || r.in != "" || r.bad {
			t.Fatalf("%d %d %q were read as %d %d %q", a, b, s, a2, b2, s2)
		}
		for cut := range len(c.out) {
			r := codec{in: string(c.out[:cut])}
			number(&r, &a2)
			r.unsigned(&b2)
			if r.text(&s2); !r.bad {
				t.Fatalf("%d of %d bytes are enough", cut, len(c.out))
			}
		}
	})
}

// FuzzRecord: whatever a record says, reading it ends, and takes no more memory than
// what it says justifies.
func FuzzRecord(f *testing.F) {
	r := record{
		parts: []part{{path: "sessions/a"}}, findings: []int{1},
		sessions: []session.Header{{ID: "a", Number: 1, Traces: []session.Trace{{Calls: 1}}}},
	}
	r.write()
	f.Add(r.raw)
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xff\x7f")
	f.Add(strings.Repeat("\xff", 10))
	f.Fuzz(func(t *testing.T, raw string) {
		r := readRecord(raw)
		if r == nil || !r.complete() {
			return
		}
		for i := range r.sessions { // what faces do with it
			h := &r.sessions[i]
			_, _, _ = h.Transport.String(), h.Revision.String(), h.First.Wall.Format(time.RFC3339Nano)
		}
		again := *r
		again.raw, again.rest = "", ""
		if !again.write() {
			t.Error("what was read cannot be written")
		}
	})
}
