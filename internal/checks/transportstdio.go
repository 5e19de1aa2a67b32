package checks

import (
	"bytes"
	"fmt"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var transportStdioServerOutputValid = &judge.Check{
	ID:       "transport.stdio-server-output-valid",
	Title:    "lines on the server's standard output",
	Why:      "Clients read standard output as protocol, line by line: a banner, a log line or a stray print breaks some of them and is lost in others.",
	Fix:      "Write everything but messages to standard error; look for libraries that print, and for wrappers that change the encoding.",
	Convicts: "a line of standard output that is not one JSON-RPC message",
	Exempts:  "blank lines, and a last line that the end of the stream cut off",
	On:       []judge.On{{Kind: judge.Message, From: judge.Server, Do: validLine}},
}

var transportStdioClientInputValid = &judge.Check{
	ID:       "transport.stdio-client-input-valid",
	Title:    "lines on the server's standard input",
	Why:      "A server that cannot read a line may answer with an error that fits no request, or stop.",
	Fix:      "Write one JSON-RPC message a line, as JSON without raw line breaks, in UTF-8.",
	Convicts: "a line of standard input that is not one JSON-RPC message",
	Exempts:  "blank lines, and a last line that the end of the stream cut off",
	On:       []judge.On{{Kind: judge.Message, From: judge.Client, Do: validLine}},
}

func validLine(e *judge.Event) {
	switch {
	case e.Transport != capture.Stdio:
	case e.Kind != judge.Malformed:
		e.OK()
	case e.Frame.EOL == capture.NoEOL:
		e.Note("the stream ended inside a line that is no message so far: " + malformed(e))
	default:
		e.Bad(malformed(e))
	}
}

// malformed says why something is no message.
func malformed(e *judge.Event) string {
	text := e.Frame.Payload
	if e.Msg == nil {
		switch {
		case bytes.HasPrefix(text, []byte("\ufeff")):
			return "a byte-order mark (U+FEFF) stands before the message"
		case bytes.IndexByte(text, 0) >= 0:
			return "no JSON: it holds NUL bytes, as text in UTF-16 does"
		}
		return fmt.Sprintf("no JSON-RPC message: %s", quote(text))
	}
	m := e.Msg
	switch root := m.Root.Kind(); {
	case m.Element >= 0, m.Defects.Has(jsonrpc.EmptyBatch), e.Frame.Flags&capture.Batch != 0:
		return "an array where one message belongs"
	case root != jsontree.Object:
		return fmt.Sprintf("no object, and so no message: %s", quoteJSON(text))
	case m.Root.Get("method").Exists():
		return "method is no string"
	case m.Result.Exists():
		return "both result and error are there"
	}
	return "none of method, result and error is there"
}

var transportClientNoResponses = &judge.Check{
	ID:       "transport.client-no-responses",
	Title:    "answers sent by the client",
	Why:      "In this revision a server asks for input inside a result, and has no request open that an answer could be for.",
	Fix:      "Give the input with a retry of the request (inputResponses), and send nothing but requests and notifications.",
	Convicts: "a result or an error with an id that the client sends",
	Exempts:  "sessions with a handshake, and HTTP requests that do not name this revision",
	On: []judge.On{{Kind: judge.Message, From: judge.Client, Do: func(e *judge.Event) {
		if !e.Pinned() && !modernAlone(e) {
			return
		}
		if e.Kind&judge.Answer != 0 && e.Msg.ID != nil {
			e.Badf("the client sends an answer, for id %s; servers of this revision ask nothing", quoteJSON(e.Msg.ID))
			return
		}
		e.OK()
	}}},
}

// modernAlone reports whether a message belongs to a session without handshake for
// certain: it shows it itself over HTTP, or nothing else was ever spoken over stdio.
func modernAlone(e *judge.Event) bool {
	if e.Transport == capture.HTTP {
		return e.Post != nil && e.Post.Header[mcp.VersionHeader] == e.Revision.String()
	}
	return e.FromStart() && e.Facts.Phase == judge.BeforeInitialize
}

var transportNoIndependentServerRequests = &judge.Check{
	ID:       "transport.no-independent-server-requests",
	Title:    "requests sent by the server",
	Why:      "Clients of this revision do not listen for requests: nobody will answer, and what waits for the answer hangs.",
	Fix:      "Ask for input in a result of type input_required.",
	Convicts: "a request with an id that the server sends",
	Exempts:  "sessions with a handshake, and streams that belong to no request of this revision",
	On: []judge.On{{Kind: judge.Message, From: judge.Server, Do: func(e *judge.Event) {
		switch {
		case !e.Pinned() && e.Transport == capture.Stdio && !modernAlone(e):
		case !e.Pinned() && e.Transport == capture.HTTP && (e.Post == nil || len(e.Post.Requests) == 0):
		case e.Kind == judge.Request && string(e.Msg.ID) != "null":
			e.Badf("the server sends a request itself: %s, id %s", quote(e.Method), quoteJSON(e.Msg.ID))
		default:
			e.OK()
		}
	}}},
}
