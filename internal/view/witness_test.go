package view

import (
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
)

// witnessed folds frames and gives the sentence on each call that needs one.
func witnessed(frames ...capture.Frame) map[string]Why {
	said := map[string]Why{}
	var w Witness
	var r *session.Reducer
	r = session.New(session.Options{Settled: func(i int, c *session.Call) {
		h := r.Header(i)
		if why, ok := WhyOf(c, SceneOf(&h), w.Testify(i, c)); ok {
			said[c.ID] = why
		}
	}})
	for i := range frames {
		f := &frames[i]
		f.Tap, f.Label, f.Transport = "s-1-0a", "s", max(f.Transport, capture.Stdio)
		if f.Seq == 0 {
			f.Seq = uint64(i + 1)
		}
		if f.Form == capture.NoPayload && len(f.Payload) > 0 {
			f.Form = capture.Unjudged
			f.Form = capture.Classify(f)
		}
		w.See(f, r.Apply(f, capture.Ref{Seq: f.Seq, Line: int32(i + 1)}))
	}
	r.Finish()
	if left := len(w.exchanges); left > 0 {
		said["left"] = Why{First: "exchanges are remembered for ever"}
	}
	for _, s := range w.sessions {
		if len(s.open) > 0 {
			said["left"] = Why{First: "calls are remembered for ever"}
		}
	}
	return said
}

func frame(second float64, d capture.Dir, payload string) capture.Frame {
	i := at(second)
	return capture.Frame{Time: i.Wall, Mono: i.Mono, Dir: d, Payload: []byte(payload), Size: int64(len(payload) + 1)}
}

func own(second float64, k capture.Kind, payload string) capture.Frame {
	f := frame(second, capture.Meta, payload)
	f.Kind = k
	return f
}

const (
	askA = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`
	ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	pong = `{"jsonrpc":"2.0","id":2,"result":{}}`
)

func TestWitnessOfOtherFrames(t *testing.T) {
	got := witnessed(
		own(0, capture.Start, `{"command":["s"],"cwd":"/","format":1}`),
		frame(1, capture.C2S, askA), frame(2, capture.C2S, ping), frame(3, capture.S2C, pong), frame(3.5, capture.Stderr, "hm"),
		frame(4, capture.S2C, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`),
		own(9, capture.End, `{"exit_code":0}`),
	)["1"]
	if got.First != "never answered: the server sent 2 other frames afterwards" || len(got.Bullets) != 2 ||
		got.Bullets[0] != "the server exited with code 0 at +8.00s" || got.Bullets[1] != "the server was alive meanwhile: stderr at +2.50s" {
		t.Errorf("%+v", got)
	}
}

func TestWitnessOfTheRecord(t *testing.T) {
	lost := frame(5, capture.S2C, pong)
	lost.Seq = 14
	got := witnessed(
		own(0, capture.Start, `{"command":["s"],"cwd":"/","format":1}`),
		frame(1, capture.C2S, askA),
		own(2, capture.Clock, `{"wall_us":28983000000,"mono_us":3000000}`),
		lost,
	)["1"]
	if len(got.Bullets) != 2 || got.Bullets[0] != "the machine slept 8h03m meanwhile, not counted" ||
		got.Bullets[1] != "10 frames are missing from the record since the request: what is looked for may be among them" {
		t.Errorf("%+v", got)
	}
}

func TestWitnessOfACutStream(t *testing.T) {
	http := func(f capture.Frame, exchange uint64, facts capture.HTTPFacts) capture.Frame {
		f.Transport, f.Exchange, f.HTTP = capture.HTTP, exchange, &facts
		return f
	}
	got := witnessed(
		own(0, capture.Start, `{"format":1,"listen":"127.0.0.1:1","target":"http://x/mcp"}`),
		http(frame(1, capture.C2S, askA), 5, capture.HTTPFacts{Verb: "POST", Path: "/mcp"}),
		http(own(1.1, capture.Open, `{}`), 5, capture.HTTPFacts{Status: 200}),
		http(own(126.1, capture.Close, `{}`), 5, capture.HTTPFacts{ClosedBy: "upstream"}),
	)["1"]
	if got.First != "cut: the stream closed after 125s without a byte" || len(got.Bullets) == 0 || got.Bullets[0] != "125s is a known idle limit (60, 125, 300)" {
		t.Errorf("%+v", got)
	}
}

func TestWitnessOfWhatIsAsked(t *testing.T) {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	got := witnessed(
		own(0, capture.Start, `{"command":["s"],"cwd":"/","format":1}`),
		frame(1, capture.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"forecast",`+meta+`}}`),
		frame(2, capture.S2C, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"city":{"method":"elicitation/create"}},"requestState":"s"}}`),
		frame(4.9, capture.Stderr, "waiting"),
	)["1"]
	if got.First != `with the client: asked for "city" 2.90s before it left, no answer came` {
		t.Errorf("%+v", got)
	}
}

func TestWitnessForgetsWhatIsSettled(t *testing.T) {
	got := witnessed(
		frame(1, capture.C2S, askA), frame(2, capture.C2S, ping), frame(3, capture.S2C, pong),
		frame(4, capture.S2C, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`),
		frame(5, capture.S2C, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`),
	)
	if len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// What is told while a log is folded and what is told of a kept session agree.
func TestEvidenceOfAKeptSession(t *testing.T) {
	lost := frame(7, capture.S2C, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	lost.Seq = 14
	frames := []capture.Frame{
		own(0, capture.Start, `{"command":["s"],"cwd":"/","format":1}`),
		frame(1, capture.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}`),
		frame(2, capture.C2S, ping), frame(2.5, capture.Stderr, "hm"), frame(3, capture.S2C, pong),
		frame(4, capture.S2C, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`),
		own(6, capture.Clock, `{"wall_us":28983000000,"mono_us":3000000}`),
		lost,
	}
	end := own(9, capture.End, `{"exit_code":0}`)
	end.Seq = 15
	frames = append(frames, end)
	want := witnessed(frames...)["1"]

	r := session.New(session.Options{Keep: true})
	for i := range frames {
		r.Apply(&frames[i], capture.Ref{Seq: frames[i].Seq, Line: int32(i + 1)})
	}
	r.Finish()
	s := r.Snapshot(0)
	c := s.Calls.At(0)
	got, _ := WhyOf(&c, SceneOf(&s.Header), EvidenceOf(&s, &c))
	if got.First != want.First || strings.Join(got.Bullets, "\n") != strings.Join(want.Bullets, "\n") {
		t.Errorf("kept:\n%+v\nforgotten:\n%+v", got, want)
	}
	if len(got.Bullets) != 5 {
		t.Errorf("%d bullets: %+v", len(got.Bullets), got)
	}
}
