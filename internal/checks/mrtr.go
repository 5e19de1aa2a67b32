package checks

import (
	"fmt"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
)

// onRound binds a function to results that ask for input.
func onRound(do func(*judge.Event)) []judge.On {
	return []judge.On{{Kind: judge.Result, From: judge.Server, Do: func(e *judge.Event) {
		if isRound(e) {
			do(e)
		}
	}}}
}

// onRetry binds a function to requests that bring input or a state.
func onRetry(do func(*judge.Event, *retry)) []judge.On {
	return []judge.On{{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
		if r, ok := retrySlot.Get(e.Request); ok {
			do(e, r)
		}
	}}}
}

var mrtrInputRequiredSupportedMethods = &judge.Check{
	ID:       "mrtr.input-required-supported-methods",
	Title:    "requests that are answered by asking for input",
	Why:      "Clients look for input_required in answers to three methods only; elsewhere they take the result as it is and fail.",
	Fix:      "Ask for input in answer to tools/call, prompts/get or resources/read only.",
	Convicts: "a result with resultType input_required that answers any other method",
	On: onRound(func(e *judge.Event) {
		if asksInput(e.Method) {
			e.OK()
			return
		}
		e.Badf("%s is answered by asking for input, which only tools/call, prompts/get and resources/read may be", quote(e.Method))
	}),
}

var mrtrInputRequiredHasContent = &judge.Check{
	ID:       "mrtr.input-required-has-content",
	Title:    "what an input_required result holds",
	Why:      "Without a question and without a state, the client has nothing to answer and nothing to come back with.",
	Fix:      "Put inputRequests or requestState, or both, into the result.",
	Convicts: "an input_required result that has neither an inputRequests object nor a requestState",
	On: onRound(func(e *judge.Event) {
		if e.Msg.Result.Get("inputRequests").Kind() == jsontree.Object || stateOf(e.Msg.Result) != 0 {
			e.OK()
			return
		}
		e.Bad("the result asks for input and holds neither inputRequests nor requestState")
	}),
}

var mrtrInputRequestMethods = &judge.Check{
	ID:       "mrtr.input-request-methods",
	Title:    "methods inside inputRequests",
	Why:      "A client can answer an elicitation, a sampling or a list of roots. Anything else it has to refuse.",
	Fix:      "Use elicitation/create, sampling/createMessage or roots/list as method of each input request.",
	Convicts: "an input request of any other method, or without one",
	On: onRound(func(e *judge.Event) {
		for key, value := range e.Msg.Result.Get("inputRequests").Members() {
			method, ok := value.Get("method").Str()
			switch {
			case responseMembers[method] != nil:
				e.OK()
			case ok:
				e.Badf("input request %s is of method %s, not elicitation/create, sampling/createMessage or roots/list", quote(key.String()), quote(method))
			default:
				e.Badf("input request %s has no method", quote(key.String()))
			}
		}
	}),
}

var mrtrInputRequestKeys = &judge.Check{
	ID:       "mrtr.input-request-keys",
	Title:    "keys of inputRequests",
	Why:      "Of two questions under one key, most clients see only the last, and the other is never answered.",
	Fix:      "Give each input request a key of its own.",
	Convicts: "an inputRequests object in which a key stands twice",
	On: onRound(func(e *judge.Event) {
		asked := e.Msg.Result.Get("inputRequests")
		if asked.Kind() != jsontree.Object {
			return
		}
		if key, twice := asked.Repeated(); twice {
			e.Badf("inputRequests has the key %s more than once", quote(key))
			return
		}
		e.OK()
	}),
}

var mrtrInputRequestShape = &judge.Check{
	ID:       "mrtr.input-request-shape",
	Title:    "params inside inputRequests",
	Why:      "Clients check what they are asked against the schema; a question without its mandatory parts they cannot put to anybody.",
	Fix:      "Give message and requestedSchema, or message and url, with an elicitation; messages and maxTokens with a sampling.",
	Convicts: "an input request of a known method without params that the schema makes mandatory",
	Exempts:  "what the params hold beyond that",
	On: onRound(func(e *judge.Event) {
		for key, value := range e.Msg.Result.Get("inputRequests").Members() {
			if method, _ := value.Get("method").Str(); responseMembers[method] == nil {
				continue
			} else if fault := inputParamsFault(method, value.Get("params")); fault != "" {
				e.Badf("input request %s %s", quote(key.String()), fault)
				continue
			}
			e.OK()
		}
	}),
}

