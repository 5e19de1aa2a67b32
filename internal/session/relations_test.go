package session

func init() {
	for _, cases := range [][]modelCase{cancelCases, progressCases, retryCases, taskCases, streamCases, earlyCases, httpCases} {
		modelCases = append(modelCases, cases...)
	}
}

var cancelCases = []modelCase{
	{"cancelled, no answer", `
		> ask 1 tools/call {"name":"x"}
		> note notifications/cancelled {"requestId":1,"reason":"timeout"}
	`, `
		1 tools/call x: cancelled 1> cancel=2
		frames: 2 cancel
	`},
	{"cancelled, answer on its way", `
		> ask "a" tools/call {"name":"x"}
		> note notifications/cancelled {"requestId":"a"}
		< ok "a" {"content":[]}
		< ok "a" {"content":[]}
	`, `
		"a" tools/call x: cancelled 1>3 late cancel=2 repeats=1
		frames: 2 cancel, 3 late, 4 dup
		counts: late=1
	`},
	{"a late error is an error, once", `
		> ask 1 tools/call {"name":"x"}
		> note notifications/cancelled {"requestId":1}
		< err 1 -32000 gave up
		> ask 2 tools/call {"name":"x"}
		> note notifications/cancelled {"requestId":2}
		< ok 2 {"content":[{"type":"text","text":"no"}],"isError":true}
	`, `
		1 tools/call x: cancelled 1>3 errored late code=-32000 "gave up" cancel=2
		2 tools/call x: cancelled 4>6 toolerror errored late "no" cancel=5
		frames: 2 cancel, 3 late, 5 cancel, 6 late
		counts: errors=2 late=2
	`},
	{"the answer was faster", `
		> ask 1 tools/call {"name":"x"}
		< ok 1 {"content":[]}
		> note notifications/cancelled {"requestId":1}
	`, `1 tools/call x: completed 1>2`},
	{"cancels that name nothing of their sender's", `
		> ask 1 tools/call {"name":"x"}
		< note notifications/cancelled {"requestId":1}
		> note notifications/cancelled {"requestId":"1"}
		> note notifications/cancelled {"requestId":null}
		> note notifications/cancelled {}
		> note notifications/cancelled {"requestId":7}
		< ok 1 {"content":[]}
	`, `1 tools/call x: completed 1>7`},
	{"cancelled twice", `
		> ask 1 tools/call {"name":"x"}
		> note notifications/cancelled {"requestId":1,"reason":"a"}
		> note notifications/cancelled {"requestId":1,"reason":"b"}
	`, `
		1 tools/call x: cancelled 1> cancel=2
		frames: 2 cancel
	`},
	{"the server gives up what it asked", `
		< ask 1 sampling/createMessage {}
		< note notifications/cancelled {"requestId":1}
		> ok 1 {}
	`, `
		1 sampling/createMessage: cancelled 1>3 late cancel=2
		frames: 2 cancel, 3 late
		counts: late=1
	`},
	{"the id of a cancelled call is used again", `
		> ask 1 tools/call {"name":"x"}
		> note notifications/cancelled {"requestId":1}
		> ask 1 tools/call {"name":"y"}
		< ok 1 {"content":[]}
	`, `
		1 tools/call x: cancelled 1> cancel=2
		1 tools/call y: completed 3>4
		frames: 2 cancel
	`},
	{"late tools/list still tells", `
		> ask 1 tools/list
		> note notifications/cancelled {"requestId":1}
		< ok 1 {"tools":[{"name":"x"}]}
	`, `
		1 tools/list: cancelled 1>3 late cancel=2
		frames: 2 cancel, 3 late
		counts: late=1
	`},
}

