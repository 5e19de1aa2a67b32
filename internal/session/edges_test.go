package session

import (
	"fmt"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
)

func init() { modelCases = append(modelCases, edgeCases...) }

// edgeCases are corners in which counting goes wrong easily.
var edgeCases = []modelCase{
	{"an error answered again counts once", `
		> ask 1 tools/list
		< err 1 -1 no
		< err 1 -1 no
		< ok 1 {"tools":[]}
		> ask 2 tools/call {"name":"x"}
		< ok 2 {"content":[{"type":"text","text":"bad"}],"isError":true}
		< ok 2 {"content":[{"type":"text","text":"bad"}],"isError":true}
	`, `
		1 tools/list: failed 1>2 errored code=-1 "no" repeats=2
		2 tools/call x: completed 5>6 toolerror errored "bad" repeats=1
		frames: 2 error, 3 dup, 4 dup, 6 toolerror, 7 dup
		counts: errors=2
	`},
	{"a late error answered again counts once", `
		> ask 1 tools/call {"name":"x"}
		> note notifications/cancelled {"requestId":1}
		< err 1 -1 no
		< err 1 -1 no
	`, `
		1 tools/call x: cancelled 1>3 errored late code=-1 "no" cancel=2 repeats=1
		frames: 2 cancel, 3 late, 4 dup
		counts: errors=1 late=1
	`},
	{"an id used by one stream after the other is never pending", `
		> ask 1 subscriptions/listen {"notifications":{}}
		> ask 1 subscriptions/listen {"notifications":{}}
		> note notifications/cancelled {"requestId":1}
		< ok 1 {"resultType":"complete"}
		> ask 1 ping
	`, `
		1 subscriptions/listen: superseded 1> ack=0 notes=0
		1 subscriptions/listen: cancelled 2>4 cancel=3 ack=0 notes=0
		1 ping: pending 5>
		frames: 1 stream, 2 super, 3 cancel
		counts: pending=1
	`},
	{"a text id is cancelled by the text only, a number by the number", `
		> ask "7" tools/call {"name":"text"}
		> ask 7 tools/call {"name":"number"}
		> note notifications/cancelled {"requestId":"7"}
		< ok "7" {"content":[]}
		< ok 7 {"content":[]}
	`, `
		"7" tools/call text: cancelled 1>4 late cancel=3
		7 tools/call number: completed 2>5
		frames: 3 cancel, 4 late
		counts: late=1
	`},
	{"cancelling the request that became a task cancels nothing", `
		> ask 1 tools/call {"name":"x","task":{}}
		< ok 1 {"task":{"taskId":"T","status":"working"}}
		> note notifications/cancelled {"requestId":1}
	`, `
		1 tools/call x: pending 1> task=T:working
		frames: 2 task
		counts: pending=1
	`},
	{"a task that failed without saying why has failed", `
		> ask 1 tools/call {"name":"x","task":{}}
		< ok 1 {"task":{"taskId":"T","status":"working"}}
		> ask 2 tasks/get {"taskId":"T"}
		< ok 2 {"taskId":"T","status":"failed"}
		> ask 3 tools/call {"name":"y"}
		< ok 3 {"resultType":"task","taskId":"U","status":"working"}
		< note notifications/tasks {"taskId":"U","status":"failed"}
	`, `
		1 tools/call x: failed 1>4 errored task=T:failed
		2 tasks/get: completed 3>4 taskof=0 task=T:failed
		3 tools/call y: failed 5>7 errored task=U:failed
		frames: 2 task, 4 error, 6 task, 7 error
		counts: errors=2
	`},
	{"a task cancelled by a notification is no error", `
		> ask 1 tools/call {"name":"x"}
		< ok 1 {"resultType":"task","taskId":"T","status":"working"}
		< note notifications/tasks {"taskId":"T","status":"cancelled"}
	`, `
		1 tools/call x: failed 1>3 task=T:cancelled
		frames: 2 task, 3 cancel
	`},
	{"asked four times by input alone, with a call of the same tool between", `
		> ask 1 tools/call {"name":"x"}
		< ok 1 ` + asks + `}
		> ask 2 tools/call {"name":"x","inputResponses":{"city":{}}}
		> ask 9 tools/call {"name":"x"}
		< ok 9 {"content":[]}
		< ok 2 ` + asks + `}
		> ask 3 tools/call {"name":"x","inputResponses":{"city":{}}}
		< ok 3 ` + asks + `}
		> ask 4 tools/call {"name":"x","inputResponses":{"city":{}}}
		< ok 4 {"content":[],"isError":true}
	`, `
		1 tools/call x: completed 1>10 toolerror errored leg0=1:1>2 leg1=2:3>6 link=2 echo=0 leg2=3:7>8 link=2 echo=0 leg3=4:9>10 link=2 echo=0
		9 tools/call x: completed 4>5
		frames: 2 input, 6 input, 8 input, 10 toolerror
		counts: errors=1 retries=3
	`},
}