// inputParamsFault says what is wrong with the params of an input request, "" if nothing is.
func inputParamsFault(method string, params jsontree.Node) string {
	mode, given := params.Get("mode").Str()
	switch is := func(name string, kind jsontree.Kind) bool { return params.Get(name).Kind() == kind }; {
	case method == "roots/list":
		if params.Exists() && params.Kind() != jsontree.Object {
			return "has params that are no object"
		}
	case method == "sampling/createMessage":
		if !is("messages", jsontree.Array) {
			return "has no messages to sample from"
		}
		if !is("maxTokens", jsontree.Number) {
			return "has no maxTokens"
		}
	case !is("message", jsontree.String):
		return "has no message to show"
	case (!given || mode == "form") && !is("requestedSchema", jsontree.Object):
		return "is a form without requestedSchema"
	case mode == "url" && !is("url", jsontree.String):
		return "is of mode url without a url"
	}
	return ""
}

var mrtrRequestStateEchoed = &judge.Check{
	ID:       "mrtr.request-state-echoed",
	Title:    "requestState of a retry",
	Why:      "The server keeps what it needs to go on in requestState. If it comes back changed or not at all, the server cannot go on and refuses.",
	Fix:      "Send requestState back exactly as it came: neither decode nor trim nor encode it anew.",
	Convicts: "a retry whose round carried a requestState and that carries none or another",
	Exempts:  "retries for which several rounds, or none, come into question",
	On: onRetry(func(e *judge.Event, r *retry) {
		switch {
		case r.round == nil || r.round.state == 0:
		case r.state == 0:
			e.Badf("id %s retries what frame %d asked for, without the requestState from there", e.Request.ID, r.round.seq)
		case r.state != r.round.state:
			e.Badf("id %s carries another requestState than frame %d gave for it", e.Request.ID, r.round.seq)
		default:
			e.OK()
		}
	}),
}

var mrtrRetryCarriesInputResponses = &judge.Check{
	ID:       "mrtr.retry-carries-input-responses",
	Title:    "inputResponses of a retry",
	Why:      "The server asked for what it needs; a retry that lacks some of it only costs another round.",
	Fix:      "Answer every key of inputRequests in inputResponses, with a refusal where the user gave one.",
	Convicts: "each key of a round's inputRequests that the retry's inputResponses lack",
	Exempts:  "retries for which several rounds, or none, come into question; rounds with more than 64 keys",
	On: onRetry(func(e *judge.Event, r *retry) {
		if r.round == nil || len(r.round.asked) == 0 || r.round.more {
			return
		}
		for _, key := range r.lacks {
			e.Badf("id %s does not answer %s, which frame %d asked for", e.Request.ID, key, r.round.seq)
		}
		if len(r.lacks) == 0 {
			e.OK()
		}
	}),
}

var mrtrNoUnsolicitedRequestState = &judge.Check{
	ID:       "mrtr.no-unsolicited-request-state",
	Title:    "requestState that nobody gave",
	Why:      "A server takes a requestState for its own. One that it never gave it cannot read, and refuses.",
	Fix:      "Send requestState only if the result that asked for input had one.",
	Convicts: "a retry with a requestState whose round carried none",
	Exempts:  "retries for which several rounds come into question. Where no round was seen at all the state may come from before the capture: a note",
	On: onRetry(func(e *judge.Event, r *retry) {
		const invented = "id %s carries a requestState and no result had given one"
		switch {
		case r.state == 0:
		case r.round != nil && r.round.state == 0:
			e.Badf("id %s carries a requestState and frame %d, which it answers, gave none", e.Request.ID, r.round.seq)
		case r.round != nil || r.issued:
			e.OK()
		case r.none && e.Pinned():
			e.Badf(invented, e.Request.ID)
		case r.none:
			e.Notef(invented, e.Request.ID)
		}
	}),
}

