package cli

import (
	"fmt"
	"runtime/debug"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// judgeGC makes a process that judges collect its garbage more often than others do: what a
// judge lets go of would otherwise double its memory, and collecting it costs little.
const judgeGC = 40

// newJudge returns a judge that knows all checks. A check that panics is named once.
func (a *app) newJudge(o judge.Options) *judge.Judge {
	debug.SetGCPercent(judgeGC)
	o.Registry = a.env.checks()
	if o.Broken == nil {
		o.Broken = a.brokenNote
	}
	return judge.New(o)
}

// brokenNote names a check that panicked.
func (a *app) brokenNote(session int, check string, reason any) {
	a.note("%s", brokenText(session, check, reason))
}

func brokenText(session int, check string, reason any) string {
	return fmt.Sprintf("check %s failed in session %d and was switched off there: %v", check, session+1, reason)
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

// frameLines remembers where the frames of each tap stand in the files of a log: as
// runs, since one frame mostly stands on the line behind the one before it.
type frameLines map[string][]frameRun

// frameRun is n frames on as many lines.
type frameRun struct {
	seq  uint64
	file int32
	line int32
	n    uint64
}

func (l frameLines) add(tap string, ref capture.Ref) {
	runs := l[tap]
	if k := len(runs) - 1; k >= 0 {
		if r := &runs[k]; r.file == ref.File && r.seq+r.n == ref.Seq && uint64(r.line)+r.n == uint64(ref.Line) {
			r.n++
			return
		}
	}
	l[tap] = append(runs, frameRun{ref.Seq, ref.File, ref.Line, 1})
}

// of returns where the frames of a tap stand; a number that stands twice, where it does first.
func (l frameLines) of(tap string) func(seq uint64) (file, line int32) {
	return func(seq uint64) (file, line int32) {
		for _, r := range l[tap] {
			if seq >= r.seq && seq-r.seq < r.n {
				return r.file, r.line + int32(seq-r.seq)
			}
		}
		return 0, 0
	}
}

// basisNote says by what a session's revision was decided where nothing in it did.
func (a *app) basisNote(id string, report *judge.Report) {
	if report.Basis == judge.ByDefault {
		a.note("session %s declares no revision: judged at %s, see --revision", id, report.Revision)
	}
}
