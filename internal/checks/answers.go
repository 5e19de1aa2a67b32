package checks

import (
	"fmt"
	"slices"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/judge"
)

var baseResultIDMatches = &judge.Check{
	ID:       "base.result-id-matches",
	Title:    "results answer requests",
	Why:      "A result under an id that nobody waits for is lost, and the call it was meant for stays open.",
	Fix:      "Send a result once for each request, with the id exactly as it came: 1 and \"1\" differ.",
	Convicts: "a result without an id, under one that no request of the other side had, or that was answered before",
	Exempts:  answersExempt,
	New:      newStrayAnswers,
	On: []judge.On{
		{Kind: judge.Result, Do: func(e *judge.Event) {
			switch {
			case e.Msg.ID == nil:
				e.Bad("result has no id")
			case e.Msg.Defects.Has(jsonrpc.NullID):
				e.Bad("result has the id null")
			default:
				answerMatches(e)
			}
		}},
		{Kind: judge.End, Do: strayAnswersLeft},
	},
}

var baseErrorIDMatches = &judge.Check{
	ID:       "base.error-id-matches",
	Title:    "errors answer requests",
	Why:      "An error under an id that nobody waits for is lost, and the call it was meant for stays open.",
	Fix:      "Send an error once for each request, with the id exactly as it came, and without one only if that could not be read.",
	Convicts: "an error under an id that no request of the other side had, or that was answered before",
	Exempts:  "errors without an id or with null; " + answersExempt,
	New:      newStrayAnswers,
	On: []judge.On{
		{Kind: judge.Error, Do: func(e *judge.Event) {
			if e.Msg.ID != nil && !e.Msg.Defects.Has(jsonrpc.NullID) {
				answerMatches(e)
			}
		}},
		{Kind: judge.End, Do: strayAnswersLeft},
	},
}

const answersExempt = "what HTTP delivers again, and, unless the HTTP exchange alone shows it, captures that lack the beginning or frames or may be of several clients; where their order is not certain, the verdict waits for the end"

// strayAnswers are answers to nothing in a log in which a request may still follow its answer.
type strayAnswers struct{ list []strayAnswer }

type strayAnswer struct {
	seq    uint64
	from   judge.Actor
	key    uint64
	asked  uint32
	detail string
}

// maxStrayAnswers is how many of them are kept; further ones convict nobody.
const maxStrayAnswers = 256

func newStrayAnswers() any { return new(strayAnswers) }

// answerMatches judges an answer with an id.
func answerMatches(e *judge.Event) {
	if e.Request != nil {
		e.OK()
		return
	}
	book, key := judge.Of[*idBook](e, baseIDs), judge.IDKey(e.From^judge.Both, e.Msg.ID)
	use, known := book.ids[key]
	if known && e.Transport == capture.HTTP && use.answer == hashOverHTTP(e) || book.forgot || e.Forgot() {
		return
	}
	detail := fmt.Sprintf("id %s is that of no request", quoteJSON(e.Msg.ID))
	if twin := otherType(e.Msg.ID); !known && book.ids[judge.IDKey(e.From^judge.Both, twin)].asked > 0 {
		detail += fmt.Sprintf(", one had %s, which is another", quoteJSON(twin))
	}
	if known {
		detail = fmt.Sprintf("id %s was answered before", quoteJSON(e.Msg.ID))
	}
	switch {
	case inItsExchange(e, known):
		e.Bad(detail)
	case !e.FromStart() || !e.AsOneClient():
	case e.Ordered():
		e.Bad(detail)
	default:
		d := judge.State[*strayAnswers](e)
		if len(d.list) < maxStrayAnswers {
			d.list = append(d.list, strayAnswer{e.Seq, e.From, key, use.asked, detail})
		}
	}
}

// otherType returns the string that a number reads as, or the number that a string may be.
func otherType(id []byte) []byte {
	if id[0] == '"' {
		return id[1 : len(id)-1]
	}
	return slices.Concat([]byte{'"'}, id, []byte{'"'})
}

// inItsExchange reports whether the HTTP exchange alone shows that an answer is wrong: its
// request was answered in it before, or the body that it answers asked under other ids.
func inItsExchange(e *judge.Event, known bool) bool {
	if e.From != judge.Server || e.Post == nil || e.Post.Exchange == 0 || len(e.Post.Requests) == 0 {
		return false
	}
	key := judge.IDKey(judge.Client, e.Msg.ID)
	for _, r := range e.Post.Requests {
		if r.Key() == key {
			return true
		}
	}
	return !known && !e.Post.Stream
}

// strayAnswersLeft convicts the answers whose request never came.
func strayAnswersLeft(e *judge.Event) {
	book := judge.Of[*idBook](e, baseIDs)
	if !e.FromStart() || !e.Whole() || book.forgot {
		return
	}
	end := e.From
	for _, d := range judge.State[*strayAnswers](e).list {
		if book.ids[d.key].asked == d.asked {
			e.From = d.from
			e.BadAt(d.seq, d.detail)
		}
	}
	e.From = end
}
