package jsontree

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestScanner(t *testing.T) {
	var s Scanner
	s.Reset([]byte(" { \"a\" : 1 ,\"b\\n\":\"x\\ty\", \"c\":{\"c\":[1,{}]},\"ü\":\"ß\",\"e\":-1.5e3,\"f\":null,\"g\":true, \"a\":\"\\ud83d!\" , \"h\":[] } \r"))
	var got []string
	for s.Next() {
		row := string(s.Name()) + "=" + string(s.Text()) + " " + string(s.Kind())
		if s.Kind() == String {
			row += " " + string(s.StrBytes())
			if again := s.AppendStr([]byte("+")); string(again[1:]) != string(s.StrBytes()) {
				t.Errorf("AppendStr gives %q, StrBytes %q", again, s.StrBytes())
			}
		}
		got = append(got, row)
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	want := []string{`a=1 0`, "b\n=\"x\\ty\" \" x\ty", `c={"c":[1,{}]} {`, `ü="ß" " ß`, `e=-1.5e3 0`, `f=null n`, `g=true t`, `a="\ud83d!" " ` + "\uFFFD!", `h=[] [`}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func TestScannerAllocatesNothing(t *testing.T) {
	line := []byte(`{"session_id":"a","seq":12,"raw":{"jsonrpc":"2.0","id":1,"params":{"a":["ü\n"]}},"text":"\n"}`)
	var s Scanner
	var dst []byte
	if n := testing.AllocsPerRun(100, func() {
		s.Reset(line)
		for s.Next() {
			if s.Kind() == String {
				dst = s.AppendStr(dst[:0])
			}
		}
	}); n != 0 || s.Err() != nil {
		t.Errorf("%v allocations, error %v", n, s.Err())
	}
}

// objectCheck is what Scanner must agree with: Check, without the limit of depth.
func objectCheck(text []byte) bool {
	return (jsontext.Value(text).IsValid(allowDuplicates) || Check(text) == nil) &&
		bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
}

func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `{`, `{}`, `{} x`, `[]`, `null`, `{"a":1}`, `{"a":1,}`, `{,"a":1}`, `{"a" 1}`, `{"a":}`, `{"a":01}`, `{"a":0}`, `{"a":-}`,
		`{"a":1.}`, `{"a":1e}`, `{"a":12x}`, `{"a":tru}`, `{"a":truex}`, `{"a":"\ud800"}`, `{"\ud800":"\udc00\ud800"}`, "{\"a\":\"\xff\"}", "{\"\xff\":1}",
		"{\"a\":\"\n\"}", "{\"a\x00\":1}", `{"a":{"b":[1,2,{"c":"}]"}]}}`, `{"a":[}`, `{"a":"x`, `{"a":1`, `{"a"`, `{"a":1 "b":2}`, `{"a":1,"a":2}`, "\ufeff{}",
		`{"a":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `}`, `{"a":"é","b":"` + "\u2028" + `"}`, `{"a":1:2}`, `{"a":,1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s Scanner
		s.Reset(text)
		members := 0
		for s.Next() {
			members++
			if err := Check(s.Text()); err != nil && err != ErrDepth {
				t.Errorf("value %q of %q: %v", s.Text(), text, err)
			}
			if Deep(s.Text()) != (Check(s.Text()) == ErrDepth) {
				t.Errorf("Deep of %q disagrees with Check", s.Text())
			}
		}
		if ok := s.Err() == nil; ok != objectCheck(text) {
			t.Fatalf("scanning %q: %v, but checking it says %v", text, s.Err(), objectCheck(text))
		} else if ok {
			if !json.Valid(text) {
				t.Errorf("%q is accepted, encoding/json refuses it", text)
			}
			var tree Tree
			if err := tree.Index(text); err != nil || tree.Root().Len() != members {
				t.Errorf("%q: %d members scanned, %d indexed", text, members, tree.Root().Len())
			}
		}
	})
}

func BenchmarkScanner(b *testing.B) {
	line := []byte(`{"session_id":"files-4711-0c1d2e3f4a5b","server_label":"files","seq":20,"ts":"2026-11-30T19:42:03.810375Z","direction":"c2s","transport":"stdio","raw":{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"look_up","arguments":{"text":"` + strings.Repeat(`caf\u00e9 \/ 3 < 4 & 5, Ωμέγα, 東京 🚲 \t \"so\" \\ and on`, 3) + `"}}}}`)
	var s Scanner
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		s.Reset(line)
		for s.Next() {
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(line)), "ns/B")
}