var progressCases = []modelCase{
	{"number and text are two tokens", `
		> ask 1 tools/call {"name":"x","_meta":{"progressToken":0}}
		> ask 2 tools/call {"name":"y","_meta":{"progressToken":"0"}}
		< note notifications/progress {"progressToken":"0","progress":1,"total":2}
		< note notifications/progress {"progressToken":0,"progress":0.5,"message":"half"}
		< note notifications/progress {"progressToken":0,"progress":1}
		< ok 1 {"content":[]}
		< ok 2 {"content":[]}
	`, `
		1 tools/call x: completed 1>6 progress=1/0×2
		2 tools/call y: completed 2>7 progress=1/2×1
	`},
	{"progress after the answer", `
		> ask 1 tools/call {"name":"x","_meta":{"progressToken":"p"}}
		< ok 1 {"content":[]}
		< note notifications/progress {"progressToken":"p","progress":1}
		> ask 2 tools/call {"name":"x","_meta":{"progressToken":2}}
		< ok 2 {"content":[]}
		< note notifications/progress {"progressToken":2,"progress":1}
	`, `
		1 tools/call x: completed 1>2
		2 tools/call x: completed 4>5
		frames: 3 stale, 6 stale
	`},
	{"no token, null, or one nobody sent", `
		> ask 1 tools/call {"name":"x"}
		< note notifications/progress {"progressToken":null,"progress":1}
		< note notifications/progress {"progress":1}
		< note notifications/progress {"progressToken":1,"progress":1}
		< ok 1 {"content":[]}
	`, `1 tools/call x: completed 1>5`},
	{"a token used again after its call", `
		> ask 1 tools/call {"name":"x","_meta":{"progressToken":"p"}}
		< ok 1 {"content":[]}
		> ask 2 tools/call {"name":"y","_meta":{"progressToken":"p"}}
		< note notifications/progress {"progressToken":"p","progress":1}
		< ok 2 {"content":[]}
	`, `
		1 tools/call x: completed 1>2
		2 tools/call y: completed 3>5 progress=1/0×1
	`},
	{"each side has its own tokens", `
		> ask 1 tools/call {"name":"x","_meta":{"progressToken":5}}
		< ask 1 sampling/createMessage {"_meta":{"progressToken":5}}
		> note notifications/progress {"progressToken":5,"progress":7}
		> ok 1 {}
		< ok 1 {"content":[]}
	`, `
		1 tools/call x: completed 1>5
		1 sampling/createMessage: completed 2>4 progress=7/0×1
	`},
	{"progress of a cancelled call", `
		> ask 1 tools/call {"name":"x","_meta":{"progressToken":1}}
		> note notifications/cancelled {"requestId":1}
		< note notifications/progress {"progressToken":1,"progress":7}
	`, `
		1 tools/call x: cancelled 1> cancel=2
		frames: 2 cancel, 3 stale
	`},
}

const asks = `{"resultType":"input_required","inputRequests":{"city":{"method":"elicitation/create"}}`

