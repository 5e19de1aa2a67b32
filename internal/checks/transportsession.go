package checks

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var transportSessionIDVisibleAscii = &judge.Check{
	ID:       "transport.session-id-visible-ascii",
	Title:    "characters of session ids",
	Why:      "Other characters do not pass through HTTP libraries and proxies as they are, and the session is lost.",
	Fix:      "Make session ids of visible ASCII, such as a UUID or hexadecimal digits.",
	Convicts: "an Mcp-Session-Id of the server with a character outside 0x21 to 0x7E",
	On: []judge.On{{Kind: judge.Status, From: judge.Server, Do: func(e *judge.Event) {
		id, ok := e.Reply.Header[mcp.SessionHeader]
		if !ok {
			return
		}
		for i := range len(id) {
			if id[i] < 0x21 || id[i] > 0x7e {
				e.Badf("byte 0x%02X at place %d of the Mcp-Session-Id is no visible ASCII", id[i], i+1)
				return
			}
		}
		e.OK()
	}}},
}

var transportSessionIDEchoed = &judge.Check{
	ID:       "transport.session-id-echoed",
	Title:    "session ids that the client sends",
	Why:      "Without its id the server cannot tell to which session a request belongs, and refuses it or serves another.",
	Fix:      "Send the Mcp-Session-Id that came with the answer to initialize with each later request, GET and DELETE too.",
	Convicts: "a request without Mcp-Session-Id after the server gave one out; in a trace also one with an id that was never given out",
	Exempts:  "initialize; requests after the session ended, or after another initialize; requests that may be another client's",
	On: []judge.On{{Kind: judge.Head | judge.Message, From: judge.Client, Do: func(e *judge.Event) {
		w := judge.Of[*wireState](e, wire)
		p := w.request
		if p == nil || len(w.sessions) == 0 || w.overflow || !e.OneClient() {
			return
		}
		id, sent := p.Head(mcp.SessionHeader)
		known := w.session(id)
		switch {
		case !after(e, p, w.sessions[0].first, known != nil):
		case known != nil:
			e.OK()
		case !sent && !p.Complete, id == capture.Redaction, w.again, w.sessions[len(w.sessions)-1].gone.seq != 0:
		case !sent:
			e.BadAt(p.Seq, "no Mcp-Session-Id, though the server gave one out")
		default: // logs of ours have each id in a session of its own
			e.BadAt(p.Seq, "an Mcp-Session-Id that the server did not give out")
		}
	}}},
}

var transportProtocolVersionHeader = &judge.Check{
	ID:       "transport.protocol-version-header",
	Title:    "MCP-Protocol-Version after initialize",
	Why:      "A server that is not told takes the client for one of 2025-03-26, and leaves out what came later.",
	Fix:      "Send MCP-Protocol-Version with the negotiated version with every request after initialize, GET and DELETE too.",
	Convicts: "a request of the session without MCP-Protocol-Version, sent after the answer to initialize came",
	Exempts:  "initialize, requests of another session, HTTP+SSE of 2024-11-05",
	On: []judge.On{{Kind: judge.Head | judge.Message, From: judge.Client, Do: func(e *judge.Event) {
		p := negotiatedRequest(e)
		if p == nil {
			return
		}
		if _, sent := p.Head(mcp.VersionHeader); sent {
			e.OK()
		} else if p.Complete {
			e.BadAtf(p.Seq, "no MCP-Protocol-Version, after %s was negotiated", quote(e.Facts.Version))
		}
	}}},
}

var transportProtocolVersionNegotiated = &judge.Check{
	ID:       "transport.protocol-version-negotiated",
	Title:    "version that requests state",
	Why:      "A server that serves several versions goes by the header: with another than was negotiated both sides speak past each other.",
	Fix:      "Send the version of the answer to initialize, letter by letter.",
	Convicts: "a request of the session whose MCP-Protocol-Version is not the negotiated version",
	Exempts:  "initialize, requests of another session, requests of a revision without handshake, HTTP+SSE of 2024-11-05",
	On: []judge.On{{Kind: judge.Head | judge.Message, From: judge.Client, Do: func(e *judge.Event) {
		p := negotiatedRequest(e)
		if p == nil {
			return
		}
		value, sent := p.Head(mcp.VersionHeader)
		switch {
		case !sent, !e.Pinned() && mcp.PerRequest(mcp.ParseRevision(value)):
		case value == e.Facts.Version:
			e.OK()
		default:
			e.BadAtf(p.Seq, "MCP-Protocol-Version is %s, and %s was negotiated", quote(value), quote(e.Facts.Version))
		}
	}}},
}

// negotiatedRequest returns the HTTP request of an event, if it belongs to a session
// whose version had been negotiated when it was sent.
func negotiatedRequest(e *judge.Event) *judge.Post {
	w := judge.Of[*wireState](e, wire)
	p := w.request
	if p == nil || w.kind != wireStreamable || e.Facts.Version == "" || w.again || !e.OneClient() {
		return nil
	}
	id, named := p.Head(mcp.SessionHeader)
	knows := named && id == e.Facts.SessionID
	if named && e.Facts.SessionID != "" && !knows && id != capture.Redaction {
		return nil
	}
	if !after(e, p, moment{e.Facts.Result, e.Facts.ResultAt}, knows) {
		return nil
	}
	return p
}
