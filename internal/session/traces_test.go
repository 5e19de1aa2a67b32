package session

import (
	"fmt"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
)

const (
	traceA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	traceB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// parent writes params with a traceparent.
func parent(version, trace, span, flags string) string {
	return fmt.Sprintf(`{"name":"x","_meta":{"traceparent":"%s-%s-%s-%s"}}`, version, trace, span, flags)
}

func traced(trace string) string { return parent("00", trace, "00f067aa0ba902b7", "01") }

// tellTraces describes the traces of a session, times in milliseconds.
func tellTraces(h *Header) string {
	var b strings.Builder
	for i := range h.Traces {
		in := &h.Traces[i]
		fmt.Fprintf(&b, "%s calls=%d requests=%d responses=%d errors=%d %d-%d\n", in.ID.String()[:1], in.Calls, in.Requests, in.Responses, in.Errors,
			in.First.Wall.Sub(epoch).Milliseconds(), in.Last.Wall.Sub(epoch).Milliseconds())
	}
	return b.String()
}

func TestTraces(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"none", `> ask 1 tools/call {"name":"x"}
			< ok 1 {}`, ""},
		{"one, and what carries none", `> ask 1 initialize {}
			< ok 1 {}
			> ask 2 tools/call ` + traced(traceA) + `
			! log line
			< ok 2 {"content":[],"isError":true}
			> ask 3 ping {}
			< ok 3 {}`, "a calls=1 requests=1 responses=1 errors=1 3-5\n"},
		{"two that overlap", `> ask 1 tools/call ` + traced(traceA) + `
			> ask 2 tools/call ` + traced(traceB) + `
			> ask 3 tools/call ` + traced(traceA) + `
			< err 1 -32000 boom
			< ok 2 {}`, "a calls=2 requests=2 responses=1 errors=1 1-4\nb calls=1 requests=1 responses=1 errors=0 2-5\n"},
		{"asked by the server", `> ask 1 tools/call ` + traced(traceA) + `
			< ask 1 sampling/createMessage ` + traced(traceB) + `
			> ok 1 {}
			< ok 1 {}`, "a calls=1 requests=1 responses=1 errors=0 1-4\nb calls=1 requests=1 responses=1 errors=0 2-3\n"},
		{"a retry goes on in its trace", `> ask 1 tools/call ` + traced(traceA) + `
			< ok 1 {"resultType":"input_required","inputRequests":{"city":{}},"requestState":"s"}
			> ask 2 tools/call {"name":"x","inputResponses":{"city":{}},"requestState":"s"}
			< ok 2 {}`, "a calls=1 requests=2 responses=2 errors=0 1-4\n"},
		{"a retry in another", `> ask 1 tools/call ` + traced(traceA) + `
			< ok 1 {"resultType":"input_required","inputRequests":{"city":{}},"requestState":"s"}
			> ask 2 tools/call {"name":"x","inputResponses":{"city":{}},"requestState":"s","_meta":{"traceparent":"00-` + traceB + `-00f067aa0ba902b7-00"}}
			< err 2 -32000 boom`, "a calls=1 requests=1 responses=1 errors=0 1-2\nb calls=1 requests=1 responses=1 errors=1 3-4\n"},
		{"cancelled and late", `> ask 1 tools/call ` + traced(traceA) + `
			> note notifications/cancelled {"requestId":1}
			< ok 1 {}`, "a calls=1 requests=1 responses=1 errors=0 1-3\n"},
		{"an answer before its request", `all nomono
			< ok 1 {}
			> ask 1 tools/call ` + traced(traceA), "a calls=1 requests=1 responses=1 errors=0 1-2\n"},
		{"notifications and answers carry none", `> note notifications/x ` + traced(traceA) + `
			> ask 1 ping {}
			< ok 1 ` + traced(traceA), ""},
		{"of no string", `> ask 1 tools/call {"_meta":{"traceparent":7}}
			> ask 2 tools/call {"_meta":{"traceparent":null}}
			> ask 3 tools/call {"_meta":"traceparent"}
			> ask 4 tools/call {"traceparent":"00-` + traceA + `-00f067aa0ba902b7-01"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := replay(t, script(t, c.log))
			if h := r.Header(0); tellTraces(&h) != c.want {
				t.Errorf("got\n%swant\n%s", tellTraces(&h), c.want)
			}
		})
	}
}

func TestInvalidTraceparents(t *testing.T) {
	for name, params := range map[string]string{
		"version ff":              parent("ff", traceA, "00f067aa0ba902b7", "01"),
		"version of no hex":       parent("0x", traceA, "00f067aa0ba902b7", "01"),
		"upper case":              parent("00", strings.ToUpper(traceA), "00f067aa0ba902b7", "01"),
		"trace of zeros":          parent("00", strings.Repeat("0", 32), "00f067aa0ba902b7", "01"),
		"span of zeros":           parent("00", traceA, strings.Repeat("0", 16), "01"),
		"54 characters":           parent("00", traceA, "00f067aa0ba902b7", "0"),
		"56 characters":           parent("00", traceA, "00f067aa0ba902b7", "011"),
		"more behind version 00":  parent("00", traceA, "00f067aa0ba902b7", "01-xx"),
		"version 01, no hyphen":   parent("01", traceA, "00f067aa0ba902b7", "01xx"),
		"blank before":            parent(" 00", traceA, "00f067aa0ba902b7", "01"),
		"empty":                   `{"_meta":{"traceparent":""}}`,
		"tracestate alone":        `{"_meta":{"tracestate":"a=1"}}`,
		"of the header's own key": `{"_meta":{"Traceparent":"00-` + traceA + `-00f067aa0ba902b7-01"}}`,
	} {
		r := replay(t, script(t, "> ask 1 tools/call "+params+"\n< ok 1 {}"))
		if h := r.Header(0); len(h.Traces) != 0 || h.MoreTraced != 0 {
			t.Errorf("%s: %s makes trace %s", name, params, tellTraces(&h))
		}
	}
	r := replay(t, script(t, "> ask 1 tools/call "+parent("01", traceA, "00f067aa0ba902b7", "01-xx")))
	if h := r.Header(0); len(h.Traces) != 1 {
		t.Errorf("a later version makes %q", tellTraces(&h))
	}
}

func TestManyTraces(t *testing.T) {
	var log strings.Builder
	for i := range MaxTraces + 3 {
		fmt.Fprintf(&log, "> ask %d tools/call %s\n< ok %d {}\n", i, traced(fmt.Sprintf("%032x", i+1)), i)
	}
	fmt.Fprintf(&log, "> ask 900 tools/call %s\n", traced(fmt.Sprintf("%032x", 5)))
	r := replay(t, script(t, log.String()))
	h := r.Header(0)
	if len(h.Traces) != MaxTraces || h.MoreTraced != 3 || h.Traces[4].Calls != 2 {
		t.Errorf("%d traces, %d requests beyond, the fifth has %d calls", len(h.Traces), h.MoreTraced, h.Traces[4].Calls)
	}
}

// TestTracesCostNothing makes sure that nothing is allocated for what carries no
// traceparent, nor for another call of a trace that is known.
func TestTracesCostNothing(t *testing.T) {
	for name, params := range map[string]string{"without": `{"name":"x"}`, "with": traced(traceA)} {
		frames := script(t, "> ask 1 tools/call "+params+"\n< ok 1 {}")
		r := New(Options{})
		seq := uint64(0)
		both := func() {
			for i := range frames {
				seq++
				frames[i].Seq = seq
				r.Apply(&frames[i], capture.Ref{})
			}
		}
		for range 2000 {
			both()
		}
		if n := testing.AllocsPerRun(500, both); n > 0 {
			t.Errorf("%s a traceparent: %v allocations a call", name, n)
		}
	}
}
