package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/tracectx"
)

// script turns lines into the frames of a log. Each line is a frame, 1 ms after the
// one before:
//
//	> ask 1 tools/call {"name":"x"}      from the client, < from the server
//	< ok 1 {"content":[]}
//	< err 1 -32601 not found
//	> note notifications/initialized {}
//	< {"any":"payload"} or text          as it stands
//	! text                               stderr
//	# start {}                           a frame of the tap's own: start, gap, clock, end, http, open, close
//	+250ms                               time passes; no frame
//
// Words in brackets behind the first character change the frame: tap=b seq=9 http
// x=1 (exchange) conn=a sess=s status=400 verb=GET kind=http batch cut sparse nomono
// version=2025-06-18 accept=text/event-stream (headers) path=/mcp query=a=b by=client
// sse=id endpoint=/messages (events). A line that begins with "all" sets them for all that follow.
func script(t testing.TB, text string) []capture.Frame {
	t.Helper()
	var frames []capture.Frame
	now := time.Duration(0)
	seqs := map[string]uint64{}
	var common []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "//"):
			continue
		case line[0] == '+':
			d, err := time.ParseDuration(line[1:])
			if err != nil {
				t.Fatal(err)
			}
			now += d
			continue
		case strings.HasPrefix(line, "all "):
			common = strings.Fields(line)[1:]
			continue
		}
		now += time.Millisecond
		f := capture.Frame{
			Tap: "t-1-00", Label: "t", Time: epoch.Add(now), Mono: now, Transport: capture.Stdio,
			Dir: map[byte]capture.Dir{'>': capture.C2S, '<': capture.S2C, '!': capture.Stderr, '#': capture.Meta}[line[0]],
		}
		if f.Dir == 0 {
			t.Fatalf("script line %q", line)
		}
		rest := line[1:]
		words := slices.Clone(common)
		if strings.HasPrefix(rest, "[") {
			in, after, _ := strings.Cut(rest[1:], "]")
			words = append(words, strings.Fields(in)...)
			rest = after
		}
		for _, w := range words {
			frameWord(t, &f, w)
		}
		if f.Seq == 0 {
			f.Seq = seqs[f.Tap] + 1
		}
		seqs[f.Tap] = f.Seq
		f.Payload, f.Form = payload(t, &f, strings.TrimPrefix(rest, " "))
		f.Size = int64(len(f.Payload) + 1)
		frames = append(frames, f)
	}
	return frames
}

var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func frameWord(t testing.TB, f *capture.Frame, word string) {
	name, value, _ := strings.Cut(word, "=")
	facts := func() *capture.HTTPFacts {
		if f.HTTP == nil {
			f.HTTP = new(capture.HTTPFacts)
		}
		return f.HTTP
	}
	n, _ := strconv.Atoi(value)
	switch name {
	case "tap":
		f.Tap = value
	case "seq":
		f.Seq = uint64(n)
	case "http":
		f.Transport = capture.HTTP
	case "x":
		f.Exchange = uint64(n)
	case "conn":
		f.Conn = value
	case "sess":
		f.MCPSession = value
	case "status":
		facts().Status = n
	case "verb":
		facts().Verb = value
	case "version":
		facts().Request = map[string]string{versionHeader: value}
	case "accept":
		facts().Request = map[string]string{"accept": value}
	case "path":
		facts().Path = value
	case "query":
		facts().Query = value
	case "by":
		facts().ClosedBy = value
	case "sse":
		facts().SSE = &capture.SSEEvent{ID: value}
	case "endpoint":
		facts().SSE = &capture.SSEEvent{Event: "endpoint", Data: value}
	case "kind":
		f.Kind = capture.HTTPHead
	case "batch":
		f.Flags |= capture.Batch
	case "cut":
		f.Flags |= capture.Truncated
	case "sparse":
		f.Flags |= capture.Sparse
	case "nomono":
		f.Mono = capture.NoMono
	default:
		t.Fatalf("script word %q", word)
	}
}

