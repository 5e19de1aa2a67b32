package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
)

func TestGaps(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"a hole", `
			> note a
			>[seq=5] note b
		`, "hole 2-4 after 1; missing 3"},
		{"the first frames", `>[seq=3] note a`, "hole 1-2 after 0; missing 2"},
		{"a gap frame and its hole are one loss", `
			> note a
			#[seq=5] gap {"lost":3,"first":2,"last":4,"bytes":9,"reason":"queue full"}
			> note b
		`, "lost 2-4 (3) after 1; missing 3"},
		{"a gap frame that covers part of the hole", `
			> note a
			#[seq=7] gap {"lost":2,"first":3,"last":4,"reason":"x"}
		`, "lost 3-4 (2) after 1, hole 2-2 after 1, hole 5-6 after 4; missing 5"},
		{"a gap frame before the hole it tells of", `
			> note a
			# gap {"lost":2,"first":3,"last":4}
			>[seq=5] note b
		`, "lost 3-4 (2) after 1; missing 2"},
		{"a gap frame without numbers", `
			> note a
			#[seq=5] gap {"lost":3}
		`, "lost 0-0 (3) after 1; missing 3"},
		{"going back is not a loss", `
			> note a
			>[seq=1] note a
			> note b
		`, "missing 0"},
		{"concurrent recorders out of order", `
			all http nomono
			>[seq=2] note a
			>[seq=1] note b
			>[seq=4] note c
			>[seq=6] note c
			>[seq=5] note c
		`, "hole 3-3 after 2; missing 1"},
		{"traces number as they like", `
			all sparse
			>[seq=7] note a
			>[seq=90] note b
		`, "missing 0"},
		{"the clock stepped", `
			> note a
			# clock {"wall_us":9000000,"mono_us":1000}
		`, "step 9s 1ms after 1; missing 0"},
		{"a forged number", `
			> note a
			>[seq=9223372036854775807] note b
			>[seq=1] note a
			>[seq=9223372036854775807] note b
		`, "hole 2-9223372036854775806 after 1; missing 9007199254740992"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := replay(t, script(t, c.log))
			s := r.Snapshot(0)
			if got := tellGaps(&s); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func tellGaps(s *Snapshot) string {
	var notes []string
	for _, g := range s.Gaps {
		switch g.Kind {
		case Lost:
			notes = append(notes, fmt.Sprintf("lost %d-%d (%d) after %d", g.Gap.First, g.Gap.Last, g.Gap.Lost, g.Seq))
		case Hole:
			notes = append(notes, fmt.Sprintf("hole %d-%d after %d", g.Gap.First, g.Gap.Last, g.Seq))
		case Stepped:
			notes = append(notes, fmt.Sprintf("step %v %v after %d", g.Clock.Wall, g.Clock.Mono, g.Seq))
		case Skipped:
			notes = append(notes, fmt.Sprintf("skipped line %d after %d: %s", g.Line, g.Seq, g.Why))
		case TornEnd:
			notes = append(notes, fmt.Sprintf("torn line %d after %d", g.Line, g.Seq))
		}
	}
	text := ""
	if notes != nil {
		text = strings.Join(notes, ", ") + "; "
	}
	return text + fmt.Sprintf("missing %d", s.Counts.Missing)
}

// TestSkippedLines: a line that cannot be read is one thing that is missing, not two.
func TestSkippedLines(t *testing.T) {
	frames := script(t, `
		> note a
		>[seq=3] note b
		>[seq=6] note c
	`)
	r := New(Options{Keep: true})
	r.Skip(&capture.LineError{Line: 1, Len: 9, Err: fmt.Errorf("garbled")})
	r.Apply(&frames[0], capture.Ref{Line: 2})
	r.Skip(&capture.LineError{Line: 3, Len: 9, Err: fmt.Errorf("garbled")})
	r.Apply(&frames[1], capture.Ref{Line: 4})
	r.Skip(&capture.LineError{Line: 5, Len: 9, Err: fmt.Errorf("garbled")})
	r.Apply(&frames[2], capture.Ref{Line: 6})
	r.Skip(&capture.LineError{Line: 7, Len: 5, Torn: true, Err: fmt.Errorf("cut off")})
	r.Finish()
	s := r.Snapshot(0)
	want := "skipped line 1 after 0: garbled, skipped line 3 after 1: garbled, skipped line 5 after 3: garbled, " +
		"hole 5-5 after 4, torn line 7 after 6; missing 1"
	if got := tellGaps(&s); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if c := s.Counts; c.Unreadable != 3 || c.Torn != 1 || c.Incomplete() != 5 {
		t.Errorf("counts %+v", c)
	}
}

func TestNothingButBadLines(t *testing.T) {
	r := New(Options{})
	for i := range 2 * maxNotes {
		r.Skip(&capture.LineError{Line: i + 1, Err: fmt.Errorf("garbled")})
	}
	r.Finish()
	if r.Len() != 0 {
		t.Fatal("a session of nothing")
	}
}

func TestNotesAreBounded(t *testing.T) {
	r := New(Options{})
	f := script(t, `> note a`)[0]
	for i := range 3 * maxNotes {
		f.Seq = uint64(2*i + 1)
		if step := r.Apply(&f, capture.Ref{}); i > 0 && len(step.Gaps) != 1 {
			t.Fatalf("frame %d: %d gaps", i, len(step.Gaps))
		}
	}
	s := r.Snapshot(0)
	if len(s.Gaps) != maxNotes || s.MoreGaps != 2*maxNotes-1 || s.Counts.Missing != 3*maxNotes-1 {
		t.Errorf("%d notes, %d more, %d missing", len(s.Gaps), s.MoreGaps, s.Counts.Missing)
	}
}

// TestHeader: identities, capabilities and revisions, and where they come from.
func TestHeader(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","title":"C","version":"2"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`
	for _, c := range []struct{ name, log, want string }{
		{"handshake", `
			# start {"command":["srv","-x"],"cwd":"/w","format":1,"tool":"t"}
			> ask 0 initialize {"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}
			< ok 0 {"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","title":"S","version":"3"},"instructions":"be \"nice\""}
		`, `c//1 {"roots":{}} s/S/3 {"tools":{}} "be \"nice\"" 2025-06-18=3 [srv -x]`},
		{"proposed, not answered", `
			> ask 0 initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
		`, `c//1 {} //  "" 2025-11-25=4 []`},
		{"a revision we do not know", `
			> ask 0 initialize {"protocolVersion":"2031-01-01"}
			< ok 0 {"protocolVersion":"2030-01-01"}
		`, `//  //  "" 2030-01-01=0 []`},
		{"stateless", `
			> ask 1 server/discover {` + meta + `}
			< ok 1 {"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"body"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}},"instructions":"i"}
		`, `c/C/2 {"roots":{}} s//1 {"tools":{}} "i" 2026-07-28=5 []`},
		{"only the server said which revisions it speaks", `
			> ask 1 server/discover
			< ok 1 {"supportedVersions":["2025-11-25",7,"2026-07-28","2031-01-01","2025-06-18"],"capabilities":{}}
		`, `//  // {} "" 2026-07-28=5 []`},
		{"what the client declared goes before what the server offers", `
			> ask 1 server/discover {"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}
			< ok 1 {"supportedVersions":["2025-11-25","2026-07-28"]}
		`, `//  //  "" 2025-11-25=4 []`},
		{"even where we do not know it", `
			> ask 1 server/discover {"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}
			< ok 1 {"supportedVersions":["2026-07-28"]}
		`, `//  //  "" 2031-01-01=0 []`},
		{"a server that names itself in any result", `
			> ask 1 tools/list {` + meta + `}
			< ok 1 {"tools":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}
		`, `c/C/2 {"roots":{}} s//1  "" 2026-07-28=5 []`},
		{"refused, then the handshake", `
			> ask 1 server/discover {` + meta + `}
			< err 1 -32601 no
			> ask 2 initialize {"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"legacy","version":"1"}}
			< ok 2 {"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}
		`, `legacy//1 {"sampling":{}} s//1 {} "" 2025-11-25=4 []`},
		{"refused, and nothing else", `
			> ask 1 server/discover {` + meta + `}
			< err 1 -32601 no
		`, `c/C/2 {"roots":{}} //  "" =0 []`},
		{"an older one after the newer was refused", `
			> ask 1 tools/list {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}
			< err 1 -32022 unsupported
			> ask 2 tools/list {"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}
		`, `//  //  "" 2025-11-25=4 []`},
		{"a server cannot play the client", `
			< ask 0 initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
			> ok 0 {"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}}
			< ask 1 x {` + meta + `}
		`, `//  //  "" =0 []`},
		{"by the header alone", `
			>[http x=1 version=2025-06-18] ask 1 tools/list
		`, `//  //  "" 2025-06-18=3 []`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := replay(t, script(t, c.log)).Header(0)
			got := fmt.Sprintf("%s/%s/%s %s %s/%s/%s %s %q %s=%d %v",
				h.Client.Name, h.Client.Title, h.Client.Version, h.Client.Capabilities,
				h.Server.Name, h.Server.Title, h.Server.Version, h.Server.Capabilities,
				h.Instructions, h.RevisionText, h.Revision, h.Start.Command)
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestRevisionOfMessages: each message has its own, an answer its request's.
func TestRevisionOfMessages(t *testing.T) {
	r := replay(t, script(t, `
		> note early
		> ask 0 initialize {"protocolVersion":"2025-11-25"}
		< note between
		< ok 0 {"protocolVersion":"2025-06-18"}
		> ask 1 tools/list
		> ask 2 tools/list {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}
		< ok 2 {}
		< ok 1 {}
		< note after
		>[version=2025-03-26] ask 3 tools/list
	`))
	s := r.Snapshot(0)
	var got []string
	for _, m := range s.Messages.All() {
		got = append(got, fmt.Sprintf("%d", m.Revision))
	}
	if g, want := strings.Join(got, " "), "0 4 4 4 3 5 5 3 3 2"; g != want {
		t.Errorf("got %s, want %s", g, want)
	}
}

func TestStats(t *testing.T) {
	var log strings.Builder
	for i := range 100 {
		name, end := "fast", `{"content":[]}`
		if i%10 == 9 {
			name, end = "slow", `{"content":[],"isError":true}`
		}
		fmt.Fprintf(&log, "> ask %d tools/call {\"name\":%q}\n", i, name)
		fmt.Fprintf(&log, "+%dms\n", i)
		fmt.Fprintf(&log, "< ok %d %s\n", i, end)
	}
	log.WriteString(`
		> ask 200 tools/list
		+10s
		< ok 200 {"tools":[]}
		> ask 201 tools/call {"name":"never"}
		> ask 202 tools/call {"name":"slow"}
		> note notifications/cancelled {"requestId":202}
		< ask 1 roots/list
		> ok 1 {}
		> ask 203 server/discover
		< err 203 -32601 no
		> ask 204 subscriptions/listen
		< ok 204 {}
	`)
	s := replay(t, script(t, log.String())).Snapshot(0)
	st := s.Stats
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	// Calls took 1 to 100 ms; those that end in 0 were of the slow tool; one took 10 s.
	if st.Answered != 101 || st.P50 != ms(51) || st.P95 != ms(96) || st.P99 != ms(100) {
		t.Errorf("all: %d %v %v %v", st.Answered, st.P50, st.P95, st.P99)
	}
	want := []ToolStat{
		{Name: "fast", Calls: 90, P50: ms(49), P95: ms(95), P99: ms(99), Bytes: 90 * 14, MaxBytes: 14},
		{Name: "never", Calls: 1, Pending: 1},
		{Name: "slow", Calls: 11, Errors: 10, P50: ms(50), P95: ms(100), P99: ms(100), Bytes: 10 * 29, MaxBytes: 29},
	}
	for i, w := range want {
		if i >= len(st.Tools) || st.Tools[i] != w {
			t.Errorf("tools: got %+v\nwant %+v", st.Tools, w)
			break
		}
	}
	var slowest []string
	for _, c := range st.Slowest {
		slowest = append(slowest, c.ID)
	}
	if got := strings.Join(slowest, " "); got != "99 98 97 96 95" {
		t.Errorf("slowest %s", got)
	}
}

func TestCatalog(t *testing.T) {
	s := replay(t, script(t, `
		> ask 1 tools/list
		< ok 1 {"tools":[{"name":"old"}]}
		> ask 2 tools/list {}
		> ask 3 prompts/list
		< ok 2 {"tools":[{"name":"a","description":"does a","inputSchema":{"type": "object"}},{"name":"b"}],"nextCursor":"n"}
		< err 3 -32601 none
		> ask 4 tools/list {"cursor":"n"}
		< ok 4 {"tools":[{"name":"a","title":"again"},{"name":"c"}]}
		< note notifications/tools/list_changed
		> ask 5 resources/list {"cursor":"x"}
		< ok 5 {"resources":[{"uri":"u:1","name":"u"}]}
	`)).Snapshot(0)
	tools := s.Catalog.Tools
	var names []string
	for _, i := range tools.Items {
		names = append(names, fmt.Sprintf("%s:%d/%d/%d", i.Name, i.Bytes, i.DescriptionBytes, i.SchemaBytes))
	}
	if got, want := strings.Join(names, " "), "a:67/8/17 b:12/0/0 c:12/0/0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if tools.Bytes != 91 || tools.Pages != 2 || !tools.Complete || !tools.Stale || tools.Repeated != 1 {
		t.Errorf("%+v", tools)
	}
	if s.Catalog.Prompts != nil || s.Catalog.Resources.Complete || s.Catalog.Resources.Items[0].Name != "u:1" {
		t.Errorf("%+v", s.Catalog)
	}
}

func TestShares(t *testing.T) {
	log := `
		> ask 1 tools/call {"name":"x"}
		+99ms
		< ok 1 ` + asks + `}
		+199ms
		> ask 2 tools/call {"name":"x","inputResponses":{"city":{}}}
		+299ms
		< ok 2 {"content":[]}
	`
	frames := script(t, log)
	r := New(Options{Keep: true})
	now := Instant{Wall: epoch.Add(time.Second), Mono: time.Second}
	for i, want := range []string{"999ms+0s", "100ms+899ms", "799ms+200ms", "400ms+200ms"} {
		r.Apply(&frames[i], capture.Ref{})
		s := r.Snapshot(0)
		c := s.Calls.At(0)
		server, client := c.Shares(now)
		if got := fmt.Sprintf("%v+%v", server, client); got != want {
			t.Errorf("after frame %d: %s, want %s", i+1, got, want)
		}
	}
}

// TestLastSign: a sign of life is a frame of the answering side while the call was open.
func TestLastSign(t *testing.T) {
	s := replay(t, script(t, `
		< note before
		> ask 1 tools/call {"name":"x"}
		! stderr
		> ask 2 tools/call {"name":"y"}
		> note notifications/cancelled {"requestId":1}
		< note after
		< ask 5 roots/list
	`)).Snapshot(0)
	want := []time.Duration{3 * time.Millisecond, 7 * time.Millisecond, 0}
	for i, c := range s.Calls.All() {
		if c.LastSign.Mono != want[i] {
			t.Errorf("call %d: %v, want %v", i, c.LastSign.Mono, want[i])
		}
	}
}

// TestRevised: what was early is told once more, with its last word.
func TestRevised(t *testing.T) {
	var got []string
	r := New(Options{Revised: func(_ int, m *Message) {
		got = append(got, fmt.Sprintf("%d:%s:%d", m.Ref.Seq, outcomeWords[m.Outcome], m.Call))
	}})
	for _, f := range script(t, `
		all nomono
		< ok 1 {}
		< err 2 -1 no
		> ask 1 ping
	`) {
		r.Apply(&f, capture.Ref{})
	}
	r.Finish()
	if g := strings.Join(got, " "); g != "1:ok:0 2:unmatched:-1" {
		t.Errorf("got %s", g)
	}
}

// TestSnapshotAside reads snapshots while the reducer goes on, for the race detector.
func TestSnapshotAside(t *testing.T) {
	frames := traffic(600, 100)
	frames = append(frames, script(t, `
		> ask "late" tools/call {"name":"x"}
		> note notifications/cancelled {"requestId":"late"}
	`)...)
	r := New(Options{Keep: true})
	read := make(chan Snapshot)
	done := make(chan int)
	go func() {
		n := 0
		for s := range read {
			n += len(dump(&s))
		}
		done <- n
	}()
	for i := range frames {
		f := frames[i]
		f.Tap, f.Seq = "t", uint64(i+1)
		r.Apply(&f, capture.Ref{})
		if i%97 == 0 {
			read <- r.Snapshot(0)
		}
	}
	close(read)
	if <-done == 0 {
		t.Error("nothing read")
	}
}

// TestNoGarbage: in the steady state a reducer that forgets allocates next to nothing.
func TestNoGarbage(t *testing.T) {
	frames := traffic(512, 300)
	r := New(Options{Settled: func(int, *Call) {}})
	seq := uint64(0)
	fold := func() {
		for i := range frames {
			seq++
			frames[i].Seq = seq
			r.Apply(&frames[i], capture.Ref{})
		}
	}
	fold()
	// The texts of ids share blocks: one for some hundred of them.
	if n := testing.AllocsPerRun(20, fold); n > float64(len(frames))/20 {
		t.Errorf("%.0f allocations for %d frames", n, len(frames))
	}
}