var retryCases = []modelCase{
	{"by state", `
		> ask 1 tools/call {"name":"x","_meta":{"progressToken":"p"}}
		< ok 1 ` + asks + `,"requestState":"s1"}
		+2s
		> ask 2 tools/call {"name":"x","requestState":"s1","inputResponses":{"city":{}},"_meta":{"progressToken":"p"}}
		< note notifications/progress {"progressToken":"p","progress":1}
		< ok 2 ` + asks + `,"requestState":"s2"}
		> ask 3 tools/call {"name":"x","requestState":"s2","inputResponses":{"city":{}}}
		< ok 3 {"resultType":"complete","content":[]}
		< ok 1 {"content":[]}
	`, `
		1 tools/call x: completed 1>7 repeats=1 progress=1/0×1 leg0=1:1>2 leg1=2:3>5 link=1 echo=1 leg2=3:6>7 link=1 echo=1
		frames: 2 input, 5 input, 8 dup
		counts: retries=2
	`},
	{"by input", `
		> ask 1 prompts/get {"name":"x"}
		< ok 1 ` + asks + `}
		> ask 2 prompts/get {"name":"x","inputResponses":{"city":{}}}
		< err 2 -32602 no
	`, `
		1 prompts/get x: failed 1>4 errored code=-32602 "no" leg0=1:1>2 leg1=2:3>4 link=2 echo=0
		frames: 2 input, 4 error
		counts: errors=1 retries=1
	`},
	{"state changed, missing, invented", `
		> ask 1 tools/call {"name":"a"}
		< ok 1 ` + asks + `,"requestState":"s"}
		> ask 2 tools/call {"name":"a","requestState":"t","inputResponses":{"city":{}}}
		< ok 2 {"content":[]}
		> ask 3 tools/call {"name":"b"}
		< ok 3 ` + asks + `,"requestState":"s"}
		> ask 4 tools/call {"name":"b","inputResponses":{"city":{}}}
		< ok 4 {"content":[]}
		> ask 5 tools/call {"name":"c"}
		< ok 5 ` + asks + `}
		> ask 6 tools/call {"name":"c","requestState":"u","inputResponses":{"city":{}}}
		< ok 6 {"content":[]}
	`, `
		1 tools/call a: completed 1>4 leg0=1:1>2 leg1=2:3>4 link=2 echo=2
		3 tools/call b: completed 5>8 leg0=3:5>6 leg1=4:7>8 link=2 echo=3
		5 tools/call c: completed 9>12 leg0=5:9>10 leg1=6:11>12 link=2 echo=4
		frames: 2 input, 6 input, 10 input
		counts: retries=3
	`},
	{"two fit: no link", `
		> ask 1 tools/call {"name":"x"}
		> ask 2 tools/call {"name":"x"}
		< ok 1 ` + asks + `}
		< ok 2 ` + asks + `}
		> ask 3 tools/call {"name":"x","inputResponses":{"city":{}}}
		< ok 3 {"content":[]}
	`, `
		1 tools/call x: abandoned 1> leg0=1:1>3
		2 tools/call x: abandoned 2> leg0=2:2>4
		3 tools/call x: completed 5>6
		frames: 3 input, 4 input
	`},
	{"one state, two tools", `
		> ask 1 tools/call {"name":"x"}
		> ask 2 tools/call {"name":"y"}
		< ok 1 ` + asks + `,"requestState":"s"}
		< ok 2 ` + asks + `,"requestState":"s"}
		> ask 3 tools/call {"name":"y","inputResponses":{"city":{}},"requestState":"s"}
		< ok 3 {"content":[]}
	`, `
		1 tools/call x: abandoned 1> leg0=1:1>3
		2 tools/call y: completed 2>6 leg0=2:2>4 leg1=3:5>6 link=1 echo=1
		frames: 3 input, 4 input
		counts: retries=1
	`},
	{"other inputs answered, other tool: no link", `
		> ask 1 tools/call {"name":"x"}
		< ok 1 ` + asks + `}
		> ask 2 tools/call {"name":"x","inputResponses":{"town":{}}}
		> ask 3 tools/call {"name":"y","inputResponses":{"city":{}}}
		> ask 4 tools/call {"name":"x"}
		< ok 2 {"content":[]}
		< ok 3 {"content":[]}
		< ok 4 {"content":[]}
	`, `
		1 tools/call x: abandoned 1> leg0=1:1>2
		2 tools/call x: completed 3>6
		3 tools/call y: completed 4>7
		4 tools/call x: completed 5>8
		frames: 2 input
	`},
	{"state alone, no inputs", `
		> ask 1 resources/read {"uri":"a:b"}
		< ok 1 {"resultType":"input_required","requestState":"s"}
		> ask 2 resources/read {"uri":"a:b","requestState":"s"}
		< ok 2 {"contents":[]}
	`, `
		1 resources/read a:b: completed 1>4 leg0=1:1>2 leg1=2:3>4 link=1 echo=1
		frames: 2 input
		counts: retries=1
	`},
	{"a retry is cancelled", `
		> ask 1 tools/call {"name":"x"}
		< ok 1 ` + asks + `}
		> ask 2 tools/call {"name":"x","inputResponses":{"city":{}}}
		> note notifications/cancelled {"requestId":2}
	`, `
		1 tools/call x: cancelled 1> cancel=4 leg0=1:1>2 leg1=2:3>0 link=2 echo=0
		frames: 2 input, 4 cancel
		counts: retries=1
	`},
	{"a retry that waits for its answer is pending", `
		> ask 1 tools/call {"name":"x"}
		< ok 1 ` + asks + `}
		> ask 2 tools/call {"name":"x","inputResponses":{"city":{}}}
	`, `
		1 tools/call x: pending 1> leg0=1:1>2 leg1=2:3>0 link=2 echo=0
		frames: 2 input
		counts: pending=1 retries=1
	`},
}

