package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
)

// traffic makes the frames of pairs of tool calls and answers, each of about size bytes.
func traffic(pairs, size int) []capture.Frame {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var frames []capture.Frame
	add := func(dir capture.Dir, payload string) {
		n := len(frames)
		frames = append(frames, capture.Frame{
			Tap: "bench-1-00", Seq: uint64(n + 1), Time: start.Add(time.Duration(n) * time.Millisecond), Mono: time.Duration(n) * time.Millisecond,
			Dir: dir, Transport: capture.Stdio, Form: capture.Raw, Payload: []byte(payload), Size: int64(len(payload) + 1),
		})
	}
	fill := strings.Repeat("abcdefgh ", size/9+1)
	for i := range pairs {
		ask := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/tmp/%d","text":""},"_meta":{"progressToken":%d}}}`, i, i, i)
		ask = strings.Replace(ask, `"text":""`, `"text":"`+fill[:max(0, size-len(ask))]+`"`, 1)
		reply := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":""}],"isError":false}}`, i)
		reply = strings.Replace(reply, `"text":""`, `"text":"`+fill[:max(0, size-len(reply))]+`"`, 1)
		add(capture.C2S, ask)
		add(capture.S2C, reply)
	}
	return frames
}

func BenchmarkFold(b *testing.B) {
	modes := map[string]Options{
		"forget": {}, "stats": {Stats: true, Settled: func(int, *Call) {}}, "keep": {Keep: true},
	}
	for _, size := range []int{200, 450, 4096} {
		frames := traffic(4096, size)
		for _, mode := range []string{"forget", "stats", "keep"} {
			b.Run(fmt.Sprintf("%dB/%s", size, mode), func(b *testing.B) {
				r := New(modes[mode])
				b.ReportAllocs()
				b.SetBytes(int64(size))
				n := 0
				for b.Loop() {
					f := &frames[n%len(frames)]
					f.Seq = uint64(n + 1)
					r.Apply(f, capture.Ref{})
					n++
				}
			})
		}
	}
}

// BenchmarkValid is the yardstick: what encoding/json takes to check the same bytes.
func BenchmarkValid(b *testing.B) {
	frames := traffic(4096, 450)
	b.SetBytes(450)
	n := 0
	for b.Loop() {
		if !json.Valid(frames[n%len(frames)].Payload) {
			b.Fatal("invalid")
		}
		n++
	}
}

// BenchmarkShapes folds traffic that takes more of the parts.
func BenchmarkShapes(b *testing.B) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"agent","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"roots":{}},"progressToken":"c-%[1]d"}`
	shapes := []struct {
		name  string
		lines []string
	}{
		{"stateless", []string{
			`> ask %[1]d tools/call {"name":"x","arguments":{"a":1},` + meta + `}`,
			`< note notifications/progress {"progressToken":"c-%[1]d","progress":1,"total":2,"message":"half"}`,
			`< ok %[1]d {"resultType":"complete","content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`,
		}},
		{"retried", []string{
			`> ask %[1]d tools/call {"name":"x","arguments":{"a":1},` + meta + `}`,
			`< ok %[1]d ` + asks + `,"requestState":"state-%[1]d"}`,
			`> ask "r%[1]d" tools/call {"name":"x","arguments":{"a":1},"requestState":"state-%[1]d","inputResponses":{"city":{}},` + meta + `}`,
			`< ok "r%[1]d" {"resultType":"complete","content":[]}`,
		}},
		{"http", []string{
			`>[http x=%[1]d conn=a sess=S] ask %[1]d tools/call {"name":"x","arguments":{"a":1}}`,
			`<[http x=%[1]d conn=a sess=S status=200] ok %[1]d {"content":[]}`,
		}},
		{"http stateless", []string{
			`#[http x=%[1]d conn=a verb=POST path=/mcp] http`,
			`>[http x=%[1]d conn=a verb=POST path=/mcp] ask %[1]d tools/call {"name":"x","arguments":{"a":1},` + meta + `}`,
			`<[http x=%[1]d conn=a status=200] ok %[1]d {"resultType":"complete","content":[]}`,
		}},
		{"notifications", []string{`< note notifications/message {"level":"info","data":"%[1]d"}`}},
	}
	for _, shape := range shapes {
		var log strings.Builder
		for i := range 1024 {
			for _, line := range shape.lines {
				if strings.Contains(line, "%[1]d") {
					line = fmt.Sprintf(line, i+1)
				}
				log.WriteString(line + "\n")
			}
		}
		frames := script(b, log.String())
		b.Run(shape.name, func(b *testing.B) {
			r := New(Options{})
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				f := &frames[n%len(frames)]
				f.Seq = uint64(n + 1)
				r.Apply(f, capture.Ref{})
				n++
			}
		})
	}
}

// BenchmarkSnapshot takes a snapshot after every frame of a long session.
func BenchmarkSnapshot(b *testing.B) {
	frames := traffic(4096, 200)
	r := New(Options{Keep: true})
	n := 0
	apply := func() {
		f := &frames[n%len(frames)]
		f.Seq = uint64(n + 1)
		r.Apply(f, capture.Ref{})
		n++
	}
	for range 400_000 {
		apply()
	}
	b.ReportAllocs()
	for b.Loop() {
		apply()
		r.Snapshot(0)
	}
}
