package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
)

// exchangeOf folds a session of 2025-03-26 in which many requests are open at once, as
// one batch or one by one, and gets those answers.
func exchangeOf(o Options, batch bool, requests, answers []string) *Reducer {
	r := New(o)
	seq := uint64(0)
	say := func(dir capture.Dir, text string) {
		seq++
		r.Apply(&capture.Frame{
			Tap: "t", Seq: seq, Dir: dir, Transport: capture.Stdio, Form: capture.Raw,
			Mono: time.Duration(seq), Time: epoch, Payload: []byte(text),
		}, capture.Ref{})
	}
	all := func(dir capture.Dir, list []string) {
		if batch {
			say(dir, "["+strings.Join(list, ",")+"]")
			return
		}
		for _, text := range list {
			say(dir, text)
		}
	}
	say(capture.C2S, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-03-26"}}`)
	say(capture.S2C, `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-03-26"}}`)
	all(capture.C2S, requests)
	all(capture.S2C, answers)
	r.Finish()
	return r
}

// pings are n requests and what answers them: a result, or an error to each tenth.
func pings(n int) (requests, answers []string) {
	for i := range n {
		requests = append(requests, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x"}}`, i))
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i)
		if i%10 == 0 {
			answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-1,"message":"no"}}`, i)
		}
		answers = append(answers, answer)
	}
	return requests, answers
}

// TestManyOpenAtOnce: whatever is open at once and in whatever order it is answered, the
// counts are right, and a call that was let go of says so.
func TestManyOpenAtOnce(t *testing.T) {
	const n, unanswered = 10_000, 7
	for _, batch := range []bool{false, true} {
		for _, reverse := range []bool{false, true} {
			for _, keep := range []bool{false, true} {
				requests, answers := pings(n)
				answers = append(answers[:3:3], answers[3+unanswered:]...) // calls 3 to 9
				if reverse {
					slices.Reverse(answers)
				}
				unknown, pending := 0, 0
				r := exchangeOf(Options{Keep: keep, Stats: true, Settled: func(_ int, c *Call) {
					switch {
					case c.Unknown():
						unknown++
					case c.Open():
						pending++
					}
				}}, batch, requests, answers)
				s := r.Snapshot(0)
				c := s.Counts
				if c.Pending != unanswered || c.Let != n-maxLive || unknown != c.Let || pending != 0 || c.Errors != n/10 || c.Invalid+c.Incomplete() != 0 {
					t.Errorf("batch %v reverse %v keep %v: %+v, %d unknown, %d pending", batch, reverse, keep, c, unknown, pending)
				}
				if tool := s.Stats.Tools[0]; tool.Pending != 0 || tool.Calls != n {
					t.Errorf("batch %v reverse %v keep %v: tool %+v", batch, reverse, keep, tool)
				}
				if keep {
					checkSums(t, &s)
				}
			}
		}
	}
}

// TestBatchBeyondBound: a batch of more elements than are looked at one by one is no
// fault of its sender's, and its calls are answered.
func TestBatchBeyondBound(t *testing.T) {
	const n = jsonrpc.MaxBatch + 3000
	for _, reverse := range []bool{false, true} {
		requests, answers := pings(n)
		if reverse {
			slices.Reverse(answers)
		}
		r := exchangeOf(Options{Keep: true}, true, requests, answers)
		s := r.Snapshot(0)
		c := s.Counts
		if c.Invalid != 0 || c.Pending != 0 || c.Unread != 2 || c.Incomplete() != 2 || c.Requests != 1+jsonrpc.MaxBatch {
			t.Errorf("reverse %v: %+v", reverse, c)
		}
		// Errors that answer what was not looked at are not held against anybody.
		if c.Errors != (jsonrpc.MaxBatch+9)/10 {
			t.Errorf("reverse %v: %d errors", reverse, c.Errors)
		}
		checkSums(t, &s)
		last := s.Messages.At(s.Messages.Len() - 1)
		if last.Defects != jsonrpc.InBatch|jsonrpc.RestOfBatch || last.Outcome != NoOutcome || last.Call != -1 {
			t.Errorf("the rest is %+v", last)
		}
	}
}