var taskCases = []modelCase{
	{"core task", `
		> ask 1 tools/call {"name":"x","task":{}}
		< ok 1 {"task":{"taskId":"T","status":"working"}}
		> note notifications/cancelled {"requestId":1}
		> ask 2 tasks/get {"taskId":"T"}
		< ok 2 {"taskId":"T","status":"working"}
		< note notifications/tasks/status {"taskId":"T","status":"completed"}
		> ask 3 tasks/result {"taskId":"T"}
		< ok 3 {"content":[]}
		< ok 1 {"content":[]}
	`, `
		1 tools/call x: completed 1>8 repeats=1 task=T:completed
		2 tasks/get: completed 4>5 taskof=0 task=T:working
		3 tasks/result: completed 7>8 taskof=0 task=T:
		frames: 2 task, 9 dup
	`},
	{"the result comes before any word of the end", `
		> ask 1 tools/call {"name":"x","task":{}}
		< ok 1 {"task":{"taskId":"T","status":"working"}}
		> ask 2 tasks/result {"taskId":"T"}
		< ok 2 {"content":[{"type":"text","text":"bad"}],"isError":true}
	`, `
		1 tools/call x: completed 1>4 toolerror errored "bad" task=T:working
		2 tasks/result: completed 3>4 taskof=0 task=T:
		frames: 2 task, 4 toolerror
		counts: errors=1
	`},
	{"failed, and its error fetched: one error", `
		> ask 1 tools/call {"name":"x","task":{}}
		< ok 1 {"task":{"taskId":"T","status":"working"}}
		> ask 2 tasks/get {"taskId":"T"}
		< ok 2 {"taskId":"T","status":"failed"}
		> ask 3 tasks/result {"taskId":"T"}
		< err 3 -32000 boom
	`, `
		1 tools/call x: failed 1>4 errored code=-32000 "boom" task=T:failed
		2 tasks/get: completed 3>4 taskof=0 task=T:failed
		3 tasks/result: failed 5>6 code=-32000 "boom" taskof=0 task=T:
		frames: 2 task, 4 error, 6 error
		counts: errors=1
	`},
	{"cancelled: failed, but no error", `
		> ask 1 tools/call {"name":"x","task":{}}
		< ok 1 {"task":{"taskId":"T","status":"working"}}
		> ask 2 tasks/cancel {"taskId":"T"}
		< ok 2 {"taskId":"T","status":"cancelled"}
	`, `
		1 tools/call x: failed 1>4 task=T:cancelled
		2 tasks/cancel: completed 3>4 taskof=0 task=T:cancelled
		frames: 2 task
	`},
	{"the extension: the server decides, the result comes with the status", `
		> ask 1 tools/call {"name":"x"}
		< ok 1 {"resultType":"task","taskId":"T","status":"working"}
		> ask 2 tasks/update {"taskId":"T","inputResponses":{}}
		< ok 2 {"resultType":"complete"}
		> ask 3 tasks/get {"taskId":"T"}
		< ok 3 {"resultType":"complete","taskId":"T","status":"completed","result":{"content":[{"type":"text","text":"no"}],"isError":true}}
	`, `
		1 tools/call x: completed 1>6 toolerror errored "no" task=T:completed
		2 tasks/update: completed 3>4 taskof=0 task=T:
		3 tasks/get: completed 5>6 taskof=0 task=T:completed
		frames: 2 task, 6 toolerror
		counts: errors=1
	`},
	{"the extension: failed with its error", `
		> ask 1 tools/call {"name":"x"}
		< ok 1 {"resultType":"task","taskId":"T","status":"working"}
		< note notifications/tasks {"taskId":"T","status":"failed","error":{"code":-32603,"message":"boom"}}
	`, `
		1 tools/call x: failed 1>3 errored code=-32603 "boom" task=T:failed
		frames: 2 task, 3 error
		counts: errors=1
	`},
	{"a task that never ends is pending", `
		> ask 1 tools/call {"name":"x","task":{}}
		< ok 1 {"task":{"taskId":"T","status":"working"}}
	`, `
		1 tools/call x: pending 1> task=T:working
		frames: 2 task
		counts: pending=1
	`},
	{"an unknown task is an error of who asks for it", `
		> ask 1 tasks/result {"taskId":"U"}
		< err 1 -32602 unknown
	`, `
		1 tasks/result: failed 1>2 errored code=-32602 "unknown" task=U:
		frames: 2 error
		counts: errors=1
	`},
	{"a task ignored is a plain answer", `
		> ask 1 tools/call {"name":"x","task":{}}
		< ok 1 {"content":[]}
	`, `1 tools/call x: completed 1>2`},
	{"asked within a task", `
		> ask 1 tools/call {"name":"x","task":{}}
		< ok 1 {"task":{"taskId":"T","status":"working"}}
		< ask 1 elicitation/create {"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"T"}}}
		> ok 1 {"action":"accept"}
	`, `
		1 tools/call x: pending 1> task=T:working
		1 elicitation/create: completed 3>4 within=0
		frames: 2 task
		counts: pending=1
	`},
}