func payload(t testing.TB, f *capture.Frame, text string) ([]byte, capture.Form) {
	verb, rest, _ := strings.Cut(text, " ")
	id, rest2, _ := strings.Cut(rest, " ")
	name, params, _ := strings.Cut(rest2, " ")
	member := func(name, value string) string {
		if value == "" {
			return ""
		}
		return `,"` + name + `":` + value
	}
	switch {
	case f.Dir == capture.Meta:
		f.Kind = map[string]capture.Kind{
			"start": capture.Start, "gap": capture.Gap, "clock": capture.Clock, "end": capture.End, "http": capture.HTTPHead,
			"open": capture.Open, "close": capture.Close,
		}[verb]
		text = rest
	case verb == "ask":
		text = `{"jsonrpc":"2.0","id":` + id + `,"method":"` + name + `"` + member("params", params) + `}`
	case verb == "note":
		text = `{"jsonrpc":"2.0","method":"` + id + `"` + member("params", rest2) + `}`
	case verb == "ok":
		text = `{"jsonrpc":"2.0","id":` + id + `,"result":` + rest2 + `}`
	case verb == "err":
		text = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":%q}}`, id, name, params)
	}
	p := []byte(text)
	if len(p) == 0 {
		return p, capture.NoPayload
	}
	own := *f
	own.Payload, own.Form = p, capture.Unjudged
	return p, capture.Classify(&own)
}

// outcomeWords are the outcomes as tests write them.
var outcomeWords = map[Outcome]string{
	OutcomeOK: "ok", OutcomeError: "error", OutcomeToolError: "toolerror", OutcomeExpected: "expected", OutcomeCancelled: "cancel",
	OutcomeLate: "late", OutcomeDuplicate: "dup", OutcomeUnmatched: "unmatched", OutcomeSuperseded: "super", OutcomeInput: "input",
	OutcomeStream: "stream", OutcomeBad: "bad", OutcomeTask: "task", OutcomeEarly: "early", OutcomeStale: "stale",
}

var stateWords = [...]string{"pending", "streaming", "completed", "failed", "cancelled", "superseded", "abandoned"}

// tell describes a session: each call, each frame with an outcome other than ok, and
// the counts that are not 0.
func tell(s *Snapshot) string {
	var b strings.Builder
	for _, c := range s.Calls.All() {
		tellCall(&b, &c)
	}
	var outcomes []string
	for _, m := range s.Messages.All() {
		if m.Outcome != NoOutcome && m.Outcome != OutcomeOK {
			outcomes = append(outcomes, fmt.Sprintf("%d %s", m.Ref.Seq, outcomeWords[m.Outcome]))
		}
	}
	if outcomes != nil {
		fmt.Fprintf(&b, "frames: %s\n", strings.Join(outcomes, ", "))
	}
	c := s.Counts
	var counts []string
	for _, n := range []struct {
		name string
		n    int
	}{
		{"errors", c.Errors}, {"invalid", c.Invalid}, {"pending", c.Pending}, {"late", c.Late}, {"retries", c.Retries},
		{"missing", c.Missing}, {"unreadable", c.Unreadable}, {"torn", c.Torn}, {"truncated", c.Truncated}, {"let", c.Let}, {"unread", c.Unread},
	} {
		if n.n != 0 {
			counts = append(counts, fmt.Sprintf("%s=%d", n.name, n.n))
		}
	}
	if counts != nil {
		fmt.Fprintf(&b, "counts: %s\n", strings.Join(counts, " "))
	}
	return b.String()
}

