package session

import (
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/mcp"
)

// tasks ties what is said of a task to the call that became it: the core tasks of
// 2025-11-25 and the extension of 2026-07-28.
type tasks struct{ byID map[uint64]*call }

// taskState is what a call has to do with a task.
type taskState struct {
	key   uint64 // of the task that the call became, 0 if it did not
	about uint64 // of the task that a tasks/* request names
	asked bool   // the request asked to be made a task
	given bool   // the task's result or error has been delivered
}

// The statuses that a task can be told to have.
const (
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

func terminal(status string) bool {
	return status == taskCompleted || status == taskFailed || status == taskCancelled
}

// taskKey hashes a task id, 0 if there is none.
func (s *conversation) taskKey(id jsontree.Node) uint64 {
	text, ok := id.StrBytes()
	if !ok {
		return 0
	}
	return s.r.hash(text) ^ ofTask
}

// asked notes what a request has to do with tasks.
func (t *tasks) asked(s *conversation, c *call, p *params) {
	c.task.asked = p.task.Kind() == jsontree.Object
	switch c.Method {
	case "tasks/get", methodTaskResult, "tasks/update", "tasks/cancel":
	default:
		return
	}
	if c.task.about = s.taskKey(p.taskID); c.task.about == 0 {
		return
	}
	id, _ := p.taskID.StrBytes()
	c.told = Task{ID: s.r.texts.of(cut(id, maxTarget))}
	c.Call.Task = &c.told
	if owner := t.byID[c.task.about]; owner != nil {
		c.TaskOf = owner.Index
	}
}

// named returns the call that became the task of an id.
func (t *tasks) named(s *conversation, id jsontree.Node) *call { return t.byID[s.taskKey(id)] }

// handle takes an answer that is a task's handle, if it is one: the call goes on.
func (t *tasks) handle(s *conversation, e *event, c *call, r *result) bool {
	id := r.task.Get("taskId")
	status := r.task.Get("status")
	switch {
	case string(r.kind) == "task" && !present(id):
		id, status = r.taskID, r.status
	case string(r.kind) != "task" && !c.task.asked:
		return false
	}
	key := s.taskKey(id)
	if key == 0 {
		return false
	}
	c.closeLeg(e)
	e.msg.Outcome = OutcomeTask
	s.revisions.accepted(c)
	s.unreach(c, fateAnswered)
	text, _ := id.StrBytes()
	c.told = Task{ID: s.r.texts.of(cut(text, maxTarget)), Handle: e.msg.Ref}
	c.Call.Task = &c.told
	if other := t.byID[key]; other != nil {
		other.task.key = 0
	}
	c.task.key = key
	t.byID[key] = c
	t.status(s, e, c, status, jsontree.Node{}, jsontree.Node{})
	return true
}

// told takes a notification about a task.
func (t *tasks) told(s *conversation, e *event, p *params) {
	if c := t.named(s, p.taskID); c != nil {
		e.call = c
		t.status(s, e, c, p.status, p.result, p.error)
	}
}

// answered takes the answer to a tasks/* request for what it says of the task.
func (t *tasks) answered(s *conversation, e *event, c *call, r *result) {
	if c.task.about == 0 {
		return
	}
	owner := t.byID[c.task.about]
	if owner == nil {
		return
	}
	c.TaskOf = owner.Index
	if c.Method == methodTaskResult {
		t.complete(s, e, owner, e.m.Result)
	} else if c.Method != "tasks/update" {
		t.status(s, e, owner, r.status, r.result, r.error)
		c.told.Status, c.told.ToldSeq, c.told.ToldAt = owner.told.Status, owner.told.ToldSeq, owner.told.ToldAt
	}
	if owner.task.given {
		s.settle(owner, fateAnswered)
	}
}

// failed takes the error that answers a tasks/result, and reports whether it is the
// task's own: then the task's call has failed, not the asking for it.
func (t *tasks) failed(s *conversation, e *event, c *call) bool {
	if c.Method != methodTaskResult || c.task.about == 0 {
		return false
	}
	owner := t.byID[c.task.about]
	if owner == nil {
		return false
	}
	c.TaskOf = owner.Index
	unknown := c.ErrorCode == mcp.InvalidParams || c.ErrorCode == mcp.MethodNotFound // of the task, or of the method
	if owner.told.Status == taskCompleted || unknown && owner.told.Status != taskFailed {
		return false
	}
	if owner.told.Status != taskCancelled {
		s.errorOf(owner, e.m.Error)
		t.fail(s, e, owner)
	}
	owner.task.given = true
	s.settle(owner, fateAnswered)
	return true
}

// status takes a status, and with an end of the task the result or error that came along.
func (t *tasks) status(s *conversation, e *event, c *call, status, result, failure jsontree.Node) {
	word, _ := status.StrBytes()
	if len(word) == 0 || terminal(c.told.Status) {
		return
	}
	_, c.told.Status = s.r.names.of(cut(word, maxTarget), &s.r.texts)
	c.told.ToldSeq, c.told.ToldAt = e.f.Seq, e.at
	switch c.told.Status {
	case taskCompleted:
		t.complete(s, e, c, result)
	case taskFailed:
		if present(failure) {
			c.task.given = true
			s.errorOf(c, failure)
		}
		t.fail(s, e, c)
	case taskCancelled:
		if e.m.Method != "" {
			e.msg.Outcome = OutcomeCancelled
		}
		t.end(s, e, c, StateFailed)
	}
}

// complete ends a task's call with its result, or gives the result to one that has
// ended without. The result is absent if nothing but the end was told.
func (t *tasks) complete(s *conversation, e *event, c *call, result jsontree.Node) {
	t.end(s, e, c, StateCompleted)
	if !result.Exists() || c.task.given || c.State == StateFailed {
		return
	}
	c.task.given = true
	c.Response, c.responseAt = e.msg.Ref, e.index
	c.ResultLen = len(result.Text())
	if wrong, _ := result.Get("isError").Bool(); wrong {
		e.msg.Outcome = OutcomeToolError
		s.toolError(c, result.Get("content"))
	}
	s.stats.result(c)
}

func (t *tasks) fail(s *conversation, e *event, c *call) {
	e.msg.Outcome = OutcomeError
	t.end(s, e, c, StateFailed)
	s.fail(c)
}

// end ends a task's call, once.
func (t *tasks) end(s *conversation, e *event, c *call, st State) {
	if !c.Open() {
		return
	}
	s.setState(c, st)
	c.Response, c.responseAt = e.msg.Ref, e.index
	c.End, c.endAt = e.at, e.index
	s.closeToken(c)
	s.stats.answered(c)
	s.lingers(c)
}

// forget takes a settled call's task out.
func (t *tasks) forget(_ *conversation, c *call) {
	if c.task.key != 0 {
		delete(t.byID, c.task.key)
		c.task.key = 0
	}
}