var streamCases = []modelCase{
	{"open to the end", `
		> ask "l" subscriptions/listen {"notifications":{"toolsListChanged":true}}
		< note notifications/subscriptions/acknowledged {"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}
		< note notifications/tools/list_changed {"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}
	`, `
		"l" subscriptions/listen: streaming 1> ack=2 notes=2
		frames: 1 stream
	`},
	{"cancelled, then ended: neither late nor twice", `
		> ask 1 subscriptions/listen {"notifications":{}}
		> note notifications/cancelled {"requestId":1}
		< ok 1 {"resultType":"complete"}
	`, `
		1 subscriptions/listen: cancelled 1>3 cancel=2 ack=0 notes=0
		frames: 1 stream, 2 cancel
	`},
	{"ended by the server", `
		> ask 1 subscriptions/listen {"notifications":{}}
		< note notifications/cancelled {"requestId":1}
		> ask 2 subscriptions/listen {"notifications":{}}
		< ok 2 {"resultType":"complete"}
		> ask 3 subscriptions/listen {"notifications":{}}
		< err 3 -32601 no
	`, `
		1 subscriptions/listen: cancelled 1> cancel=2 ack=0 notes=0
		2 subscriptions/listen: completed 3>4 ack=0 notes=0
		3 subscriptions/listen: failed 5>6 errored code=-32601 "no" ack=0 notes=0
		frames: 1 stream, 2 cancel, 3 stream, 5 stream, 6 error
		counts: errors=1
	`},
}

var earlyCases = []modelCase{
	{"answers before their requests", `
		all nomono
		< ok 0 {"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}
		! busy
		> ask 0 initialize {"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
		< err 1 -32602 no
		> ask 1 tools/call {"name":"x"}
		> ok 0 {"roots":[]}
		< ask 0 roots/list
	`, `
		0 initialize: completed 3>1
		1 tools/call x: failed 5>4 errored code=-32602 "no"
		0 roots/list: completed 7>6
		frames: 4 error
		counts: errors=1
	`},
	{"an early answer that asks for input", `
		all nomono
		< ok 1 ` + asks + `}
		> ask 1 tools/call {"name":"x"}
		< ok 2 {"content":[]}
		> ask 2 tools/call {"name":"x","inputResponses":{"city":{}}}
	`, `
		1 tools/call x: completed 2>3 leg0=1:2>1 leg1=2:4>3 link=2 echo=0
		frames: 1 input
		counts: retries=1
	`},
	{"an early answer whose request never comes", `
		all nomono
		< err 5 -1 lost
		> ask 1 ping
		< ok 1 {}
		< ok 1 {}
	`, `
		1 ping: completed 2>3 repeats=1
		frames: 1 unmatched, 4 dup
		counts: errors=1
	`},
	{"an id used again, and its answer early", `
		all nomono
		> ask 1 ping
		< ok 1 {}
		< ok 1 {}
		> ask 1 ping
	`, `
		1 ping: completed 1>2
		1 ping: completed 4>3
	`},
	{"too early is too early", `
		all nomono
		< ok 5 {}
		+3s
		> ask 5 ping
	`, `
		5 ping: pending 2>
		frames: 1 unmatched
		counts: pending=1
	`},
	{"recorders that number first do not get that grace", `
		< ok 5 {}
		> ask 5 ping
	`, `
		5 ping: pending 2>
		frames: 1 unmatched
		counts: pending=1
	`},
}