func tellCall(b *strings.Builder, c *Call) {
	fmt.Fprintf(b, "%s %s", c.ID, c.Method)
	if c.Target != "" {
		fmt.Fprintf(b, " %s", c.Target)
	}
	fmt.Fprintf(b, ": %s %d>", stateWords[c.State], c.Request.Seq)
	if c.Response.Seq != 0 {
		fmt.Fprintf(b, "%d", c.Response.Seq)
	}
	word := func(on bool, format string, args ...any) {
		if on {
			fmt.Fprintf(b, " "+format, args...)
		}
	}
	word(c.ToolError, "toolerror")
	word(c.Errored, "errored")
	word(c.Expected, "expected")
	word(c.Late, "late")
	word(c.ErrorCode != 0, "code=%d", c.ErrorCode)
	word(c.ErrorText != "", "%q", c.ErrorText)
	word(c.Status != 0, "status=%d", c.Status)
	word(c.Cancel != nil, "cancel=%d", seqOf(c.Cancel))
	word(c.Cancel != nil && c.Cancel.Closed, "closed")
	if x := c.Cut; x != nil {
		fmt.Fprintf(b, " cut=%d:%s silent=%s", x.Seq, [...]string{"?", "client", "server", "upstream"}[x.By], x.Silent)
	}
	word(c.Repeats != 0, "repeats=%d", c.Repeats)
	word(c.Within >= 0, "within=%d", c.Within)
	word(c.TaskOf >= 0, "taskof=%d", c.TaskOf)
	if p := c.Progress; p != nil {
		fmt.Fprintf(b, " progress=%g/%g×%d", p.Value, p.Total, p.Count)
	}
	if k := c.Task; k != nil {
		fmt.Fprintf(b, " task=%s:%s", k.ID, k.Status)
	}
	if m := c.Stream; m != nil {
		fmt.Fprintf(b, " ack=%d notes=%d", m.Acknowledged.Seq, m.Notes)
	}
	for i, l := range c.Legs {
		fmt.Fprintf(b, " leg%d=%s:%d>%d", i, l.ID, l.Request.Seq, l.Response.Seq)
		word(l.Link != NoLink, "link=%d echo=%d", l.Link, l.Echo)
	}
	b.WriteByte('\n')
}

func seqOf(c *Cancel) uint64 {
	if c == nil {
		return 0
	}
	return c.Seq
}

// replay folds frames with a snapshot of all sessions after each, and checks what
// must hold for any log: the snapshots never change, they do not change the end, and
// a reducer that forgets comes to the same counts and calls.
func replay(t testing.TB, frames []capture.Frame) *Reducer {
	t.Helper()
	kept := map[string]string{}
	whose := newWhose(t)
	keep := New(Options{Keep: true, Settled: collect(t, kept), Moved: whose.moved})
	plain := New(Options{Keep: true})
	gone := map[string]string{}
	forget := New(Options{Stats: true, Catalog: true, Settled: collect(t, gone)})
	type taken struct {
		snap Snapshot
		dump string
	}
	var snaps []taken
	for i := range frames {
		ref := capture.Ref{Offset: int64(i), Line: int32(i + 1), Len: int32(len(frames[i].Payload))}
		step := keep.Apply(frames[i].Clone(), ref)
		checkStep(t, step)
		whose.frame(&frames[i], ref, step)
		plain.Apply(frames[i].Clone(), ref)
		checkStep(t, forget.Apply(frames[i].Clone(), ref))
		if i%(1+len(frames)/64) == 0 {
			for n := range keep.Len() {
				s := keep.Snapshot(n)
				snaps = append(snaps, taken{s, dump(&s)})
			}
		}
	}
	keep.Finish()
	plain.Finish()
	forget.Finish()
	for i := range snaps {
		if now := dump(&snaps[i].snap); now != snaps[i].dump {
			t.Fatalf("snapshot %d changed:\n%s\nwas\n%s", i, now, snaps[i].dump)
		}
	}
	if !reflect.DeepEqual(kept, gone) {
		t.Fatalf("settled calls differ:\nkept   %v\nforgot %v", kept, gone)
	}
	whose.finish(keep)
	for n := range keep.Len() {
		a, b, c := keep.Snapshot(n), plain.Snapshot(n), forget.Snapshot(n)
		if x, y := dump(&a), dump(&b); x != y {
			t.Fatalf("snapshots on the way changed the end:\n%s\nwithout\n%s", x, y)
		}
		if a.Counts != c.Counts || !reflect.DeepEqual(a.Stats, c.Stats) || !reflect.DeepEqual(a.Catalog, c.Catalog) {
			t.Fatalf("forgetting changed the sums:\n%+v\n%+v\n%+v\n%+v", a.Counts, c.Counts, a.Stats, c.Stats)
		}
		if !reflect.DeepEqual(a.Header, c.Header) {
			t.Fatalf("forgetting changed the header:\n%+v\n%+v", a.Header, c.Header)
		}
		checkSums(t, &a)
		checkTraces(t, &a)
		checkSettled(t, n, &a, kept)
		checkEmpty(t, keep.sessions[n])
		checkEmpty(t, forget.sessions[n])
	}
	return keep
}

