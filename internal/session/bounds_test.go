package session

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mcpsnoop/internal/capture"
)

// TestSeen compares the table with a map.
func TestSeen(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := seen{index: true}
		model := map[uint64][2]int{}
		spread := rapid.SampledFrom([]uint64{1, 1 << fateBits, 1 << 58}).Draw(rt, "spread")
		for i := range rapid.IntRange(0, 400).Draw(rt, "n") {
			key := rapid.Uint64Range(0, 200).Draw(rt, "key") * spread
			f := fate(rapid.IntRange(1, 15).Draw(rt, "fate"))
			s.put(key, f, int32(i))
			model[key&^(1<<fateBits-1)] = [2]int{int(f), i}
		}
		for key := range uint64(220) {
			key *= spread
			f, index := s.get(key)
			want, ok := model[key&^(1<<fateBits-1)]
			if !ok {
				want = [2]int{0, -1}
			}
			if int(f) != want[0] || int(index) != want[1] {
				rt.Fatalf("key %x: %d %d, want %v", key, f, index, want)
			}
		}
	})
}

// TestSeenDivided: what is remembered is still there when the table is divided.
func TestSeenDivided(t *testing.T) {
	for _, index := range []bool{false, true} {
		s := seen{index: index}
		for i := range uint64(4 * seenFew) {
			s.put(scramble(i), fate(1+i%5), int32(i))
		}
		for i := range uint64(4 * seenFew) {
			f, at := s.get(scramble(i))
			want := int32(-1)
			if index {
				want = int32(i)
			}
			if f != fate(1+i%5) || at != want {
				t.Fatalf("key %d: fate %d of %d", i, f, at)
			}
		}
		if f, _ := s.get(scramble(1 << 40)); f != fateNone {
			t.Fatalf("fate %d of a key never put", f)
		}
	}
}

func TestSeenIsSmall(t *testing.T) {
	var s seen
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 200_000
	for range n {
		s.put(rng.Uint64(), fateAnswered, 0)
	}
	slots := 0
	for i := range s.parts {
		slots += len(s.parts[i].slots)
	}
	if per := float64(slots*8) / n; per > 12 {
		t.Errorf("%.1f bytes for a key", per)
	}
}

// TestVector: a frozen copy stays what it was.
func TestVector(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var v vector[int]
		var model []int
		var copies []frozen[int]
		var wants [][]int
		for range rapid.IntRange(1, 300).Draw(rt, "n") {
			switch op := rapid.IntRange(0, 9).Draw(rt, "op"); {
			case op == 0:
				copies = append(copies, v.freeze())
				wants = append(wants, append([]int(nil), model...))
			case op < 4 && len(model) > 0:
				i := rapid.IntRange(0, len(model)-1).Draw(rt, "i")
				model[i]++
				*v.edit(i)++
			default:
				for range rapid.IntRange(1, 50).Draw(rt, "add") {
					model = append(model, len(model))
					v.add(len(model) - 1)
				}
			}
		}
		copies = append(copies, v.freeze())
		wants = append(wants, model)
		for c := range copies {
			if copies[c].n != len(wants[c]) {
				rt.Fatalf("copy %d has %d items, want %d", c, copies[c].n, len(wants[c]))
			}
			for i, want := range wants[c] {
				if got := *copies[c].at(i); got != want {
					rt.Fatalf("copy %d item %d is %d, want %d", c, i, got, want)
				}
			}
		}
	})
}

func TestListBounds(t *testing.T) {
	s := replay(t, script(t, `> note a`)).Snapshot(0)
	for _, i := range []int{-1, 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("message %d exists", i)
				}
			}()
			s.Messages.At(i)
		}()
	}
}