var httpCases = []modelCase{
	{"two clients of one proxy: ids by exchange, session, connection", `
		all http
		>[x=1 conn=a] ask 1 tools/list
		>[x=2 conn=b] ask 1 tools/list
		<[x=2 conn=b status=200] ok 1 {"tools":[]}
		<[x=1 conn=a status=200] err 1 -1 no
		>[sess=A conn=c] ask 2 ping
		>[sess=B conn=c] ask 2 ping
		<[sess=B conn=d] ok 2 {}
		<[sess=A conn=d] ok 2 {}
		>[conn=e] ask 3 ping
		>[conn=f] ask 3 ping
		<[conn=f] ok 3 {}
		<[conn=e] ok 3 {}
	`, `
		session .1
		1 tools/list: failed 1>4 errored code=-1 "no"
		3 ping: completed 9>12
		frames: 4 error
		counts: errors=1
		session .2
		1 tools/list: completed 2>3
		3 ping: completed 10>11
		session .3
		2 ping: completed 5>8
		session .4
		2 ping: completed 6>7
	`},
	{"answered on another connection: the only one there is, within its session", `
		all http
		<[conn=a sess=A] ask 1 roots/list
		>[conn=b sess=B] ok 1 {}
		>[conn=c sess=A] ok 1 {}
		<[conn=a] ask 2 roots/list
		>[conn=b] ok 2 {}
	`, `
		session .1
		1 roots/list: completed 1>3
		2 roots/list: completed 4>5
		session .2
		frames: 2 unmatched
	`},
	{"refused by a status without a body", `
		all http
		>[x=1 conn=a verb=POST] ask 1 initialize {"protocolVersion":"2025-06-18"}
		<[x=1 conn=a status=401]
		>[x=2 conn=a] note notifications/initialized
		<[x=2 conn=a status=500] <html>oops</html>
		<[x=2 conn=a status=500] <html>oops</html>
		>[conn=b] ask 2 ping
		<[conn=b status=503]
	`, `
		1 initialize: failed 1>2 errored status=401
		2 ping: failed 6>7 errored status=503
		frames: 2 error, 4 error, 5 error, 7 error
		counts: errors=3
	`},
	{"refused by an error that names no request", `
		all http
		>[x=1] ask 1 initialize {"protocolVersion":"2025-06-18"}
		<[x=1 status=406] err "server-error" -32600 both types
		>[x=2] ask 2 ping
		<[x=2 status=400] err null -32000 no session
	`, `
		1 initialize: failed 1>2 errored code=-32600 "both types" status=406
		2 ping: failed 3>4 errored code=-32000 "no session" status=400
		frames: 2 unmatched, 4 error
		counts: errors=2
	`},
	{"head first, then the error in the body: one error", `
		all http
		>[x=1] ask 1 tools/call {"name":"x"}
		<[x=1 status=400 kind=http]
		<[x=1 status=400] err 1 -32020 header
		>[x=2] ask 2 server/discover
		<[x=2 status=400 kind=http]
		<[x=2 status=400] err 2 -32022 version
	`, `
		1 tools/call x: failed 1>2 errored code=-32020 "header" status=400
		2 server/discover: failed 4>5 expected code=-32022 "version" status=400
		frames: 2 error, 3 error, 5 expected, 6 expected
		counts: errors=1
	`},
	{"405 to GET and DELETE is provided for", `
		all http
		>[x=1 verb=GET kind=http]
		<[x=1 status=405 kind=http]
		#[x=2 verb=DELETE] http
		<[x=2 status=405]
		>[x=3] ask 1 ping
		<[x=3 status=405]
		<[conn=z status=405]
	`, `
		1 ping: failed 5>6 errored status=405
		frames: 2 expected, 4 expected, 6 error, 7 expected
		counts: errors=1
	`},
	{"a GET that is answered otherwise", `
		all http
		>[x=1 verb=GET kind=http]
		>[x=2] ask 1 tools/list
		<[x=2 status=200] ok 1 {"tools":[]}
		<[x=1 status=502 kind=http]
		>[x=3 verb=GET kind=http]
		<[x=3 status=200] {"resource":"metadata, no message"}
		>[x=4 verb=POST] nonsense
	`, `
		1 tools/list: completed 2>3
		frames: 4 error, 7 bad
		counts: errors=1 invalid=1
	`},
	{"a batch in one frame, whatever the revision", `
		all http
		>[x=1] [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]
		<[x=1] [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]
		>[x=2] [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]
		<[x=2 status=503]
	`, `
		1 ping: completed 1>2
		2 ping: completed 1>2
		1 ping: failed 3>4 errored status=503
		2 ping: failed 3>4 status=503
		frames: 4 error
		counts: errors=1
	`},
	{"tokens of two clients", `
		all http
		>[x=1 conn=a sess=A] ask 1 tools/call {"name":"x","_meta":{"progressToken":1}}
		>[x=2 conn=b sess=B] ask 1 tools/call {"name":"y","_meta":{"progressToken":1}}
		<[x=1 conn=a sess=A] note notifications/progress {"progressToken":1,"progress":3}
		<[x=2 conn=b sess=B] note notifications/progress {"progressToken":1,"progress":4}
		<[x=1 conn=a sess=A] ask 9 roots/list
		>[x=3 conn=a sess=A] ok 9 {}
		<[x=1 conn=a sess=A] ok 1 {"content":[]}
		<[x=2 conn=b sess=B] ok 1 {"content":[]}
	`, `
		session .1
		1 tools/call x: completed 1>7 progress=3/0×1
		9 roots/list: completed 5>6 within=0
		session .2
		1 tools/call y: completed 2>8 progress=4/0×1
	`},
	{"null ids over http are refused by their exchange", `
		all http
		>[x=1] ask null tools/list
		<[x=1 status=400]
	`, `
		null tools/list: failed 1>2 errored status=400
		frames: 2 error
		counts: errors=1
	`},
}