// whose checks that the frames of an exchange stay together.
type whose struct {
	t       testing.TB
	session map[string]int // by tap and exchange
	guessed map[string]capture.Ref
	of      map[capture.Ref]int
	frames  map[int]int
}

func newWhose(t testing.TB) *whose {
	return &whose{t, map[string]int{}, map[string]capture.Ref{}, map[capture.Ref]int{}, map[int]int{}}
}

func (w *whose) moved(ref capture.Ref, from, to int) {
	if was, ok := w.of[ref]; !ok || was != from || from == to {
		w.t.Fatalf("frame of line %d moved from %d to %d, it was in %d", ref.Line, from, to, was)
	}
	w.of[ref] = to
}

func (w *whose) frame(f *capture.Frame, ref capture.Ref, s Step) {
	w.t.Helper()
	w.of[ref] = s.Session
	if f.Passed() {
		w.frames[s.Session]++
	}
	if f.Exchange == 0 || f.Transport != capture.HTTP {
		return
	}
	key := fmt.Sprint(f.Tap, f.Exchange)
	if s.Guess {
		w.guessed[key] = ref
		return
	}
	if head, ok := w.guessed[key]; ok && w.of[head] != s.Session {
		w.t.Fatalf("exchange %d: head in session %d, seq %d in %d", f.Exchange, w.of[head], f.Seq, s.Session)
	}
	if was, ok := w.session[key]; ok && was != s.Session {
		w.t.Fatalf("exchange %d: seq %d in session %d, what came before in %d", f.Exchange, f.Seq, s.Session, was)
	}
	w.session[key] = s.Session
}

func (w *whose) finish(r *Reducer) {
	for i := range r.Len() {
		if h := r.Header(i); h.Counts.Frames != w.frames[i] || h.ID != h.Tap && h.ID != fmt.Sprintf("%s.%d", h.Tap, h.Number) {
			w.t.Fatalf("session %q: %d frames counted, %d given", h.ID, h.Counts.Frames, w.frames[i])
		}
	}
}

func collect(t testing.TB, into map[string]string) func(int, *Call) {
	return func(session int, c *Call) {
		key := fmt.Sprintf("%d/%d", session, c.Index)
		if was, ok := into[key]; ok {
			t.Fatalf("call %s settled twice: %s, %s", key, was, dumpCall(c))
		}
		into[key] = dumpCall(c)
	}
}

func checkStep(t testing.TB, s Step) {
	t.Helper()
	if len(s.Calls) != len(s.Messages) {
		t.Fatalf("%d calls for %d messages", len(s.Calls), len(s.Messages))
	}
	for i, c := range s.Calls {
		if c != nil && c.Index != s.Messages[i].Call {
			t.Fatalf("message of call %d shows call %d", s.Messages[i].Call, c.Index)
		}
	}
}

