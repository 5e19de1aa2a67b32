package session

import (
	"strings"
	"testing"
)

// TestModel tells, for small logs, what became of each call.
func TestModel(t *testing.T) {
	for _, c := range modelCases {
		t.Run(c.name, func(t *testing.T) {
			r := replay(t, script(t, c.log))
			var got strings.Builder
			for i := range r.Len() {
				s := r.Snapshot(i)
				if s.ID != s.Tap {
					got.WriteString("session " + strings.TrimPrefix(s.ID, s.Tap) + "\n")
				}
				got.WriteString(tell(&s))
			}
			if want := trim(c.want); got.String() != want {
				t.Errorf("got\n%swant\n%s", got.String(), want)
			}
		})
	}
}

// trim takes the indentation off the lines of a literal.
func trim(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

type modelCase struct{ name, log, want string }

var modelCases = []modelCase{
	{"result", `
		> ask 1 tools/call {"name":"x"}
		< ok 1 {"content":[]}
	`, `1 tools/call x: completed 1>2`},
	{"error", `
		> ask 1 tools/list
		< err 1 -32603 boom
	`, `
		1 tools/list: failed 1>2 errored code=-32603 "boom"
		frames: 2 error
		counts: errors=1
	`},
	{"tool error", `
		> ask 1 tools/call {"name":"x"}
		< ok 1 {"content":[{"type":"image"},{"type":"text","text":"no such file"}],"isError":true}
	`, `
		1 tools/call x: completed 1>2 toolerror errored "no such file"
		frames: 2 toolerror
		counts: errors=1
	`},
	{"never answered", `
		> ask 1 tools/list
		! busy
	`, `
		1 tools/list: pending 1>
		counts: pending=1
	`},
	{"id 0 both ways at once", `
		> ask 0 tools/call {"name":"x"}
		< ask 0 roots/list
		> ok 0 {"roots":[]}
		< ok 0 {"content":[]}
	`, `
		0 tools/call x: completed 1>4
		0 roots/list: completed 2>3
	`},
	{"1 is not the text 1, nor 1.0", `
		> ask 1 ping
		> ask "1" ping
		< ok 1.0 {}
		< ok "1" {}
	`, `
		1 ping: pending 1>
		"1" ping: completed 2>4
		frames: 3 unmatched
		counts: pending=1
	`},
	{"escapes do not make another id", `
		> ask "a/b" ping
		< ok "a\/b" {}
	`, `"a/b" ping: completed 1>2`},
	{"null ids: each its own call, none can be answered", `
		> ask null tools/list
		> ask null tools/list
		< ok null {"tools":[]}
	`, `
		null tools/list: pending 1>
		null tools/list: pending 2>
		frames: 3 unmatched
		counts: pending=2
	`},
	{"superseded", `
		> ask 1 tools/call {"name":"a"}
		> ask 1 tools/call {"name":"b"}
		< ok 1 {"content":[]}
		< ok 1 {"content":[]}
	`, `
		1 tools/call a: superseded 1>
		1 tools/call b: completed 2>3 repeats=1
		frames: 2 super, 4 dup
	`},
	{"id used again after its answer", `
		> ask 1 ping
		< ok 1 {}
		> ask 1 ping
		< ok 1 {}
	`, `
		1 ping: completed 1>2
		1 ping: completed 3>4
	`},
	{"superseding a stream leaves nothing pending", `
		> ask 1 subscriptions/listen {"notifications":{}}
		> ask 1 tools/list
		< ok 1 {"tools":[]}
	`, `
		1 subscriptions/listen: superseded 1> ack=0 notes=0
		1 tools/list: completed 2>3
		frames: 1 stream, 2 super
	`},
	{"duplicate answers", `
		> ask 1 tools/list
		< ok 1 {"tools":[]}
		< err 1 -1 twice
		< ok 1 {"tools":[]}
	`, `
		1 tools/list: completed 1>2 repeats=2
		frames: 3 dup, 4 dup
	`},
	{"answers to nothing", `
		< ok 7 {}
		< err 8 -32600 what
		> err 9 -32600 what
	`, `
		frames: 1 unmatched, 2 unmatched, 3 unmatched
		counts: errors=2
	`},
	{"result and error", `
		> ask 1 ping
		< {"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-1,"message":"both"}}
	`, `
		1 ping: failed 1>2 errored code=-1 "both"
		frames: 2 error
		counts: errors=1
	`},
	{"an error of a wrong type answers all the same, and is no message", `
		> ask 1 ping
		< {"jsonrpc":"2.0","id":1,"error":"boom"}
		> ask 2 ping
		< {"jsonrpc":"2.0","id":2,"error":{"code":"E","message":"x"}}
	`, `
		1 ping: failed 1>2 errored
		2 ping: failed 3>4 errored "x"
		frames: 2 bad, 4 bad
		counts: errors=2 invalid=2
	`},
	{"a null result is a result", `
		> ask 1 ping
		< {"jsonrpc":"2.0","id":1,"result":null}
	`, `1 ping: completed 1>2`},
	{"no messages", `
		< hello
		< 7
		< [{"jsonrpc":"2.0","method":"x"}]
		< {"level":"info"}
		< {"jsonrpc":"2.0","id":1}
		> {"id":1}
		<
		! {"jsonrpc":"2.0","id":1,"result":{}}
		< {"method":7}
	`, `
		frames: 1 bad, 2 bad, 3 bad, 4 bad, 6 bad, 9 bad
		counts: invalid=6
	`},
	{"a mark before the message", "< \uFEFF" + `{"jsonrpc":"2.0","method":"x"}`, `
		frames: 1 bad
		counts: invalid=1
	`},
	{"probe refused", `
		> ask 1 server/discover {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}
		< err 1 -32601 Method not found
		> ask 2 server/discover
		< err 2 -32603 broken
	`, `
		1 server/discover: failed 1>2 expected code=-32601 "Method not found"
		2 server/discover: failed 3>4 errored code=-32603 "broken"
		frames: 2 expected, 4 error
		counts: errors=1
	`},
	{"a server's request that the client left open", `
		< ask 0 roots/list
		> ask 1 ping
		# end {"exit_code":0,"frames":3,"dropped":0}
	`, `
		0 roots/list: abandoned 1>
		1 ping: pending 2>
		counts: pending=1
	`},
	{"two taps do not mix", `
		> ask 1 ping
		<[tap=u-1-00] ok 1 {}
		<[tap=t-1-00 seq=2] ok 1 {}
	`, `
		1 ping: completed 1>2
		frames: 1 unmatched
	`},
	{"batch where the revision has batches", `
		> ask 0 initialize {"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
		< ok 0 {"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"1"}}
		> [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"},{"jsonrpc":"2.0","method":"n"}]
		< [{"jsonrpc":"2.0","id":2,"result":{"tools":[]}},{"jsonrpc":"2.0","id":1,"result":{}}]
		< []
	`, `
		0 initialize: completed 1>2
		1 ping: completed 3>4
		2 tools/list: completed 3>4
		frames: 5 bad
		counts: invalid=1
	`},
	{"cut frames", `
		>[cut] {"jsonrpc":"2.0","id":1,"met
		< ok 1 {}
		< ok 1 {}
		<[cut] {"jsonrpc":"2.0","id":1,"met
		> err 1 -1 no
	`, `
		frames: 3 unmatched
		counts: truncated=2
	`},
	{"cut frames that say what they are", `
		>[cut] {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"data":"AAAA
		>[cut] {"method":"tools/call","params":{"name":"y","arguments":[1,{"a":[2,"\"
		< ok 1 {"content":[]}
		> ask 2 tools/call {"name":"z"}
		<[cut] {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"AAAA
		> ask 3 tools/call {"name":"z"}
		<[cut] {"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"boom","data":["AAAA
		> ask 4 tools/call {"name":"a"}
		<[cut] {"result":{"content":[{"type":"text","text":"AAAA
		> ask 5 tools/call {"name":"b"}
		> ask 6 tools/call {"name":"c"}
		<[cut] {"result":{"content":[{"type":"text","text":"AAAA
		<[cut] }}
		<[cut] {}
	`, `
		1 tools/call x: completed 1>3
		2 tools/call z: completed 4>5
		3 tools/call z: failed 6>7 errored code=-1 "boom"
		4 tools/call a: completed 8>9
		5 tools/call b: pending 10>
		6 tools/call c: pending 11>
		frames: 7 error
		counts: errors=1 pending=2 truncated=8
	`},
	{"notifications before the initialize response", `
		> ask 0 initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
		< note notifications/tools/list_changed
		< err 9 -32600 overtakes
		< ok 0 {"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}
	`, `
		0 initialize: completed 1>4
		frames: 3 unmatched
		counts: errors=1
	`},
}