// TestLateList: what a list says is known, though nobody waited for it any more.
func TestLateList(t *testing.T) {
	s := replay(t, script(t, `
		> ask 1 tools/list
		< ok 1 {"tools":[{"name":"old"}]}
		> ask 2 tools/list
		> note notifications/cancelled {"requestId":2}
		< ok 2 {"tools":[{"name":"a"},{"name":"b"}]}
		< ok 2 {"tools":[{"name":"never"}]}
	`)).Snapshot(0)
	var names []string
	for _, i := range s.Catalog.Tools.Items {
		names = append(names, i.Name)
	}
	if got := strings.Join(names, " "); got != "a b" || !s.Catalog.Tools.Complete {
		t.Errorf("tools %s, complete %v", got, s.Catalog.Tools.Complete)
	}
	if s.Counts.Late != 1 || s.Counts.Pending != 0 {
		t.Errorf("counts %+v", s.Counts)
	}
}

// TestFirstSource: what a side said of itself in a better place is not overwritten.
func TestFirstSource(t *testing.T) {
	const body = `"supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"prompts":{}},"serverInfo":{"name":"body"}`
	for _, c := range []struct{ name, log, want string }{
		{"a version asked for beats the versions offered", `
			> ask 1 server/discover {"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}
			< ok 1 {` + body + `}
		`, `body {"prompts":{}} 2025-11-25`},
		{"the handshake beats what is discovered", `
			> ask 0 initialize {"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
			< ok 0 {"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}
			> ask 1 server/discover
			< ok 1 {` + body + `,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"meta"}}}
		`, `s {"tools":{}} 2025-06-18`},
		{"_meta beats the body, whichever came first", `
			> ask 1 tools/list {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}
			< ok 1 {"tools":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"meta"}}}
			> ask 2 server/discover {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}
			< ok 2 {` + body + `}
		`, `meta {"prompts":{}} 2026-07-28`},
		{"late, it is known all the same", `
			> ask 0 initialize {"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
			> note notifications/cancelled {"requestId":0}
			< ok 0 {"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}
		`, `s {"tools":{}} 2025-06-18`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := replay(t, script(t, c.log)).Header(0)
			if got := fmt.Sprintf("%s %s %s", h.Server.Name, h.Server.Capabilities, h.RevisionText); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestCutLog: a log cut after any of its bytes gives what the frames before the cut
// give, and at most one torn line.
func TestCutLog(t *testing.T) {
	frames := script(t, `
		# start {"command":["s"],"cwd":"/"}
		> ask 1 tools/call {"name":"x"}
		! busy
		< ok 1 {"content":[]}
	`)
	var log []byte
	var ends []int
	for i := range frames {
		log = capture.AppendFrame(log, &frames[i])
		ends = append(ends, len(log))
	}
	for cut := range len(log) + 1 {
		whole := 0
		for whole < len(ends) && cut >= ends[whole]-1 { // the newline may be missing
			whole++
		}
		want, got := New(Options{}), New(Options{})
		for i := range frames[:whole] {
			want.Apply(&frames[i], capture.Ref{})
		}
		want.Finish()
		if err := Fold(capture.NewReader(strings.NewReader(string(log[:cut])), capture.ReaderOptions{}), got, nil); err != nil {
			t.Fatal(err)
		}
		torn := 0
		if whole < len(ends) && cut > 0 && (whole == 0 || cut > ends[whole-1]) {
			torn = 1
		}
		if got.Len() != want.Len() {
			t.Fatalf("cut at %d: %d sessions, want %d", cut, got.Len(), want.Len())
		}
		if whole == 0 {
			continue
		}
		a, b := got.Header(0).Counts, want.Header(0).Counts
		if b.Torn = torn; a != b {
			t.Fatalf("cut at %d:\ngot  %+v\nwant %+v", cut, a, b)
		}
	}
}