// dump renders all of a snapshot.
func dump(s *Snapshot) string {
	var b bytes.Buffer
	for _, part := range []any{s.Header, s.Stats, s.Gaps, s.Catalog, s.MoreGaps} {
		text, err := json.Marshal(part)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	for _, m := range s.Messages.All() {
		fmt.Fprintf(&b, "%+v\n", m)
	}
	for _, c := range s.Calls.All() {
		b.WriteString(dumpCall(&c))
		b.WriteByte('\n')
	}
	return b.String()
}

func dumpCall(c *Call) string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// checkSums compares counts with what the lists hold.
func checkSums(t testing.TB, s *Snapshot) {
	t.Helper()
	var errored, pending, late, unmatched int
	for _, c := range s.Calls.All() {
		if c.Errored {
			errored++
		}
		if c.Dir == capture.C2S && c.State == StatePending {
			pending++
		}
		if c.Late {
			late++
		}
	}
	var bad int
	for _, m := range s.Messages.All() {
		switch m.Outcome {
		case OutcomeBad:
			bad++
		case OutcomeError, OutcomeUnmatched:
			if m.Call < 0 {
				unmatched++ // at most: results that match nothing are no errors
			}
		case OutcomeEarly:
			t.Fatalf("seq %d is still early", m.Ref.Seq)
		}
	}
	c := &s.Counts
	if c.Pending != pending || c.Late != late || c.Invalid != bad || c.Errors < errored || c.Errors > errored+unmatched {
		t.Fatalf("counts %+v; in the lists: errored %d, unmatched %d, pending %d, late %d, bad %d", *c, errored, unmatched, pending, late, bad)
	}
	if c.Calls != s.Calls.Len() || c.Requests != c.Calls+c.Retries {
		t.Fatalf("counts %+v, %d calls", *c, s.Calls.Len())
	}
}

// checkTraces compares what is told of traces with the calls in the list.
func checkTraces(t testing.TB, s *Snapshot) {
	t.Helper()
	calls, errors, requests, responses := map[tracectx.TraceID]int{}, map[tracectx.TraceID]int{}, 0, 0
	for _, c := range s.Calls.All() {
		if c.Trace == (tracectx.TraceID{}) != (c.Span == tracectx.SpanID{}) || !c.Traced() && c.Also != nil {
			t.Fatalf("call %d: trace %s, span %s, also %s", c.Index, c.Trace, c.Span, c.Also)
		}
		for _, id := range append([]tracectx.TraceID{c.Trace}, c.Also...) {
			calls[id]++
			if c.Errored {
				errors[id]++
			}
		}
	}
	delete(calls, tracectx.TraceID{})
	for i := range s.Traces {
		in := &s.Traces[i]
		requests, responses = requests+in.Requests, responses+in.Responses
		if in.Calls != calls[in.ID] || in.Errors > errors[in.ID] || in.Calls == 0 || in.Requests == 0 {
			t.Fatalf("trace %s: %+v; in the list %d calls, %d errors", in.ID, *in, calls[in.ID], errors[in.ID])
		}
		if in.Last.Wall.Before(in.First.Wall) || in.First.Wall.Before(s.First.Wall) || in.Last.Wall.After(s.Last.Wall) {
			t.Fatalf("trace %s lasts from %s to %s, its session from %s to %s", in.ID, in.First.Wall, in.Last.Wall, s.First.Wall, s.Last.Wall)
		}
		delete(calls, in.ID)
	}
	if len(calls) > 0 && s.MoreTraced == 0 {
		t.Fatalf("traces of calls that are not told of: %v", calls)
	}
	if requests > s.Counts.Requests || responses > s.Counts.Responses {
		t.Fatalf("traces have %d requests and %d responses of %+v", requests, responses, s.Counts)
	}
}

// checkSettled compares the calls of a list with what they were when they settled:
// only further answers, and answers to calls that had been let go of, may differ.
func checkSettled(t testing.TB, session int, s *Snapshot, settled map[string]string) {
	t.Helper()
	for i, c := range s.Calls.All() {
		was := settled[fmt.Sprintf("%d/%d", session, i)]
		c.Repeats = 0
		if now := dumpCall(&c); now != was && !c.Let {
			t.Fatalf("call %d:\nlist    %s\nsettled %s", i, now, was)
		}
	}
}

// checkEmpty makes sure that nothing is held of a session that has ended.
func checkEmpty(t testing.TB, s *conversation) {
	t.Helper()
	for name, n := range map[string]int{
		"live": s.calls.live.n, "linger": s.calls.linger.n, "open": len(s.calls.open), "by id": len(s.calls.byID),
		"tokens": len(s.progress.open), "by state": len(s.retries.byState), "by input": len(s.retries.byInput),
		"tasks": len(s.tasks.byID), "groups": len(s.http.groups), "early": len(s.early.held), "early bytes": s.early.bytes,
	} {
		if n != 0 {
			t.Fatalf("%s: %d left at the end", name, n)
		}
	}
}