// flood feeds n rounds of lines, made anew for each round, to a reducer that forgets,
// and returns it with the heap it came to hold.
func flood(t *testing.T, n int, o Options, round func(i int) []string) (*Reducer, int64) {
	t.Helper()
	before := heap()
	r := New(o)
	seq := uint64(0)
	f := capture.Frame{Tap: "t-1-00", Label: "t", Transport: capture.Stdio, Form: capture.Raw, Time: epoch}
	for i := range n {
		for _, line := range round(i) {
			seq++
			f.Seq, f.Mono, f.Dir = seq, time.Duration(seq), capture.C2S
			if line[0] == '<' {
				f.Dir = capture.S2C
			}
			f.Payload = []byte(line[1:])
			r.Apply(&f, capture.Ref{})
		}
	}
	grown := heap() - before
	runtime.KeepAlive(r)
	return r, grown
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestForgetting: of a settled call a few bytes are left, its token's included.
func TestForgetting(t *testing.T) {
	const n = 150_000
	_, grown := flood(t, n, Options{}, func(i int) []string {
		return []string{
			fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"p%d"}}}`, i, i),
			fmt.Sprintf(`<{"jsonrpc":"2.0","id":%d,"result":{}}`, i),
		}
	})
	if limit := int64(24*n + 1<<20); grown > limit {
		t.Errorf("%d bytes for %d calls, may be %d", grown, n, limit)
	}
}

// TestHostile: whatever is left open without end, memory does not grow with it, and
// the counts stay honest.
func TestHostile(t *testing.T) {
	const n = 40_000
	name := strings.Repeat("n", 400)
	for _, c := range []struct {
		name  string
		round func(i int) []string
		check func(Counts) bool
	}{
		{"requests without an answer", func(i int) []string {
			return []string{fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x%d-%s","_meta":{"progressToken":"p%d"}}}`, i, i, name, i)}
		}, func(c Counts) bool { return c.Pending == n && c.Let == n-maxLive }},
		{"cancelled, never answered", func(i int) []string {
			return []string{
				fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x"}}`, i),
				fmt.Sprintf(`>{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"%s"}}`, i, name),
			}
		}, func(c Counts) bool { return c.Pending == 0 && c.Let == n-maxLinger }},
		{"asked for input, never given", func(i int) []string {
			return []string{
				fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x"}}`, i),
				fmt.Sprintf(`<{"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"a":{}}}}`, i),
				fmt.Sprintf(`>{"jsonrpc":"2.0","id":"%d","method":"tools/call","params":{"name":"y","requestState":"u","inputResponses":{"a":{}}}}`, i),
				fmt.Sprintf(`<{"jsonrpc":"2.0","id":"%d","result":{}}`, i),
			}
		}, func(c Counts) bool { return c.Pending == n && c.Retries == 0 }},
		{"one call retried for ever", func(i int) []string {
			return []string{
				fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","requestState":"s","inputResponses":{"a":{}}}}`, i),
				fmt.Sprintf(`<{"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"a":{}}}}`, i),
			}
		}, func(c Counts) bool { return c.Pending == 1 && c.Retries == n-1 && c.Calls == 1 }},
		{"tasks without an end", func(i int) []string {
			return []string{
				fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","task":{}}}`, i),
				fmt.Sprintf(`<{"jsonrpc":"2.0","id":%d,"result":{"task":{"taskId":"%d-%s","status":"word%d"}}}`, i, i, name, i),
			}
		}, func(c Counts) bool { return c.Pending == n }},
		{"answers to nothing", func(i int) []string {
			return []string{fmt.Sprintf(`<{"jsonrpc":"2.0","id":"%d-%s","error":{"code":1,"message":"x"}}`, i, name)}
		}, func(c Counts) bool { return c.Errors == n }},
		{"streams", func(i int) []string {
			return []string{fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"subscriptions/listen"}`, i)}
		}, func(c Counts) bool { return c.Pending == 0 }},
		{"holes", func(i int) []string {
			if i%2 == 0 {
				return nil
			}
			return []string{`>{"jsonrpc":"2.0","method":"n"}`}
		}, func(c Counts) bool { return c.Notifications == n/2 }},
		{"revisions and peers", func(i int) []string {
			return []string{fmt.Sprintf(`>{"jsonrpc":"2.0","method":"n","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"%d-%s","io.modelcontextprotocol/clientInfo":{"name":"%d"}}}}`, i, name, i)}
		}, func(c Counts) bool { return c.Notifications == n }},
		{"tools of many names", func(i int) []string {
			return []string{
				fmt.Sprintf(`>{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x%d-%s"}}`, i, name),
				`<{"jsonrpc":"2.0","id":1,"result":{}}`,
			}
		}, func(c Counts) bool { return c.Calls == n }},
		{"methods of many names", func(i int) []string {
			return []string{fmt.Sprintf(`>{"jsonrpc":"2.0","method":"x%d-%s"}`, i, name)}
		}, func(c Counts) bool { return c.Notifications == n }},
		{"lists without an end", func(i int) []string {
			return []string{
				`>{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"c"}}`,
				fmt.Sprintf(`<{"jsonrpc":"2.0","id":1,"result":{"nextCursor":"c","tools":[{"name":"x%d"},{"name":"y%d"},{"name":"z%d"}]}}`, i, i, i),
			}
		}, func(c Counts) bool { return c.Calls == n }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, grown := flood(t, n, Options{Stats: true, Catalog: true}, c.round)
			if got := r.Header(0).Counts; !c.check(got) {
				t.Errorf("counts %+v", got)
			}
			// What is open at once, the names of tools, and what a settled call may take.
			if limit := int64(24*n + 22<<20); grown > limit {
				t.Errorf("%d bytes held, may be %d", grown, limit)
			}
		})
	}
}

