package session

import (
	"fmt"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
)

func init() { modelCases = append(modelCases, closeCases...) }

const v26 = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`

// closeCases: streams that end, bodies that come late, statuses without a message.
var closeCases = []modelCase{
	{"a client that closes the stream cancels, in 2026-07-28", `
		all http
		>[x=1 conn=a] ask 1 tools/call {"name":"x",` + v26 + `}
		#[x=1 conn=a status=200] open
		<[x=1 conn=a status=200 sse=1] note notifications/message {"level":"info","data":"x"}
		+2s
		#[x=1 conn=a by=client] close
		>[x=2 conn=a] ask 2 tools/call {"name":"x",` + v26 + `}
		#[x=2 conn=a by=client] close
		>[x=3 conn=a] ask 3 subscriptions/listen {"notifications":{},` + v26 + `}
		#[x=3 conn=a by=client] close
	`, `
		1 tools/call x: cancelled 1> cancel=4 closed
		2 tools/call x: cancelled 5> cancel=6 closed
		3 subscriptions/listen: cancelled 7> cancel=8 closed ack=0 notes=0
		frames: 7 stream
	`},
	{"an answer all the same is late", `
		all http
		>[x=1 conn=a] ask 1 tools/call {"name":"x",` + v26 + `}
		#[x=1 conn=a by=client] close
		<[x=1 conn=a status=200] ok 1 {"content":[]}
	`, `
		1 tools/call x: cancelled 1>3 late cancel=2 closed
		frames: 3 late
		counts: late=1
	`},
	{"before 2026-07-28 a client may come back", `
		all http
		>[x=1 conn=a sess=A version=2025-11-25] ask 1 tools/call {"name":"x"}
		#[x=1 conn=a sess=A by=client] close
		>[x=2 conn=a sess=A version=2025-11-25] ask 2 tools/call {"name":"y"}
		#[x=2 conn=a sess=A status=200] open
		#[x=2 conn=a sess=A sse=7] http
		+30s
		#[x=2 conn=a sess=A by=server] close
		#[x=3 conn=b sess=A verb=GET] http
		#[x=3 conn=b sess=A status=200] open
		<[x=3 conn=b sess=A status=200 sse=8] ok 2 {"content":[]}
	`, `
		1 tools/call x: pending 1> cut=2:client silent=1ms
		2 tools/call y: completed 3>9 cut=6:server silent=30.001s
		counts: pending=1
	`},
	{"a stream that broke off", `
		all http
		>[x=1 conn=a sess=A version=2025-11-25] ask 1 tools/call {"name":"x"}
		#[x=1 conn=a sess=A status=200] open
		+125s
		#[x=1 conn=a sess=A by=upstream] close
		>[x=2 conn=a] ask 2 tools/call {"name":"x",` + v26 + `}
		#[x=2 conn=a by=server] close
		>[x=3 conn=a] ask 3 ping {` + v26 + `}
		<[x=3 conn=a status=200] ok 3 {}
		#[x=3 conn=a by=upstream] close
		#[x=4 conn=a by=client] close
	`, `
		1 tools/call x: pending 1> cut=3:upstream silent=2m5.001s
		2 tools/call x: pending 4> cut=5:server silent=1ms
		3 ping: completed 6>7
		counts: pending=2
	`},
	{"refused before the body was read", `
		all http
		#[x=1 conn=a verb=POST] http
		<[x=1 conn=a status=401 kind=http]
		>[x=1 conn=a verb=POST] ask 1 initialize {"protocolVersion":"2025-06-18"}
		#[x=2 conn=a verb=POST] http
		<[x=2 conn=a status=400] err null -32000 no session
		>[x=2 conn=a verb=POST] ask 2 tools/list
		#[x=3 conn=a verb=POST] http
		<[x=3 conn=a status=200] ok 3 {}
		>[x=3 conn=a verb=POST] ask 3 ping
		#[x=4 conn=a verb=POST] http
		<[x=4 conn=a status=400] err 4 -32020 header
		>[x=4 conn=a verb=POST] ask 4 ping
		#[x=5 conn=a verb=POST] http
		<[x=5 conn=a status=502 kind=http]
	`, `
		1 initialize: failed 3>2 status=401
		2 tools/list: failed 6>5 status=400
		3 ping: completed 9>8
		4 ping: failed 12>11 errored code=-32020 "header" status=400
		frames: 2 error, 5 unmatched, 11 error, 14 error
		counts: errors=4
	`},
	{"statuses, one error each", `
		all http
		>[x=1] note notifications/initialized
		<[x=1 status=202 kind=http]
		#[x=2 verb=DELETE] http
		<[x=2 status=204 kind=http]
		>[x=3] ask 1 tools/call {"name":"x"}
		<[x=3 status=401 kind=http]
		>[x=4] ask 2 tools/call {"name":"x"}
		<[x=4 status=403] {"error":"foreign origin"}
		>[x=5] ask 3 tools/call {"name":"x"}
		<[x=5 status=404] {"error":{"code":"gone","message":"no"}}
		>[x=6] ask 4 tools/call {"name":"x"}
		<[x=6 status=500] <html>
		>[x=7] ask 5 tools/call {"name":"x"}
		<[x=7 status=502 kind=http]
		>[x=8] ask 6 tools/call {"name":"x"}
		<[x=8 status=500 cut] <html>
		>[x=9] [{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","method":"n"}]
		<[x=9 status=400] {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}
		>[x=10] ok 9 {}
		<[x=10 status=404 kind=http]
	`, `
		1 tools/call x: failed 5>6 errored status=401
		2 tools/call x: failed 7>8 errored status=403
		3 tools/call x: failed 9>10 errored status=404
		4 tools/call x: failed 11>12 errored status=500
		5 tools/call x: failed 13>14 errored status=502
		6 tools/call x: failed 15>16 errored status=500
		7 ping: failed 17>18 errored code=-32600 "no batches" status=400
		frames: 6 error, 8 error, 10 error, 12 error, 14 error, 16 error, 18 error, 19 unmatched, 20 error
		counts: errors=8 truncated=1
	`},
	{"refused before the body, by an error that names another request", `
		all http
		#[x=1 conn=a verb=POST path=/mcp] http
		<[x=1 conn=a status=400] err 7 -32600 whose
		>[x=1 conn=a] ask 1 tools/list
		#[x=2 conn=b verb=POST path=/mcp] http
		<[x=2 conn=b status=400 kind=http]
		<[x=2 conn=b status=400] err 8 -32600 whose
		#[x=3 conn=c verb=POST path=/mcp] http
		<[x=3 conn=c status=400] err 9 -32600 whose
		#[x=4 conn=d verb=POST path=/mcp] http
		<[x=4 conn=d status=400 kind=http]
		<[x=4 conn=d status=400] err 10 -32600 whose
		>[x=4 conn=d] ask 2 tools/list
	`, `
		1 tools/list: failed 3>2 errored code=-32600 "whose" status=400
		2 tools/list: failed 12>11 code=-32600 "whose" status=400
		frames: 2 unmatched, 5 error, 8 unmatched, 10 error, 11 unmatched
		counts: errors=4
	`},
	{"refused probes", `
		all http
		>[x=1] ask 1 server/discover {` + v26 + `}
		<[x=1 status=404 kind=http]
		>[x=2] ask 2 server/discover {` + v26 + `}
		<[x=2 status=400] err null -32000 no session id
		>[x=3] ask 3 server/discover {` + v26 + `}
		<[x=3 status=405] <html>
		>[x=4] ask 4 server/discover {` + v26 + `}
		<[x=4 status=400] err 4 -32020 header
		>[x=5] ask 5 server/discover {` + v26 + `}
		<[x=5 status=401 kind=http]
	`, `
		1 server/discover: failed 1>2 expected status=404
		2 server/discover: failed 3>4 expected code=-32000 "no session id" status=400
		3 server/discover: failed 5>6 expected status=405
		4 server/discover: failed 7>8 errored code=-32020 "header" status=400
		5 server/discover: failed 9>10 errored status=401
		frames: 2 expected, 4 expected, 6 expected, 8 error, 10 error
		counts: errors=2
	`},
	{"batches over http, whole and split", `
		all http
		>[x=1 conn=a sess=A] [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]
		<[x=1 conn=a sess=A status=200 sse=1] ok 2 {}
		<[x=1 conn=a sess=A status=200 sse=2] ok 1 {}
		>[x=2 batch conn=a sess=A] ask 3 ping
		>[x=2 batch conn=a sess=A] ask 4 ping
		<[x=2 batch conn=a sess=A status=200] ok 4 {}
		<[x=2 batch conn=a sess=A status=200] ok 3 {}
		>[batch conn=a] ask 5 ping
		>[batch conn=a] ask 6 ping
		<[batch conn=a status=200] ok 6 {}
		<[batch conn=a status=200] ok 5 {}
		>[x=4 conn=a sess=A] ask 7 ping
		>[x=5 conn=a sess=A] []
		>[batch conn=a] ask 8 ping
		>[batch conn=a] ask 9 ping
		<[conn=a status=503 kind=http]
	`, `
		1 ping: completed 1>3
		2 ping: completed 1>2
		3 ping: completed 4>7
		4 ping: completed 5>6
		5 ping: completed 8>11
		6 ping: completed 9>10
		7 ping: pending 12>
		8 ping: failed 14>16 errored status=503
		9 ping: failed 15>16 status=503
		frames: 13 bad, 16 error
		counts: errors=1 invalid=1 pending=1
	`},
	{"a session that the client deletes abandons what it was asked for", `
		all http
		<[x=1 conn=a sess=A sse=1] ask 1 roots/list
		#[x=2 conn=b sess=A verb=DELETE] http
		<[x=2 conn=b sess=A status=200 kind=http]
		>[x=3 conn=b sess=A] ok 1 {}
	`, `
		1 roots/list: abandoned 1> repeats=1
		frames: 4 dup
	`},
	{"one end for all sessions", `
		all http
		<[x=1 conn=a sess=A] ask 1 roots/list
		<[x=2 conn=b sess=B] ask 1 roots/list
		# end {"exit_code":null,"frames":3,"dropped":0}
		>[x=3 conn=a sess=A] ok 1 {}
	`, `
		session .1
		1 roots/list: abandoned 1> repeats=1
		frames: 4 dup
		session .2
		1 roots/list: abandoned 2>
	`},
	{"null ids and the same id on two connections", `
		all http
		>[conn=a] ask null tools/list
		>[conn=a] ask null tools/list
		>[conn=b] ask 1 subscriptions/listen
		>[conn=a] ask 1 subscriptions/listen
		>[conn=a] ask 1 ping
		<[conn=a status=200] ok 1 {}
	`, `
		null tools/list: pending 1>
		null tools/list: pending 2>
		1 subscriptions/listen: streaming 3> ack=0 notes=0
		1 subscriptions/listen: superseded 4> ack=0 notes=0
		1 ping: completed 5>6
		frames: 3 stream, 4 stream, 5 super
		counts: pending=2
	`},
}

// TestManyStreams: an exchange stays known as long as it is open, however many follow.
func TestManyStreams(t *testing.T) {
	var log strings.Builder
	log.WriteString(`
		all http
		#[x=1 conn=a sess=A verb=GET] http
		#[x=1 conn=a sess=A status=200] open
		>[x=2 conn=b] ask "slow" ping
	`)
	const more = 3 * keepExchanges
	for i := range more {
		fmt.Fprintf(&log, ">[x=%d conn=c sess=C] ask %d ping\n<[x=%[1]d conn=c sess=C status=200] ok %[2]d {}\n", i+3, i)
	}
	log.WriteString(`
		<[x=1] note notifications/message
		<[x=2 status=200] ok "slow" {}
	`)
	r := New(Options{})
	for _, f := range script(t, log.String()) {
		r.Apply(&f, capture.Ref{})
	}
	if n := len(r.sessions[0].tap.parties.exchanges.byNumber); n > keepExchanges+lookExchanges {
		t.Errorf("%d exchanges remembered", n)
	}
	var got []string
	for i := range r.Len() {
		c := r.Header(i).Counts
		got = append(got, fmt.Sprintf("%d calls %d notes %d pending", c.Calls, c.Notifications, c.Pending))
	}
	want := fmt.Sprintf("1 calls 1 notes 0 pending, %d calls 0 notes 0 pending", more)
	if g := strings.Join(got, ", "); g != want {
		t.Errorf("got %s, want %s", g, want)
	}
}
