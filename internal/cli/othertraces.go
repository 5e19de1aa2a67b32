package cli

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/tracectx"
)

// frameSet is frames that belong to other traces than the one looked at.
type frameSet map[seqKey]bool

type seqKey struct {
	session int
	seq     uint64
}

// others notes the frames of other traces.
func (p *runReader) others(set frameSet) func(*capture.Frame, capture.Ref, session.Step) error {
	return func(f *capture.Frame, _ capture.Ref, st session.Step) error {
		if len(st.Messages) == 1 && ofOthers(st.Calls[0], p.trace) {
			set[seqKey{st.Session, f.Seq}] = true
		}
		return nil
	}
}

// ofOthers reports whether a call belongs to other traces only. One that carries no trace id
// belongs to its session.
func ofOthers(c *session.Call, trace tracectx.TraceID) bool {
	return c != nil && trace != (tracectx.TraceID{}) && c.Traced() && !c.InTrace(trace)
}

// findings counts what was found in a session, other traces apart.
func (set frameSet) findings(session int, report *judge.Report) int {
	n := findings(report)
	if len(set) == 0 {
		return n
	}
	for _, rows := range append([]judge.Rows{report.Rows}, report.Also...) {
		for i := range rows.List {
			for k := range rows.List[i].Findings {
				if set[seqKey{session, rows.List[i].Findings[k].Seq}] {
					n--
				}
			}
		}
	}
	return n
}
