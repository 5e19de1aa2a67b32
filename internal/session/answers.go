package session

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/mcp"
)

// response takes an answer.
func (s *conversation) response(e *event) {
	s.counts.Responses++
	asked := answering(e.f.Dir)
	e.id = s.r.idHash(e.m, asked)
	c := s.find(e.id, e.who)
	if c == nil {
		s.stray(e)
		return
	}
	e.call = c
	s.answer(e, c)
}

// answer takes the answer to a call. Since an early answer is taken only when its
// request comes, e may be older than c.
func (s *conversation) answer(e *event, c *call) {
	e.msg.Revision = c.Revision
	e.msg.Leg = c.leg()
	switch {
	case c.State == StateCancelled:
		s.late(e, c)
	case c.State == StateFailed: // refused by an HTTP status, here comes the body
		s.refusedBody(e, c)
	case present(e.m.Error):
		s.answered(e, c)
		s.failed(e, c)
		s.settle(c, fateAnswered)
	default:
		r := s.result(e)
		switch {
		case string(r.kind) == "input_required" && c.Dir == capture.C2S:
			s.park(e, c, &r)
		case s.tasks.handle(s, e, c, &r):
		default:
			s.answered(e, c)
			s.completed(e, c, &r)
			s.settle(c, fateAnswered)
		}
	}
}

// result picks what a result says, and takes what it says of the server.
func (s *conversation) result(e *event) result {
	r := pickResult(e.m.Result)
	if e.f.Dir == capture.S2C {
		s.peers.serverInfo(r.meta.server)
	}
	return r
}

// answered notes that an answer ends a call.
func (s *conversation) answered(e *event, c *call) {
	c.Response, c.responseAt = e.msg.Ref, e.index
	c.End, c.endAt = e.at, e.index
	c.closeLeg(e)
}

// completed ends a call with its result.
func (s *conversation) completed(e *event, c *call, r *result) {
	s.setState(c, StateCompleted)
	s.outcome(e, c, r)
	s.effects(e, c, r)
	s.tasks.answered(s, e, c, r)
	s.stats.answered(c)
}

// outcome judges a result by itself.
func (s *conversation) outcome(e *event, c *call, r *result) {
	c.ResultLen = len(e.m.Result.Text())
	e.msg.Outcome = OutcomeOK
	if r.isError && c.Method != methodTaskResult {
		e.msg.Outcome = OutcomeToolError
		s.toolError(c, r.content)
	}
}

func (s *conversation) toolError(c *call, content jsontree.Node) {
	c.ToolError = true
	c.ErrorText = s.firstText(content)
	s.fail(c)
}

// firstText returns the first text of a tool's content.
func (s *conversation) firstText(content jsontree.Node) string {
	for block := range content.Elements() {
		if text, ok := block.Get("text").StrBytes(); ok {
			return s.r.texts.of(cut(text, maxError))
		}
	}
	return ""
}

// failed ends a call with an error.
func (s *conversation) failed(e *event, c *call) {
	s.setState(c, StateFailed)
	s.errorOf(c, e.m.Error)
	if refuses(e.f) {
		c.Status = e.msg.Status
	}
	switch {
	case c.expects():
		c.Expected = true
		e.msg.Outcome = OutcomeExpected
	case s.tasks.failed(s, e, c):
		e.msg.Outcome = OutcomeError
	default:
		e.msg.Outcome = OutcomeError
		s.fail(c)
	}
	s.revisions.refused(c)
	s.stats.answered(c)
}

func (s *conversation) errorOf(c *call, node jsontree.Node) {
	c.ErrorCode, _ = node.Get("code").Int()
	text, _ := node.Get("message").StrBytes()
	c.ErrorText = s.r.texts.of(cut(text, maxError))
}

// expects reports whether an error belongs to probing: a client that speaks the
// stateless protocol asks first, and a server that does not refuses.
func (c *call) expects() bool {
	if c.Method != methodDiscover {
		return false
	}
	switch c.ErrorCode {
	case mcp.MethodNotFound, mcp.InvalidParams, mcp.UnsupportedVersion:
		return true
	case mcp.HeaderMismatch, mcp.MissingClientCapability: // from one who knows it
		return false
	}
	switch c.Status { // how servers of the older protocol refuse a POST that they do not know
	case 400, 404, 405:
		return true
	}
	return false
}

// effects takes what a result says of the session, whatever became of its call.
func (s *conversation) effects(e *event, c *call, r *result) {
	if c.Dir != capture.C2S {
		return
	}
	s.revisions.accepted(c)
	s.party.accepted = true
	switch c.Method {
	case methodInitialize:
		s.party.greeted = true
		s.peers.initialized(r)
		s.revisions.initialized(r)
		if s.revisions.negotiated != mcp.NoRevision && c.Revision == mcp.NoRevision {
			c.Revision = s.revisions.negotiated
		}
	case methodDiscover:
		s.peers.discovered(r)
		s.revisions.discovered(r)
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		s.offers.listed(c, e.m.Result)
	}
}

// late takes the answer to a call that had been given up.
func (s *conversation) late(e *event, c *call) {
	c.closeLeg(e)
	c.Response, c.responseAt = e.msg.Ref, e.index
	if c.Method == methodListen { // a subscription's graceful end
		e.msg.Outcome = OutcomeOK
		s.settle(c, fateAnswered)
		return
	}
	c.Late = true
	c.End, c.endAt = e.at, e.index
	s.counts.Late++
	if present(e.m.Error) {
		s.errorOf(c, e.m.Error)
		if !c.expects() {
			s.fail(c)
		}
	} else {
		r := s.result(e)
		s.outcome(e, c, &r)
		s.effects(e, c, &r)
	}
	e.msg.Outcome = OutcomeLate
	s.stats.answered(c)
	s.settle(c, fateAnswered)
}

// stray takes an answer that no open call waits for.
func (s *conversation) stray(e *event) {
	e.msg.Revision = s.revisions.of(e.f, jsontree.Node{})
	if c := s.refusedHere(e); c != nil {
		e.call = c
		s.refusal(e, c)
		return
	}
	key, fate, index := s.fateOf(e.id, e.who)
	if s.mayBeEarly(e) && (fate == fateNone || fate == fateAnswered || fate == fateClosed) && s.hold(e, fate, index) {
		e.msg.Outcome = OutcomeEarly
		return
	}
	s.strayed(e, key, fate, index)
}

// mayBeEarly reports whether the request that an answer belongs to may still come:
// some recorders number a frame after forwarding it, and an HTTP server may answer
// before the last byte of the request has come.
func (s *conversation) mayBeEarly(e *event) bool {
	return e.f.Mono == capture.NoMono || e.x != nil && e.f.Dir == capture.S2C && !e.x.asked && !e.x.other
}

// strayed says what an answer is for which no open call waits, by what is
// remembered of its id.
func (s *conversation) strayed(e *event, key uint64, f fate, index int32) {
	failed := e.m.Kind == jsonrpc.Response && present(e.m.Error)
	toolError := false
	if f == fateCancelled || f == fateOpen {
		toolError, _ = e.m.Result.Get("isError").Bool()
	}
	e.msg.Call = index
	switch f {
	case fateCancelled:
		e.msg.Outcome = OutcomeLate
		s.counts.Late++
		s.calls.seen.put(key, fateAnswered, index)
		s.revise(e, index, failed, toolError)
	case fateOpen, fateAsked:
		e.msg.Outcome = OutcomeOK
		if f == fateOpen {
			s.counts.Pending--
		}
		switch {
		case failed:
			e.msg.Outcome = OutcomeError
		case toolError:
			e.msg.Outcome = OutcomeToolError
		}
		s.calls.seen.put(key, fateAnswered, index)
		s.revise(e, index, failed, toolError)
	case fateAnswered, fateClosed:
		e.msg.Outcome = OutcomeDuplicate
		s.repeated(index)
	default:
		if from := answering(e.f.Dir); s.cutRequests[from] > 0 {
			s.cutRequests[from]--
			return
		}
		e.msg.Outcome = OutcomeUnmatched
		switch {
		case !failed, malformed(e.m): // no error, or it counts as no message
		case refuses(e.f) && e.counted(): // with the status of its exchange
			e.msg.Outcome = NoOutcome
		default:
			s.counts.Errors++
		}
	}
}

// revise notes the answer to a call that had been let go of. Only its fate and, in
// the list, the call itself are left to be told.
func (s *conversation) revise(e *event, index int32, failed, toolError bool) {
	if failed || toolError {
		s.counts.Errors++
	}
	if s.keep == nil || index < 0 {
		return
	}
	p := s.keep.calls.edit(int(index))
	p.response, p.end = e.index, e.index
	p.errored = p.errored || failed || toolError
	p.toolError = toolError
	switch {
	case p.state == StateCancelled:
		p.late = true
	case failed:
		p.state = StateFailed
	default:
		p.state = StateCompleted
	}
}

// repeated notes a further answer to a settled call.
func (s *conversation) repeated(index int32) {
	if s.keep == nil || index < 0 {
		return
	}
	p := s.keep.calls.edit(int(index))
	r := callRest{}
	if p.rest != nil {
		r = *p.rest
	}
	r.repeats++
	p.rest = &r
}
