package checks

import (
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var paginationCursorOpacity = &judge.Check{
	ID:    "pagination.cursor-opacity",
	Title: "cursors that clients send",
	Why:   "A cursor means something to the server alone. One that was made up, changed or kept too long leads to the wrong page, or to an error.",
	Fix:   "Send back nextCursor of the page before as it came, and start without a cursor in a new session.",
	Convicts: "a cursor that is no string, unless the server gave it out like that; up to 2025-11-25, in a session that was recorded from its start, " +
		"a cursor that no earlier result of the same list has as its nextCursor",
	Exempts: "sessions of which a part is missing, was cut or redacted, or whose order is not certain; cursors at 2026-07-28, which clients may keep from earlier sessions: those are notes, unless the revision was pinned",
	On: []judge.On{{Kind: judge.Request, From: judge.Client, Methods: listMethods, Do: func(e *judge.Event) {
		cursor := e.Msg.Params.Get("cursor")
		if !cursor.Exists() {
			return
		}
		l := listsOf(e)
		switch isText := cursor.Kind() == jsontree.String; {
		case l.wasIssued(e.Request):
			e.OK()
		case !isText:
			e.Badf("cursor of %s is no string", e.Method)
		case e.Pinned():
			e.Badf("cursor of %s was not given out by an earlier page in this recording", e.Method)
		case !e.FromStart() || !e.Ordered() || !e.OneClient() || l.forgot || !e.Whole():
		case mcp.HasHandshake(e.Revision):
			e.Badf("cursor of %s was not given out by the server in this session", e.Method)
		case e.Revision != mcp.NoRevision:
			e.Notef("cursor of %s was not given out in this recording; it may have been kept from before", e.Method)
		}
	}}},
}

// unissued keeps with a request that the server never gave out its cursor.
var unissued judge.Slot[bool]

var paginationInvalidCursorRejected = &judge.Check{
	ID:       "pagination.invalid-cursor-rejected",
	Title:    "answers to cursors that the server did not give out",
	Why:      "A server that takes any cursor hides the client's mistake: the client goes on with the wrong page, or with none.",
	Fix:      "Answer a cursor that you cannot read with error -32602.",
	Convicts: "another answer than error -32602 to a cursor that no result of the same list has as its nextCursor, if the revision was pinned",
	Exempts:  "all other recordings, where the cursor may be from an earlier session and good: that is a note; cursors sent while another page of the list was on its way",
	On: []judge.On{
		{Kind: judge.Request, From: judge.Client, Methods: listMethods, Do: func(e *judge.Event) {
			l := listsOf(e)
			if e.Msg.Params.Get("cursor").Kind() == jsontree.String && !l.wasIssued(e.Request) && l.of[listOf(e.Method)].open == 1 {
				unissued.Put(e.Request, true)
			}
		}},
		{Kind: judge.Answer, From: judge.Server, Methods: listMethods, Do: func(e *judge.Event) {
			if odd, _ := unissued.Get(e.Request); !odd {
				return
			}
			code, _ := e.Msg.Error.Get("code").Int()
			switch {
			case code == mcp.InvalidParams:
				e.OK()
			case e.Pinned():
				e.Badf("%s was answered although the server had not given out its cursor in this recording", e.Method)
			default:
				e.Notef("%s was answered with a cursor that the server had not given out in this recording", e.Method)
			}
		}},
	},
}
