package session

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcpsnoop/internal/capture"
)

// TestAnyLog folds logs made of whatever peers may say to one another, sensible or
// not, and checks what holds for any log (see replay).
func TestAnyLog(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		frames := anyLog(t, rt)
		replay(rt2tb{t, rt}, frames)
	})
}

// rt2tb lets a helper that wants a testing.TB fail a rapid run.
type rt2tb struct {
	testing.TB
	rt *rapid.T
}

func (r rt2tb) Helper()                           {}
func (r rt2tb) Fatalf(format string, args ...any) { r.rt.Fatalf(format, args...) }
func (r rt2tb) Fatal(args ...any)                 { r.rt.Fatal(args...) }

func anyLog(t testing.TB, rt *rapid.T) []capture.Frame {
	var log strings.Builder
	http := rapid.Bool().Draw(rt, "http")
	nomono := rapid.Bool().Draw(rt, "nomono")
	common := []string{}
	if http {
		common = append(common, "http")
	}
	if nomono {
		common = append(common, "nomono")
	}
	if len(common) > 0 {
		fmt.Fprintf(&log, "all %s\n", strings.Join(common, " "))
	}
	for range rapid.IntRange(1, 60).Draw(rt, "frames") {
		log.WriteString(anyFrame(rt, http))
		log.WriteByte('\n')
	}
	return script(t, log.String())
}

func pickOne(rt *rapid.T, from ...string) string { return rapid.SampledFrom(from).Draw(rt, "pick") }

func anyFrame(rt *rapid.T, http bool) string {
	if rapid.IntRange(0, 30).Draw(rt, "own") == 0 {
		return pickOne(rt, `# clock {"wall_us":1,"mono_us":2}`, `# gap {"lost":2}`, `+3s`, `# end {"exit_code":0}`, `! busy`)
	}
	words := ""
	if http && rapid.IntRange(0, 4).Draw(rt, "facts") == 0 {
		return anyFacts(rt)
	}
	if http {
		words = fmt.Sprintf("x=%d conn=%s", rapid.IntRange(0, 4).Draw(rt, "x"), pickOne(rt, "a", "b"))
		words += pickOne(rt, "", "", " sess=A", " sess=B") + pickOne(rt, "", "", "", " status=400", " status=405", " verb=GET", " kind=http")
	}
	words += pickOne(rt, "", "", "", "", "", " cut", " seq=30", " tap=u-1-00")
	side := pickOne(rt, ">", "<")
	message := anyMessage(rt)
	if rapid.IntRange(0, 12).Draw(rt, "batch") == 0 {
		message = "[" + anyJSON(rt) + "," + anyJSON(rt) + "]"
	}
	if rapid.IntRange(0, 15).Draw(rt, "fragment") == 0 {
		words += " cut"
		message = pickOne(rt, `{"jsonrpc":"2.0","id":1,"result":{"content":[`, `{"result":{"content":["a`, `{"id":2,"method":"tools/call","params":{"name":"x"`, `{"jso`)
	}
	if words = strings.TrimSpace(words); words != "" {
		side += "[" + words + "]"
	}
	return side + " " + message
}

// anyFacts draws frames of HTTP without a message.
func anyFacts(rt *rapid.T) string {
	words := fmt.Sprintf("x=%d conn=%s", rapid.IntRange(0, 4).Draw(rt, "x"), pickOne(rt, "a", "b", "c")) + pickOne(rt, "", "", " sess=A", " sess=B")
	return pickOne(rt,
		"#["+words+" verb=POST path=/mcp] http", "#["+words+" verb=POST path=/post query=s=1] http", "#["+words+" verb=GET path=/mcp] http",
		"#["+words+" verb=GET path=/sse accept=text/event-stream] http", "#["+words+" verb=DELETE path=/mcp] http",
		"#["+words+" endpoint=/post?s=1] http", "#["+words+" status=200] open",
		"#["+words+" by="+pickOne(rt, "client", "server", "upstream", "nobody")+"] close",
		"<["+words+" kind=http status="+pickOne(rt, "202", "401", "405", "502")+"]", "<["+words+" status=500] <html>")
}

