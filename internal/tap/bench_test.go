package tap

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
)

// discardLog takes everything.
type discardLog struct{ bytes int64 }

func (l *discardLog) Write(p []byte) (int, error) { l.bytes += int64(len(p)); return len(p), nil }
func (l *discardLog) Sync() error                 { return nil }
func (l *discardLog) NextPart() error             { return nil }
func (l *discardLog) Size() int64                 { return 0 }
func (l *discardLog) Gone() bool                  { return false }
func (l *discardLog) Path() string                { return "discard" }

// oneMessage reads as the same message, n times, one a read.
type oneMessage struct {
	message []byte
	rest    []byte
	n       int
}

func (m *oneMessage) Read(p []byte) (int, error) {
	if len(m.rest) == 0 {
		if m.n == 0 {
			return 0, io.EOF
		}
		m.n--
		m.rest = m.message
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// testMessage is an answer whose text is about size bytes of prose, code and escapes.
func testMessage(size int) []byte {
	const head, tail = `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"`, `"}]}}` + "\n"
	const phrase = `Grüße aus Zürich:\n  if (a < b) { return \"größer\"; }\n— 東京は晴れ, C:\\temp, \u2026 `
	text := bytes.Repeat([]byte(phrase), max(1, size/len(phrase)))
	return append(append([]byte(head), text...), tail...)
}

// BenchmarkRecord is what recording costs a frame, all of it: pump, queue, lines,
// encoding, without the disk.
func BenchmarkRecord(b *testing.B) {
	for _, size := range []int{100, 10 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			message := testMessage(size)
			log := &discardLog{}
			rec := newRecorder(&Recording{
				Tap: "server-1-0123456789ab", Label: "server", Log: log, clock: systemClock(), waits: waits{exit: time.Hour},
				Limits: Limits{MessageBytes: 16 << 20, QueueBytes: 1 << 40, LogBytes: 1 << 40},
			})
			rec.begin(capture.StartInfo{Command: []string{"server"}, Cwd: "/"})
			b.SetBytes(int64(len(message)))
			b.ReportAllocs()
			b.ResetTimer()
			p := newPump(s2c, &oneMessage{message: message, n: b.N}, io.Discard, rec, &pool{})
			p.run(func(pumpEnd) {})
			totals := rec.close(capture.EndInfo{})
			b.StopTimer()
			if totals.frames != uint64(b.N)+2 || totals.lost != 0 {
				b.Fatalf("%d frames written, %d lost, of %d", totals.frames, totals.lost, b.N)
			}
		})
	}
}

// BenchmarkPump is the part of that which is in the way of the bytes.
func BenchmarkPump(b *testing.B) {
	for _, size := range []int{100, 10 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			message := testMessage(size)
			b.SetBytes(int64(len(message)))
			b.ReportAllocs()
			rec := &recorder{clock: systemClock(), bound: 1 << 20, copyN: 16 << 20, wake: make(chan struct{}, 1)}
			pool := &pool{}
			p := newPump(s2c, &oneMessage{message: message, n: b.N}, io.Discard, rec, pool)
			drained := 0
			p.dst = writerFunc(func([]byte) {
				if drained++; drained&63 == 0 { // in place of the writer
					for s := rec.queue.take(); s != nil; {
						next := s.next
						for i := range s.n {
							if blk := s.records[i].block; blk != nil {
								blk.release(1)
							}
						}
						rec.queue.give(s)
						s = next
					}
					rec.held, rec.fresh, rec.urgent = 0, 0, false
				}
			})
			b.ResetTimer()
			p.run(func(pumpEnd) {})
		})
	}
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }
