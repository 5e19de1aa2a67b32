package checks

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// maxTasks is how many tasks of a session are remembered; later ones are not judged.
const maxTasks = 1024

// runningTask is what a request became.
type runningTask struct {
	token  uint64 // key of the request's progress token, 0 if it had none
	over   bool   // a final status was delivered
	overAt session.Instant
}

// runningTasks is the state of taskTracker, by hash of the taskId.
type runningTasks map[uint64]*runningTask

// taskTracker follows tasks of 2025-11-25.
var taskTracker = &judge.Tracker{
	New: func() any { return runningTasks{} },
	On: []judge.On{
		{Kind: judge.Result, Methods: []string{"tools/call", "sampling/createMessage", "elicitation/create"}, Do: func(e *judge.Event) {
			id, ok := e.Msg.Result.Path("task", "taskId").StrBytes()
			if all := judge.State[runningTasks](e); ok && e.Request != nil && len(all) < maxTasks {
				one := new(runningTask)
				if t, ok := tokenSlot.Get(e.Request); ok {
					one.token = t.key
				}
				all[judge.Hash(id)] = one
			}
		}},
		{Kind: judge.Result, Methods: []string{"tasks/get", "tasks/cancel"}, Do: func(e *judge.Event) { taskStatus(e, e.Msg.Result) }},
		{Kind: judge.Notification, Methods: []string{"notifications/tasks/status"}, Do: func(e *judge.Event) { taskStatus(e, e.Msg.Params) }},
	},
}

// taskStatus takes what is told of a task.
func taskStatus(e *judge.Event, n jsontree.Node) {
	id, _ := n.Get("taskId").StrBytes()
	one := judge.State[runningTasks](e)[judge.Hash(id)]
	if one == nil || one.over {
		return
	}
	switch status, _ := n.Get("status").StrBytes(); string(status) {
	case "completed", "failed", "cancelled":
		one.over, one.overAt = true, e.At
	}
}

// onTaskProgress binds a function to progress that says which task it is about.
func onTaskProgress(do func(e *judge.Event, id string, one *runningTask)) []judge.On {
	return []judge.On{{Kind: judge.Notification, Methods: []string{methodProgress}, Do: func(e *judge.Event) {
		id, _ := e.Meta().Path(mcp.MetaRelatedTask, "taskId").Str()
		if one := judge.Of[runningTasks](e, taskTracker)[judge.Hash([]byte(id))]; one != nil {
			do(e, id, one)
		}
	}}}
}

var progressTaskToken = &judge.Check{
	ID:       "progress.task-token",
	Title:    "progress tokens of tasks",
	Why:      "The sender of a request knows its progress by the token it gave; another one means nothing to it.",
	Fix:      "Go on with the token of the request for as long as its task runs.",
	Convicts: "progress that names a task and has another token than the request that became the task",
	Exempts:  "tasks whose request carried no token, progress that names no task",
	On: onTaskProgress(func(e *judge.Event, id string, one *runningTask) {
		token := e.Msg.Params.Get("progressToken")
		switch {
		case one.token == 0 || !isToken(token):
		case one.token == judge.IDKey(e.From^judge.Both, token.Text()):
			e.OK()
		default:
			e.Badf("progress of task %s has the token %s, not that of its request", quote(id), quoteJSON(token.Text()))
		}
	}),
}

var progressTaskOver = &judge.Check{
	ID:       "progress.task-over",
	Title:    "progress of tasks that are over",
	Why:      "After a final status nobody waits for progress any more.",
	Fix:      "Stop progress before the task is reported as completed, failed or cancelled.",
	Convicts: "progress that names a task whose final status was delivered before: on stdio at once, over HTTP after more than a second",
	Exempts:  "progress that names no task",
	On: onTaskProgress(func(e *judge.Event, id string, one *runningTask) {
		switch {
		case !one.over:
			e.OK()
		case e.Transport != capture.HTTP || e.At.Sub(one.overAt) > taskTime:
			e.Badf("progress of task %s, which is over", quote(id))
		}
	}),
}
