package capture

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"time"

	"mcpsnoop/internal/jsontree"
)

// sample is a frame whose line is about 450 B long.
func sample() *Frame {
	return &Frame{
		Tap: "files-4711-0c1d2e3f4a5b", Label: "server-0", Seq: 20, Time: time.Date(2026, 1, 1, 0, 0, 0, 99062123, time.UTC), Mono: 99062 * time.Microsecond,
		Dir: C2S, Transport: Stdio, Form: Unjudged, Size: 281,
		Payload: []byte(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"look_up","arguments":{"path":"/home/user/projects/some/where","pattern":"**/*.go","text":"caf\u00e9 \/ 3 < 4 & 5, Ωμέγα, 東京 🚲 \t \"so\" \\ and on caf\u00e9 \/ 3 < 4 & 5, Ωμέγα, 東京 🚲 \t \"so\" \\ and on"},"_meta":{"progressToken":"tok-8"}}}`),
	}
}

func httpSample() *Frame {
	f := sample()
	f.Transport, f.Conn, f.Exchange, f.MCPSession = HTTP, "127.0.0.1:51405", 7, "e1f20a3b4c5d6e7f"
	f.HTTP = &HTTPFacts{Verb: "POST", Path: "/mcp", Request: map[string]string{
		"accept": "application/json, text/event-stream", "content-type": "application/json", "mcp-session-id": "e1f20a3b4c5d6e7f",
		"mcp-method": "tools/call", "mcp-name": "look_up", "mcp-protocol-version": "2026-07-28", "mcp-param-region": "eu", "host": "localhost:3000",
	}}
	return f
}

func BenchmarkAppendFrame(b *testing.B) {
	for name, f := range map[string]*Frame{"stdio": sample(), "http": httpSample()} {
		b.Run(name, func(b *testing.B) {
			line := AppendFrame(nil, f)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				line = AppendFrame(line[:0], f)
			}
		})
	}
	b.Run("check only", func(b *testing.B) {
		payload := sample().Payload
		b.SetBytes(int64(len(AppendFrame(nil, sample()))))
		for b.Loop() {
			if jsontree.Check(payload) != nil {
				b.Fatal()
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for name, f := range map[string]*Frame{"stdio": sample(), "http": httpSample()} {
		line := AppendFrame(nil, f)
		line = line[:len(line)-1]
		b.Run(name, func(b *testing.B) {
			var d Decoder
			var f Frame
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Decode(line, &f); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/json.Valid", func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				json.Valid(line)
			}
		})
	}
}

// BenchmarkReader reads a log of ordinary frames. What matters is the ratio to
// json.Valid over the same lines, which the design's budget for check is made of.
func BenchmarkReader(b *testing.B) {
	for _, http := range []bool{false, true} {
		name, f := "stdio", sample()
		if http {
			name, f = "http", httpSample()
		}
		var log []byte
		const frames = 1000
		for range frames {
			f.Seq++
			log = AppendFrame(log, f)
		}
		perLine := func(b *testing.B, each func()) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				each()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/frames, "ns/line")
		}
		b.Run(name, func(b *testing.B) {
			perLine(b, func() {
				r := NewReader(bytes.NewReader(log), ReaderOptions{})
				var f Frame
				for {
					if _, err := r.Next(&f); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			})
		})
		b.Run(name+"/json.Valid", func(b *testing.B) {
			lines := bytes.SplitAfter(log, []byte("\n"))
			perLine(b, func() {
				for _, line := range lines[:frames] {
					if !json.Valid(line) {
						b.Fatal("invalid")
					}
				}
			})
		})
	}
}
