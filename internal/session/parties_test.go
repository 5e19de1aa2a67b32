package session

import (
	"fmt"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
)

// hello is an initialize, meta what a message of 2026-07-28 says of its client.
func hello(client string) string {
	return fmt.Sprintf(`initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}`, client)
}

func meta26(client, more string) string {
	return fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"}%s}`, client, more)
}

const welcome = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`

// partyCases tell which frames, by seq, belong to which session, and what is left to say.
var partyCases = []struct{ name, log, want string }{
	{"two clients by session id: heads, bodies, streams, ids and tokens alike", `
		all http
		# start {"listen":"127.0.0.1:1"}
		#[x=1 conn=a verb=POST path=/mcp] http
		#[x=2 conn=b verb=POST path=/mcp] http
		>[x=2 conn=b verb=POST path=/mcp] ask 1 ` + hello("c") + `
		>[x=1 conn=a verb=POST path=/mcp] ask 1 ` + hello("c") + `
		<[x=1 conn=a sess=A status=200] ok 1 ` + welcome + `
		<[x=2 conn=b sess=B status=200] ok 1 ` + welcome + `
		#[x=3 conn=a sess=A verb=POST path=/mcp] http
		#[x=4 conn=c sess=B verb=POST path=/mcp] http
		>[x=3 conn=a sess=A verb=POST path=/mcp] ask 2 tools/call {"name":"x","_meta":{"progressToken":1}}
		>[x=4 conn=c sess=B verb=POST path=/mcp] ask 2 tools/call {"name":"y","_meta":{"progressToken":1}}
		#[x=3 conn=a sess=A status=200] open
		#[x=4 conn=c sess=B status=200] open
		<[x=4 conn=c sess=B status=200 sse=1] note notifications/progress {"progressToken":1,"progress":4}
		<[x=3 conn=a sess=A status=200 sse=1] note notifications/progress {"progressToken":1,"progress":3}
		<[x=3 conn=a sess=A status=200 sse=2] ok 2 {"content":[]}
		<[x=4 conn=c sess=B status=200 sse=2] ok 2 {"content":[]}
		#[x=3 conn=a sess=A by=server] close
		#[x=4 conn=c sess=B by=server] close
	`, `
		.1: 1 3 4 7 9 11 13 14 17 19; 2 calls
		.2: 2> 5 6 8 10 12 15 16 18; 2 calls
	`},
	{"one client over many connections: its session id", `
		all http
		>[x=1 conn=a] ask 0 ` + hello("c") + `
		<[x=1 conn=a sess=A status=200] ok 0 ` + welcome + `
		#[x=2 conn=b sess=A verb=GET path=/mcp] http
		<[x=2 conn=b sess=A sse=1 status=200] ask 7 roots/list
		>[x=3 conn=c sess=A] ok 7 {"roots":[]}
		<[x=3 conn=c status=202 kind=http]
		#[x=4 conn=d sess=A verb=DELETE path=/mcp] http
		<[x=4 conn=d sess=A status=204 kind=http]
	`, `.1: 1 2 3 4 5 6 7 8; 2 calls`},
	{"without session ids: by the initialize", `
		all http
		>[x=1 conn=a] ask 0 ` + hello("c") + `
		<[x=1 conn=a status=200] ok 0 ` + welcome + `
		>[x=2 conn=b] note notifications/initialized
		<[x=2 conn=b status=202 kind=http]
		>[x=3 conn=c] ask 0 ` + hello("c") + `
		<[x=3 conn=c status=200] ok 0 ` + welcome + `
		>[x=4 conn=d] note notifications/initialized
		>[x=5 conn=b] ask 1 ping
		>[x=6 conn=d] ask 1 ping
		<[x=6 conn=d status=200] ok 1 {}
		<[x=5 conn=b status=200] ok 1 {}
		>[x=7 conn=e] ask 2 ping
		<[x=7 conn=e status=200] ok 2 {}
	`, `
		.1: 1 2 3 4 8 11 12 13; 3 calls
		.2: 5 6 7 9 10; 2 calls
	`},
	{"stateless: by declared client, then by connection", `
		all http
		>[x=1 conn=a] ask 1 server/discover {` + meta26("c", "") + `}
		<[x=1 conn=a status=200] ok 1 {}
		>[x=2 conn=b] ask 1 server/discover {` + meta26("c", "") + `}
		<[x=2 conn=b status=200] ok 1 {}
		>[x=3 conn=c] ask 1 server/discover {` + meta26("other", "") + `}
		>[x=4 conn=a] ask 2 tools/list {` + meta26("c", "") + `}
		>[x=5 conn=d] ask 3 tools/list {` + meta26("c", "") + `}
		>[x=6 conn=b] ask 2 tools/list {` + meta26("c", "") + `}
		>[x=7 conn=a] ask 2 tools/list {` + meta26("other", "") + `}
		>[x=8 conn=e] note notifications/cancelled {` + meta26("other", "") + `,"requestId":2}
	`, `
		.1: 1 2 6 7; 3 calls; 2 pending
		.2: 3 4 8; 2 calls; 1 pending
		.3: 5 9 10; 2 calls; 1 pending
	`},
	{"a client that gives every request one id is one", `
		all http
		>[x=1 conn=a] ask 1 tools/list {` + meta26("c", "") + `}
		<[x=1 conn=a status=200] ok 1 {"tools":[]}
		>[x=2 conn=b] ask 1 tools/call {"name":"x",` + meta26("c", "") + `}
		<[x=2 conn=b status=200] ok 1 {"content":[]}
	`, `.1: 1 2 3 4; 2 calls`},
	{"an authorization chain stays together", `
		all http
		# start {"listen":"127.0.0.1:1"}
		#[x=1 conn=a verb=POST path=/mcp] http
		>[x=1 conn=a verb=POST path=/mcp] ask 0 ` + hello("c") + `
		<[x=1 conn=a status=401 kind=http]
		#[x=2 conn=b verb=POST path=/mcp] http
		>[x=2 conn=b verb=POST path=/mcp] ask 0 ` + hello("d") + `
		<[x=2 conn=b sess=D status=200] ok 0 ` + welcome + `
		#[x=3 conn=c verb=GET path=/.well-known/oauth-protected-resource/mcp] http
		<[x=3 conn=c status=404 kind=http]
		#[x=4 conn=c verb=GET path=/.well-known/oauth-protected-resource] http
		<[x=4 conn=c status=200] {"resource":"x"}
		#[x=5 conn=c verb=POST path=/register] http
		>[x=5 conn=c verb=POST path=/register] {"client_name":"c"}
		<[x=5 conn=c status=201] {"client_id":"7"}
		#[x=6 conn=c verb=POST path=/token] http
		>[x=6 conn=c verb=POST path=/token] grant_type=x&code=y
		<[x=6 conn=c status=200] {"access_token":"z"}
		#[x=7 conn=e verb=POST path=/mcp] http
		>[x=7 conn=e verb=POST path=/mcp] ask 0 ` + hello("c") + `
		<[x=7 conn=e sess=C status=200] ok 0 ` + welcome + `
	`, `
		.1: 1 2 3 4 8 9 10 11 12 13 14 15 16 17 18 19 20; 2 calls; 2 errors
		.2: 5> 6 7; 1 calls
	`},
	{"HTTP+SSE: a stream, and posts to where it sends them", `
		all http
		#[x=1 conn=a verb=GET path=/sse accept=text/event-stream] http
		#[x=1 conn=a status=200] open
		#[x=1 conn=a endpoint=http://h/messages?sessionId=1] http
		#[x=2 conn=b verb=GET path=/sse accept=text/event-stream] http
		#[x=2 conn=b endpoint=/messages?sessionId=2] http
		#[x=3 conn=c verb=POST path=/messages query=sessionId=2] http
		>[x=3 conn=c verb=POST path=/messages query=sessionId=2] ask 0 ` + hello("c") + `
		<[x=3 conn=c status=202 kind=http]
		>[x=4 conn=c verb=POST path=/messages query=sessionId=1] ask 0 ` + hello("c") + `
		<[x=1 conn=a status=200 sse=1] ok 0 ` + welcome + `
		<[x=2 conn=b status=200 sse=1] ok 0 ` + welcome + `
		#[x=2 conn=b by=client] close
	`, `
		.1: 1 2 3 9 10; 1 calls
		.2: 4 5 6 7 8 11 12; 1 calls
	`},
	{"a session id that a server gives out again is the newer session's", `
		all http
		>[x=1 conn=a] ask 0 ` + hello("c") + `
		<[x=1 conn=a sess=1 status=200] ok 0 ` + welcome + `
		>[x=2 conn=b] ask 0 ` + hello("c") + `
		<[x=2 conn=b sess=1 status=200] ok 0 ` + welcome + `
		>[x=3 conn=a sess=1] ask 1 ping
		<[x=3 conn=a status=200] ok 1 {}
	`, `
		.1: 1 2; 1 calls
		.2: 3 4 5 6; 2 calls
	`},
	{"a log that begins in the middle", `
		all http
		<[x=7 conn=a sess=A status=200] ok 3 {}
		>[x=8 conn=b sess=B] ask 9 ping
		#[x=9 conn=a sess=A verb=POST path=/mcp] http
		<[x=8 conn=b status=200] ok 9 {}
	`, `
		.1: 1 3; 0 calls
		.2: 2 4; 1 calls
	`},
	{"what comes before the first message need be none, where it is not sent to the target's path", `
		all http
		# start {"target":"http://h/mcp"}
		>[x=1 conn=c verb=POST path=/register] {"client_name":"c"}
		<[x=1 conn=c status=201] {"client_id":"7"}
		>[x=2 conn=c verb=POST path=/mcp] {"odd":1}
		>[x=3 conn=c verb=POST path=/] {"odd":1}
		>[x=4 conn=c verb=POST path=/mcp] ask 0 ` + hello("c") + `
	`, `
		.1: 1 2 3 4 5; 0 calls; 2 invalid
		.2: 6; 1 calls; 1 pending
	`},
	{"nothing to tell anybody by", `
		all http
		> ask 0 ` + hello("c") + `
		< ok 0 ` + welcome + `
		> ask 1 ` + hello("d") + `
		< err 1 -32600 twice
	`, `.1: 1 2 3 4; 2 calls; 1 errors`},
}

// TestParties tells sessions apart. A head that was given to another by guess at first
// stands as 5>.
func TestParties(t *testing.T) {
	for _, c := range partyCases {
		t.Run(c.name, func(t *testing.T) {
			frames := script(t, c.log)
			replay(t, frames)
			moved := map[int64]bool{}
			session := make([]int, len(frames))
			r := New(Options{Moved: func(ref capture.Ref, _, to int) { session[ref.Offset], moved[ref.Offset] = to, true }})
			for i := range frames {
				session[i] = r.Apply(&frames[i], capture.Ref{Offset: int64(i)}).Session
			}
			r.Finish()
			lines := map[int][]string{}
			for i, s := range session {
				word := fmt.Sprint(frames[i].Seq)
				if moved[int64(i)] {
					word += ">"
				}
				lines[s] = append(lines[s], word)
			}
			var got strings.Builder
			for i := range r.Len() {
				n := r.Header(i).Counts
				fmt.Fprintf(&got, ".%d:", i+1)
				for _, word := range lines[i] {
					fmt.Fprintf(&got, " %s", word)
				}
				fmt.Fprintf(&got, "; %d calls", n.Calls)
				for name, n := range map[string]int{"pending": n.Pending, "errors": n.Errors, "invalid": n.Invalid} {
					if n > 0 {
						fmt.Fprintf(&got, "; %d %s", n, name)
					}
				}
				got.WriteByte('\n')
			}
			if want := trim(c.want); got.String() != want {
				t.Errorf("got\n%swant\n%s", got.String(), want)
			}
		})
	}
}