// TestHostileHTTP: the same for what a proxy sees.
func TestHostileHTTP(t *testing.T) {
	const n = 40_000
	before := heap()
	r := New(Options{Stats: true})
	f := capture.Frame{Tap: "t-1-00", Transport: capture.HTTP, Time: epoch, Mono: capture.NoMono}
	apply := func(dir capture.Dir, status int, verb, payload string) {
		f.Seq++
		f.Dir, f.HTTP = dir, &capture.HTTPFacts{Status: status, Verb: verb}
		f.Payload, f.Form, f.Kind = []byte(payload), capture.Raw, capture.Line
		if payload == "" {
			f.Form, f.Kind = capture.NoPayload, capture.HTTPHead
		}
		r.Apply(&f, capture.Ref{})
	}
	for i := range uint64(n) {
		f.Exchange, f.Conn, f.MCPSession = i+1, fmt.Sprint("c", i), fmt.Sprint("s", i)
		apply(capture.C2S, 0, "GET", "")
		apply(capture.C2S, 0, "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		apply(capture.C2S, 0, "POST", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		apply(capture.S2C, 500, "", "")
		f.Exchange += n
		apply(capture.S2C, 200, "", `{"jsonrpc":"2.0","id":"early","result":{}}`)
		apply(capture.C2S, 0, "POST", `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	}
	errors, pending, let := 0, 0, 0
	for i := range r.Len() {
		c := r.Header(i).Counts
		errors, pending, let = errors+c.Errors, pending+c.Pending, let+c.Let
	}
	if errors != n || pending != n || let == 0 || r.Len() != maxSessions {
		t.Errorf("%d errors, %d pending, %d let go, %d sessions", errors, pending, let, r.Len())
	}
	if grown, limit := heap()-before, int64(3*24*n+16<<20+maxSessions*3<<10); grown > limit {
		t.Errorf("%d bytes held, may be %d", grown, limit)
	}
	runtime.KeepAlive(r)
}

// TestLetGo: a call that was let go of is still answered, late or failed in the counts.
func TestLetGo(t *testing.T) {
	for _, keep := range []bool{false, true} {
		r := New(Options{Keep: keep})
		seq := uint64(0)
		say := func(dir capture.Dir, format string, args ...any) Step {
			seq++
			return r.Apply(&capture.Frame{
				Tap: "t", Seq: seq, Dir: dir, Transport: capture.Stdio, Form: capture.Raw,
				Mono: time.Duration(seq), Time: epoch, Payload: fmt.Appendf(nil, format, args...),
			}, capture.Ref{})
		}
		ask := `{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"x"}}`
		for _, id := range []string{"ok", "err", "tool", "open", "cancelled"} {
			say(capture.C2S, ask, id)
		}
		say(capture.S2C, ask, "asked")
		say(capture.C2S, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"cancelled"}}`)
		for i := range maxLive + maxLinger {
			id := fmt.Sprint(i)
			say(capture.C2S, ask, id)
			if i < maxLinger {
				say(capture.C2S, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%q}}`, id)
			}
		}
		var got []string
		for _, answer := range []string{
			`"id":"ok","result":{}`, `"id":"err","error":{"code":1,"message":"x"}`, `"id":"tool","result":{"isError":true}`,
			`"id":"cancelled","error":{"code":1,"message":"x"}`, `"id":"ok","result":{}`,
		} {
			step := say(capture.S2C, `{"jsonrpc":"2.0",%s}`, answer)
			got = append(got, outcomeWords[step.Messages[0].Outcome])
		}
		step := say(capture.C2S, `{"jsonrpc":"2.0","id":"asked","result":{}}`)
		got = append(got, outcomeWords[step.Messages[0].Outcome])
		if g := strings.Join(got, " "); g != "ok error toolerror late dup ok" {
			t.Errorf("outcomes %s", g)
		}
		c := r.Header(0).Counts
		if c.Pending != maxLive+1 || c.Errors != 3 || c.Late != 1 || c.Let == 0 {
			t.Errorf("counts %+v", c)
		}
		if !keep {
			continue
		}
		r.Finish()
		s := r.Snapshot(0)
		checkSums(t, &s)
		var states []string
		for i := range 6 {
			call := s.Calls.At(i)
			states = append(states, fmt.Sprintf("%s %s %v", call.ID, stateWords[call.State], call.Errored))
		}
		want := `"ok" completed false, "err" failed true, "tool" completed true, "open" pending false, "cancelled" cancelled true, "asked" completed false`
		if g := strings.Join(states, ", "); g != want {
			t.Errorf("got  %s\nwant %s", g, want)
		}
	}
}
