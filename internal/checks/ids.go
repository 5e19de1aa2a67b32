package checks

import (
	"bytes"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/judge"
)

var baseRequestIDType = &judge.Check{
	ID:       "base.request-id-type",
	Title:    "types of request ids",
	Why:      "Peers keep open requests under ids that are strings or integers; any other id is refused, or answered under another.",
	Fix:      "Use a string or an integer for the id.",
	Convicts: "a request whose id is no string and no number that is an integer by its value",
	Exempts:  "the spelling of integers: 1.0 is the integer 1, and only noted",
	On: []judge.On{{Kind: judge.Request, Do: func(e *judge.Event) {
		if e.Msg.Defects&(jsonrpc.BadID|jsonrpc.NullID|jsonrpc.FracID) != 0 {
			e.Badf("id of %s is %s, neither a string nor an integer", quote(e.Method), quoteJSON(e.Msg.ID))
			return
		}
		if e.Msg.ID[0] != '"' && bytes.ContainsAny(e.Msg.ID, ".eE") {
			e.Notef("id of %s is the integer %s, in a spelling that some peers refuse", quote(e.Method), quoteJSON(e.Msg.ID))
		}
		e.OK()
	}}},
}

var baseRequestIDNotNull = &judge.Check{
	ID:       "base.request-id-not-null",
	Title:    "request ids of null",
	Why:      "No answer can be told to belong to a request with the id null: it means that nobody knows whose the answer is.",
	Fix:      "Give the request an id, or leave the member out if it is a notification.",
	Convicts: "a request whose id is null",
	On: []judge.On{{Kind: judge.Request, Do: func(e *judge.Event) {
		if e.Msg.Defects.Has(jsonrpc.NullID) {
			e.Badf("id of %s is null", quote(e.Method))
			return
		}
		e.OK()
	}}},
}

// idBook knows the ids of a session's requests: of both sides, with what was sent under
// them, so that what is delivered again is not taken for something new.
type idBook struct {
	ids    map[uint64]idUse
	epoch  uint16 // counts initialize requests: each begins anew
	forgot bool   // some ids are missing
}

// idUse is small: there is one for each id of a session.
type idUse struct {
	request, answer uint32 // hashes of the last ones
	asked           uint32 // how often
	epoch           uint16
	answered        bool // the last one was, and not just refused by HTTP
}

// maxIDs is how many ids of a session are kept. Beyond, all are forgotten, and answers to
// what is not known convict nobody any more.
const maxIDs = 1 << 16

var baseIDs = &judge.Tracker{
	New: func() any { return &idBook{ids: map[uint64]idUse{}} },
	On: []judge.On{
		{Kind: judge.Request, Do: func(e *judge.Event) {
			book := judge.State[*idBook](e)
			if e.Method == "initialize" && e.From == judge.Client {
				book.epoch++
			}
			key := e.Request.Key()
			use := book.ids[key]
			use.request, use.epoch, use.answered = hashOverHTTP(e), book.epoch, false
			use.asked++
			book.put(key, use)
		}},
		{Kind: judge.Answer, Do: func(e *judge.Event) {
			if e.Request == nil {
				return
			}
			book := judge.State[*idBook](e)
			key := e.Request.Key()
			use := book.ids[key]
			use.answer, use.answered = hashOverHTTP(e), e.Reply == nil || e.Reply.Status/100 == 2
			book.put(key, use)
		}},
		{Kind: judge.Malformed, Do: func(e *judge.Event) {
			if e.Msg != nil && e.Msg.Defects.Has(jsonrpc.RestOfBatch) {
				judge.State[*idBook](e).forgot = true
			}
		}},
	},
}

// hashOverHTTP hashes a message where it may come again: on stdio none does.
func hashOverHTTP(e *judge.Event) uint32 {
	if e.Transport != capture.HTTP {
		return 0
	}
	return uint32(judge.Hash(e.Msg.Root.Text()))
}

func (b *idBook) put(key uint64, use idUse) {
	if makeRoom(b.ids, maxIDs) {
		b.forgot = true
	}
	b.ids[key] = use
}

var baseRequestIDUnique = &judge.Check{
	ID:       "base.request-id-unique",
	Title:    "request ids that were used before",
	Why:      "An answer that comes late is taken for that of another request of the same id.",
	Fix:      "Count ids up for as long as the session lasts.",
	Convicts: "a request under an id that the same side already gave to a request of the session",
	Exempts:  "what HTTP delivers again (the same body, not answered before), sessions that several clients may share, and a new initialize, which begins anew",
	On: []judge.On{{Kind: judge.Request, Do: func(e *judge.Event) {
		if e.Msg.Defects.Has(jsonrpc.NullID) {
			return
		}
		book := judge.Of[*idBook](e, baseIDs)
		use, known := book.ids[e.Request.Key()]
		switch {
		case !known, use.epoch != book.epoch:
			e.OK()
		case !e.OneClient(), e.Method == "initialize" && e.From == judge.Client:
		case e.Transport == capture.HTTP && use.request == hashOverHTTP(e) && (e.From == judge.Server || !use.answered):
		default:
			e.Badf("id %s of %s was used before in this session", quoteJSON(e.Msg.ID), quote(e.Method))
		}
	}}},
}

var baseRequestIDUniqueInFlight = &judge.Check{
	ID:       "base.request-id-unique-in-flight",
	Title:    "request ids that are still in use",
	Why:      "Of two open requests with one id nobody can tell whose the answer is.",
	Fix:      "Give a request an id that no unanswered request has.",
	Convicts: "on stdio, a request under an id that an unanswered request of the same side has",
	Exempts:  "HTTP, where exchanges keep requests apart: there it is noted; captures with frames missing, or whose order does not tell which came first",
	On: []judge.On{{Kind: judge.Request, Do: func(e *judge.Event) {
		if e.Msg.Defects.Has(jsonrpc.NullID) {
			return
		}
		open := e.Open(e.From, e.Msg.ID)
		switch {
		case open == nil:
			e.OK()
		case e.Transport == capture.HTTP:
			e.Notef("id %s of %s is that of an unanswered %s, seq %d", quoteJSON(e.Msg.ID), quote(e.Method), quote(open.Method), open.Seq)
		case e.FromStart() && e.Ordered():
			e.Badf("id %s of %s is that of an unanswered %s, seq %d", quoteJSON(e.Msg.ID), quote(e.Method), quote(open.Method), open.Seq)
		}
	}}},
}
