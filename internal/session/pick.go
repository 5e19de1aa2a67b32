package session

import (
	"bytes"

	"mcpsnoop/internal/jsontree"
)

// Methods that the model knows apart.
const (
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
	methodCall       = "tools/call"
	methodListen     = "subscriptions/listen"
	methodTaskResult = "tasks/result"
)

// params is what the model looks at in the params of a request or notification,
// picked in one pass.
type params struct {
	name, uri, cursor, protocol, client, capabilities jsontree.Node
	taskID, task, status, result, error               jsontree.Node
	requestID, reason                                 jsontree.Node
	token, progress, total, message                   jsontree.Node
	state, responses                                  jsontree.Node
	meta                                              meta
}

// meta is what the model looks at in _meta.
type meta struct {
	protocol, client, capabilities, server jsontree.Node
	token, subscription, related           jsontree.Node
	traceparent                            jsontree.Node
}

func pickParams(node jsontree.Node) (p params) {
	for name, v := range node.Members() {
		switch string(name.Bytes()) {
		case "name":
			p.name = v
		case "uri":
			p.uri = v
		case "_meta":
			p.meta = pickMeta(v)
		case "cursor":
			p.cursor = v
		case "protocolVersion":
			p.protocol = v
		case "clientInfo":
			p.client = v
		case "capabilities":
			p.capabilities = v
		case "taskId":
			p.taskID = v
		case "task":
			p.task = v
		case "status":
			p.status = v
		case "result":
			p.result = v
		case "error":
			p.error = v
		case "requestId":
			p.requestID = v
		case "reason":
			p.reason = v
		case "progressToken":
			p.token = v
		case "progress":
			p.progress = v
		case "total":
			p.total = v
		case "message":
			p.message = v
		case "requestState":
			p.state = v
		case "inputResponses":
			p.responses = v
		}
	}
	return p
}

var metaPrefix = []byte("io.modelcontextprotocol/")

func pickMeta(node jsontree.Node) (m meta) {
	for name, v := range node.Members() {
		key := name.Bytes()
		if rest, ok := bytes.CutPrefix(key, metaPrefix); ok {
			switch string(rest) {
			case "protocolVersion":
				m.protocol = v
			case "clientInfo":
				m.client = v
			case "clientCapabilities":
				m.capabilities = v
			case "serverInfo":
				m.server = v
			case "subscriptionId":
				m.subscription = v
			case "related-task":
				m.related = v.Get("taskId")
			}
			continue
		}
		switch string(key) {
		case "progressToken":
			m.token = v
		case "traceparent":
			m.traceparent = v
		}
	}
	return m
}

// result is what the model looks at in a result.
type result struct {
	kind                                         []byte // resultType
	isError                                      bool
	content                                      jsontree.Node
	task, taskID, status, result, error          jsontree.Node
	state, inputs                                jsontree.Node
	protocol, server, capabilities, instructions jsontree.Node
	supported                                    jsontree.Node
	meta                                         meta
}

func pickResult(node jsontree.Node) (r result) {
	for name, v := range node.Members() {
		switch string(name.Bytes()) {
		case "resultType":
			r.kind, _ = v.StrBytes()
		case "isError":
			r.isError, _ = v.Bool()
		case "content":
			r.content = v
		case "_meta":
			r.meta = pickMeta(v)
		case "task":
			r.task = v
		case "taskId":
			r.taskID = v
		case "status":
			r.status = v
		case "result":
			r.result = v
		case "error":
			r.error = v
		case "requestState":
			r.state = v
		case "inputRequests":
			r.inputs = v
		case "protocolVersion":
			r.protocol = v
		case "serverInfo":
			r.server = v
		case "capabilities":
			r.capabilities = v
		case "supportedVersions":
			r.supported = v
		case "instructions":
			r.instructions = v
		}
	}
	return r
}

// present reports whether a member stands there with a value other than null.
func present(n jsontree.Node) bool { return n.Exists() && n.Kind() != jsontree.Null }
