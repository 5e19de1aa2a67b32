package jsonrpc

import (
	"strings"
	"testing"

	"mcpsnoop/internal/jsontree"
)

var benchTexts = []struct {
	name string
	text []byte
}{
	{"request250", []byte(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"list_directory","arguments":{"path":"/home/me/src","depth":2,"hidden":false},"_meta":{"progressToken":8,"io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"00-70289e6fadb5"}}}`)},
	{"ping", []byte(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)},
	{"result4K", []byte(`{"jsonrpc":"2.0","id":8,"result":{"content":[{"type":"text","text":"` + strings.Repeat(`a line of text\n`, 256) + `"}]}}`)},
	{"error", []byte(`{"jsonrpc":"2.0","id":"a-b-c","error":{"code":-32602,"message":"Unknown tool: x"}}`)},
}

// BenchmarkParse is all that a message costs once Check has passed it; BenchmarkIndex
// is the part of jsontree in it.
func BenchmarkParse(b *testing.B) {
	for _, c := range benchTexts {
		b.Run(c.name, func(b *testing.B) {
			var p Parser
			b.ReportAllocs()
			for b.Loop() {
				p.Parse(c.text)
			}
		})
	}
}

func BenchmarkIndex(b *testing.B) {
	for _, c := range benchTexts {
		b.Run(c.name, func(b *testing.B) {
			var t jsontree.Tree
			for b.Loop() {
				t.Index(c.text)
			}
		})
	}
}
