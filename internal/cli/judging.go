package cli

import (
	"mcpsnoop/internal/checks"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// newJudge returns a judge that knows all checks. A check that panics is named once.
func (a *app) newJudge(o judge.Options) *judge.Judge {
	o.Registry = checks.Registry()
	o.Broken = func(session int, check string, reason any) {
		a.note("check %s failed in session %d and was switched off there: %v", check, session+1, reason)
	}
	return judge.New(o)
}

// parseRevision reads the flag of that name.
func parseRevision(text string) (mcp.Revision, error) {
	if text == "" {
		return mcp.NoRevision, nil
	}
	if r := mcp.ParseRevision(text); r != mcp.NoRevision {
		return r, nil
	}
	names := ""
	for _, r := range mcp.Known() {
		names += " " + r.String()
	}
	return mcp.NoRevision, usagef("", "unknown revision %q: name one of%s", text, names)
}

// frameLines remembers on which line of its log each frame stands.
type frameLines map[frameKey]int32

type frameKey struct {
	session int
	seq     uint64
}

func (l frameLines) of(session int) func(uint64) int32 {
	return func(seq uint64) int32 { return l[frameKey{session, seq}] }
}

// basisNote says by what a session's revision was decided where nothing in it did.
func (a *app) basisNote(id string, report *judge.Report) {
	if report.Basis == judge.ByDefault {
		a.note("session %s declares no revision: judged at %s, see --revision", id, report.Revision)
	}
}