var mrtrRetryIDDiffers = &judge.Check{
	ID:       "mrtr.retry-id-differs",
	Title:    "ids of retries",
	Why:      "A retry is a request of its own. With the id of the first, answers cannot be told apart and caches give back the question.",
	Fix:      "Give each retry an id of its own.",
	Convicts: "a retry with the id of the request whose answer asked for input",
	Exempts:  "retries for which several rounds, or none, come into question",
	On: onRetry(func(e *judge.Event, r *retry) {
		switch {
		case r.round == nil:
		case e.Request.Key() == r.round.request.Key():
			e.Badf("id %s is used again for the retry of the request it belongs to", e.Request.ID)
		default:
			e.OK()
		}
	}),
}

var mrtrRequestStateScopedToRetry = &judge.Check{
	ID:       "mrtr.request-state-scoped-to-retry",
	Title:    "where a requestState goes",
	Why:      "A requestState belongs to the one request it was given for; with another tool, prompt or resource the server goes on with the wrong thing.",
	Fix:      "Keep requestState with the request it was given for and send it with the retry of that request only.",
	Convicts: "a requestState that was given, but for no request of this method and this tool, prompt or URI",
	On: onRetry(func(e *judge.Event, r *retry) {
		switch {
		case !r.issued:
		case r.scoped:
			e.OK()
		default:
			e.Badf("id %s: %s %s carries a requestState that was given for another request", e.Request.ID, e.Method, quote(e.Request.Target))
		}
	}),
}

var mrtrMissingInputReasked = &judge.Check{
	ID:       "mrtr.missing-input-reasked",
	Title:    "answers to retries that lack input",
	Why:      "Asking again lets the client fetch what is missing; an error ends the whole call.",
	Fix:      "Answer a retry that lacks needed input with another input_required result.",
	Convicts: "an error in answer to a retry that lacks something its round asked for, in traces of a given revision",
	Exempts:  "other captures: the error may have another reason, which makes it a note",
	On: []judge.On{{Kind: judge.Answer, From: judge.Server, Do: func(e *judge.Event) {
		r, ok := retrySlot.Get(e.Request)
		if !ok || r.round == nil || r.round.more || len(r.lacks) == 0 {
			return
		}
		detail := fmt.Sprintf("id %s, which lacks %s, is answered with an error instead of being asked again", e.Request.ID, r.lacks[0])
		switch {
		case e.Kind == judge.Result:
			e.OK()
		case e.Pinned():
			e.Bad(detail)
		default:
			e.Note(detail)
		}
	}}},
}

var mrtrInputResponseShape = &judge.Check{
	ID:       "mrtr.input-response-shape",
	Title:    "what a retry brings for each input",
	Why:      "The server reads each answer as the result of what it asked for, and cannot use one that is something else.",
	Fix:      "Bring an action for an elicitation, role, content and model for a sampling, roots for a list of roots.",
	Convicts: "an input response without the members that the result of what was asked for must have",
	Exempts:  "answers to what was not asked for, and retries for which several rounds, or none, come into question",
	On: onRetry(func(e *judge.Event, r *retry) {
		if r.round == nil {
			return
		}
		for key, value := range e.Msg.Params.Get("inputResponses").Members() {
			method := r.round.kind(judge.Hash(key.Bytes()))
			lacking := ""
			for _, name := range responseMembers[method] {
				if !value.Get(name).Exists() {
					lacking = name
					break
				}
			}
			switch {
			case lacking != "":
				e.Badf("input response %s answers %s and has no %s", quote(key.String()), method, lacking)
			case responseMembers[method] != nil:
				e.OK()
			}
		}
	}),
}

// responseMembers are mandatory in the result of each thing that can be asked for.
var responseMembers = map[string][]string{
	"elicitation/create":     {"action"},
	"sampling/createMessage": {"role", "content", "model"},
	"roots/list":             {"roots"},
}
