package jsontree

import (
	"strings"
	"testing"
)

// line is a log line as we write it, request a message as peers write it.
const (
	request = `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"look_up","arguments":{"path":"/home/me/src","depth":2,"hidden":false},"_meta":{"progressToken":8,"io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"00-70289e6fadb5"}}}`
	line    = `{"session_id":"files-4711-0c1d2e3f4a5b","server_label":"files","seq":20,"ts":"2026-11-30T19:42:03.810375Z","direction":"c2s","transport":"stdio","raw":` +
		`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"look_up","arguments":{"text":"caf\u00e9 \/ 3 < 4 & 5, Ωμέγα, 東京 🚲 \t \"so\" \\ and on caf\u00e9 \/ 3 < 4 & 5, Ωμέγα, 東京 🚲 \t \"so\" \\ and on caf\u00e9 \/ 3 < 4 & 5, Ωμέγα, 東京 🚲 \t \"so\" \\ and on caf\u00e9 \/ 3 < 4 & 5, Ωμέγα, 東京 🚲 \t \"so\" \\ and on "}}}}`
)

var benchTexts = []struct {
	name string
	text []byte
}{
	{"request250", []byte(request)},
	{"line450", []byte(line)},
	{"tools40K", []byte(`{"jsonrpc":"2.0","id":2,"result":{"tools":[` + strings.Repeat(`{"name":"search_nodes","description":"Search for nodes in the graph by a query","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What to match"},"limit":{"type":"integer"}},"required":["query"],"additionalProperties":false}},`, 150) + `{}]}}`)},
	{"text1M", []byte(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"` + strings.Repeat(`\tfor i := range lines { emit(\"line\", i) } // as long as a line of code is\n`, 1<<20/76) + `"}]}}`)},
}

func bench(b *testing.B, f func(t *Tree, text []byte)) {
	for _, c := range benchTexts {
		b.Run(c.name, func(b *testing.B) {
			var t Tree
			if err := t.Parse(c.text); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				f(&t, c.text)
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) { bench(b, func(_ *Tree, text []byte) { Check(text) }) }
func BenchmarkIndex(b *testing.B) { bench(b, func(t *Tree, text []byte) { t.Index(text) }) }

// BenchmarkAnyRepeated is what looking for duplicate names adds to Index.
func BenchmarkAnyRepeated(b *testing.B) {
	bench(b, func(t *Tree, text []byte) { t.Root().AnyRepeated() })
}

func BenchmarkGet(b *testing.B) {
	bench(b, func(t *Tree, text []byte) { t.Root().Path("params", "_meta", "progressToken") })
}
