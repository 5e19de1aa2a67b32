package checks

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var toolsChangeAnnounced = announced(toolList, &judge.Check{
	ID:       "tools.change-announced",
	Title:    "tool lists that changed without a word",
	Why:      "A client that was promised to be told keeps the old list: it does not offer the new tools, and calls those that are gone.",
	Fix:      "Send notifications/tools/list_changed whenever the list changes, or do not declare listChanged.",
	Convicts: "over stdio: a complete list with other tools than the one before, if the server declared listChanged (2026-07-28: acknowledged a subscription that is still open) and sent no notice up to the end of the session",
	Exempts:  "sessions of which a part is missing, was cut or redacted; HTTP, where nobody knows whether a stream for the notice was open",
}, judge.On{Kind: judge.Answer, From: judge.Server, Methods: []string{"tools/call"}, Do: noteOldTool})

var resourcesChangeAnnounced = announced(resourceList, &judge.Check{
	ID:       "resources.change-announced",
	Title:    "resource lists that changed without a word",
	Why:      "A client that was promised to be told keeps the old list and shows resources that are gone.",
	Fix:      "Send notifications/resources/list_changed whenever the list changes, or do not declare listChanged.",
	Convicts: "over stdio: a complete list with other URIs than the one before, if the server declared listChanged (2026-07-28: acknowledged a subscription that is still open) and sent no notice up to the end of the session",
	Exempts:  "sessions of which a part is missing, was cut or redacted; HTTP, where nobody knows whether a stream for the notice was open; templates",
})

var promptsChangeAnnounced = announced(promptList, &judge.Check{
	ID:       "prompts.change-announced",
	Title:    "prompt lists that changed without a word",
	Why:      "A client that was promised to be told keeps the old list and offers prompts that are gone.",
	Fix:      "Send notifications/prompts/list_changed whenever the list changes, or do not declare listChanged.",
	Convicts: "over stdio: a complete list with other prompts than the one before, if the server declared listChanged (2026-07-28: acknowledged a subscription that is still open) and sent no notice up to the end of the session",
	Exempts:  "sessions of which a part is missing, was cut or redacted; HTTP, where nobody knows whether a stream for the notice was open",
})

// notices say how a server tells that a list changed, and how it promises to.
var notices = map[listKind]struct{ method, capability, filter string }{
	toolList:     {"notifications/tools/list_changed", "tools.listChanged", "toolsListChanged"},
	promptList:   {"notifications/prompts/list_changed", "prompts.listChanged", "promptsListChanged"},
	resourceList: {"notifications/resources/list_changed", "resources.listChanged", "resourcesListChanged"},
}

// Limits of what is remembered of one list.
const (
	maxSilent    = 16 // changes that nothing was said of
	maxListening = 16 // subscriptions that are open
)

// silent are changes of a list that nothing was said of so far.
type silent struct {
	changes []silentChange
	streams []stream // with this list in them, acknowledged
}

type silentChange struct {
	seq, since uint64 // of the new list; of the request for the list before
	handshake  bool
	before     uint64 // seq of the list before
}

type stream struct{ id, since uint64 }

// announced completes a check of what is said of the changes of a list.
func announced(k listKind, c *judge.Check, more ...judge.On) *judge.Check {
	c.New = func() any { return new(silent) }
	c.On = append(more, []judge.On{
		{Kind: judge.Result, From: judge.Server, Methods: []string{listDefs[k].method}, Do: func(e *judge.Event) {
			relisted(e, k, judge.State[*silent](e))
		}},
		{Kind: judge.Notification, From: judge.Server, Methods: []string{notices[k].method}, Do: func(e *judge.Event) {
			judge.State[*silent](e).changes = nil
		}},
		{Kind: judge.Notification, From: judge.Server, Methods: []string{methodAcknowledged}, Do: func(e *judge.Event) {
			s, id := judge.State[*silent](e), e.Meta().Get(mcp.MetaSubscriptionID)
			if id.Exists() && isTrue(e.Msg.Params.Path("notifications", notices[k].filter)) && len(s.streams) < maxListening {
				s.streams = append(s.streams, stream{judge.IDKey(judge.Client, id.Text()), e.Seq})
			}
		}},
		{Kind: judge.Answer, From: judge.Server, Methods: []string{"subscriptions/listen"}, Do: func(e *judge.Event) {
			judge.State[*silent](e).ended(judge.IDKey(judge.Client, e.Msg.ID))
		}},
		{Kind: judge.Notification, Methods: []string{methodCancelled}, Do: func(e *judge.Event) {
			if id := e.Msg.Params.Get("requestId"); id.Exists() {
				judge.State[*silent](e).ended(judge.IDKey(judge.Client, id.Text()))
			}
		}},
		{Kind: judge.End, Do: func(e *judge.Event) {
			s := judge.State[*silent](e)
			if !e.FromStart() || !e.Whole() {
				return
			}
			for _, c := range s.changes {
				if c.handshake && e.Facts.ServerCaps.Has(notices[k].capability) || !c.handshake && s.listened(c.since) {
					e.BadAtf(c.seq, "%s differs from that of seq %d, and no %s was sent", listDefs[k].method, c.before, notices[k].method)
				}
			}
		}},
	}...)
	return c
}

// relisted takes a list that may be a complete one.
func relisted(e *judge.Event, k listKind, s *silent) {
	l := listsOf(e)
	p := &l.page
	switch {
	case !p.ok || !p.whole || p.last.seq == 0:
		return
	case p.listing.digest.n == p.last.digest.n && p.listing.digest.set == p.last.digest.set:
		e.OK()
	case l.of[k].changed > p.last.asked:
		e.OK()
	case e.Transport != capture.Stdio:
		if e.Facts.ServerCaps.Has(notices[k].capability) || e.Facts.DiscoverCaps.Has(notices[k].capability) {
			e.Notef("%s differs from that of seq %d, and no %s is in this recording", e.Method, p.last.seq, notices[k].method)
		}
	case len(s.changes) < maxSilent:
		s.changes = append(s.changes, silentChange{e.Seq, p.last.asked, mcp.HasHandshake(e.Revision), p.last.seq})
	}
}

// ended forgets a subscription.
func (s *silent) ended(id uint64) {
	for i := range s.streams {
		if s.streams[i].id == id {
			s.streams = append(s.streams[:i], s.streams[i+1:]...)
			return
		}
	}
}

// listened reports whether a subscription has been open since.
func (s *silent) listened(since uint64) bool {
	for _, open := range s.streams {
		if open.since < since {
			return true
		}
	}
	return false
}

// noteOldTool notes a failed call of a tool from a list that the server had said was no
// longer good.
func noteOldTool(e *judge.Event) {
	l := listsOf(e)
	at := &l.of[toolList]
	if e.Kind == judge.Result && !isTrue(e.Msg.Result.Get("isError")) || at.changed <= at.asked || e.Request.Seq < at.changed || at.current == nil {
		return
	}
	if _, ok := at.current.names[judge.Hash([]byte(e.Request.Target))]; ok {
		e.Notef("tool %s of the old list was called and failed: the server had said at seq %d that its list changed, and the client did not ask for it again", quote(e.Request.Target), at.changed)
	}
}