func anyJSON(rt *rapid.T) string {
	return pickOne(rt, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"n"}`, `7`, `{}`)
}

// anyTrace draws a _meta with a traceparent: of few traces, and of none.
func anyTrace(rt *rapid.T) string {
	version := pickOne(rt, "00", "00", "00", "01", "ff")
	trace := strings.Repeat(pickOne(rt, "a", "b", "c", "0", "A"), 32)
	return fmt.Sprintf(`,"_meta":{"traceparent":"%s-%s-%s-01"}`, version, trace, strings.Repeat(pickOne(rt, "1", "2", "0"), 16))
}

// anyMessage draws from few ids, tokens, states and tasks, so that they meet.
func anyMessage(rt *rapid.T) string {
	id := pickOne(rt, "1", "2", "3", `"1"`, "null", "1.0")
	token := pickOne(rt, "", anyTrace(rt), anyTrace(rt), `,"_meta":{"progressToken":1}`, `,"_meta":{"progressToken":"p"}`, `,"_meta":{"progressToken":null}`)
	state := pickOne(rt, "", `,"requestState":"s"`, `,"requestState":"t"`)
	name := pickOne(rt, "x", "y")
	task := pickOne(rt, "T", "U")
	status := pickOne(rt, "working", "completed", "failed", "cancelled")
	switch rapid.IntRange(0, 19).Draw(rt, "kind") {
	case 0, 1, 2:
		return fmt.Sprintf(`ask %s tools/call {"name":%q%s}`, id, name, token)
	case 3:
		return fmt.Sprintf(`ask %s tools/call {"name":%q,"inputResponses":{"city":{}}%s%s}`, id, name, state, token)
	case 4:
		return fmt.Sprintf(`ask %s tools/call {"name":%q,"task":{}%s}`, id, name, token)
	case 5:
		return fmt.Sprintf(`ask %s %s {"taskId":%q}`, id, pickOne(rt, "tasks/get", "tasks/result", "tasks/cancel", "tasks/update"), task)
	case 6:
		return fmt.Sprintf(`ask %s %s`, id, pickOne(rt, "initialize", "server/discover", "tools/list", "roots/list", "subscriptions/listen",
			`initialize {"protocolVersion":"2025-06-18","clientInfo":{"name":"c","version":"1"}}`,
			`tools/list {"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`,
			`tools/list {"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"d","version":"1"},"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`))
	case 7, 8, 9:
		return fmt.Sprintf(`ok %s {"content":[],"isError":%s}`, id, pickOne(rt, "true", "false"))
	case 10:
		return fmt.Sprintf(`err %s %s boom`, id, pickOne(rt, "-32601", "-32602", "-32000"))
	case 11, 12:
		return fmt.Sprintf(`ok %s {"resultType":"input_required","inputRequests":{"city":{}}%s}`, id, state)
	case 13:
		return fmt.Sprintf(`ok %s {"task":{"taskId":%q,"status":%q}}`, id, task, status)
	case 14:
		return fmt.Sprintf(`ok %s {"resultType":"task","taskId":%q,"status":%q}`, id, task, status)
	case 15:
		return fmt.Sprintf(`ok %s {"taskId":%q,"status":%q,"result":{"isError":true}}`, id, task, status)
	case 16:
		return fmt.Sprintf(`note notifications/cancelled {"requestId":%s}`, id)
	case 17:
		return fmt.Sprintf(`note notifications/progress {"progressToken":%s,"progress":1}`, pickOne(rt, "1", `"p"`, "null"))
	case 18:
		return fmt.Sprintf(`note notifications/tasks/status {"taskId":%q,"status":%q}`, task, status)
	}
	return pickOne(rt, "garbage", "7", `{"jsonrpc":"2.0","id":1,"error":"x"}`, `{"jsonrpc":"2.0","id":2}`,
		`note notifications/tools/list_changed {"_meta":{"io.modelcontextprotocol/subscriptionId":1}}`)
}
