package export

import (
	"fmt"
	"strings"
	"testing"

	"mcpsnoop/internal/tracectx"
)

// TestScope exports one trace of a session that has two: in a batch, by turns, with a
// retry that goes from one to the other.
func TestScope(t *testing.T) {
	const a, b = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	ask := func(id int, name, trace string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"_meta":{"traceparent":"00-%s-00f067aa0ba902b7-01"}}}`, id, name, trace)
	}
	ok := func(id int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"of":%d}}`, id, id)
	}
	log := newTape("t-1-00", "t").
		c2s(0, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","clientInfo":{"name":"c","version":"1"},"capabilities":{}}}`).
		s2c(.1, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{}}}`).
		c2s(1, "["+ask(2, "others", a)+","+ask(3, "mine", b)+"]").
		s2c(2, "["+ok(2)+","+ok(3)+"]").
		c2s(3, ask(4, "others-too", a)).
		s2c(4, ok(4)).
		c2s(5, `{"jsonrpc":"2.0","id":5,"method":"ping"}`)
	id, _ := tracectx.ParseTraceID(b)
	text := exported(t, log.String(), asJSON, Options{Trace: id, Run: &Run{ID: "trace:" + b[:12], Sessions: []RunSession{}}})
	c := decoded[Collection](t, text)
	var calls, events []string
	for _, call := range c.Sessions[0].Calls {
		calls = append(calls, call.Method+" "+call.ToolName+string(call.Result))
	}
	for _, e := range c.Events {
		raw := strings.Join(strings.Fields(string(e.Raw)), "")
		events = append(events, fmt.Sprintf("%d %s %v %v", e.Seq, e.Kind, e.SessionWide, strings.Contains(raw, `"id":3`) || strings.Contains(raw, `"of":3`)))
	}
	for i := range calls {
		calls[i] = strings.Join(strings.Fields(calls[i]), "")
	}
	if got, want := strings.Join(calls, "; "), `initialize{"protocolVersion":"2025-03-26","capabilities":{}}; tools/callmine{"of":3}; ping`; got != want {
		t.Errorf("calls %s, want %s", got, want)
	}
	if got, want := strings.Join(events, "; "), "1 meta true false; 2 request true false; 3 response true false; 4 request false true; 5 response false true; 8 request true false"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	if plain := exported(t, log.String(), asText, Options{Trace: id}); strings.Contains(plain, "others") || !strings.Contains(plain, "mine") {
		t.Errorf("text:\n%s", plain)
	}
}
