package export

import (
	"time"

	"mcpsnoop/internal/run"
	"mcpsnoop/internal/view"
)

// RunList is the JSON of "runs": the newest beginning first.
type RunList struct {
	Version int   `json:"version"`
	Runs    []Run `json:"runs"`
}

// Run is the sessions that one key ties together, and what of them belongs to it.
type Run struct {
	ID        string       `json:"id"`
	Kind      string       `json:"kind"`               // trace, client
	Label     string       `json:"label"`              // for reading
	TraceID   string       `json:"trace_id,omitempty"` // of a trace, in full
	First     *time.Time   `json:"first"`
	Last      *time.Time   `json:"last"`
	Sessions  []RunSession `json:"sessions"` // by their beginning
	Calls     int          `json:"calls"`
	Requests  int          `json:"requests"`
	Responses int          `json:"responses"`
	Errors    int          `json:"errors"`
	Findings  *int         `json:"findings"` // in a list null where not all was judged
}

// RunSession is a session as part of a run: its counts are of what belongs to that.
type RunSession struct {
	ID        string     `json:"id"`
	Label     string     `json:"label"`
	Shared    bool       `json:"shared,omitempty"` // the session is part of other runs too
	First     *time.Time `json:"first"`
	Last      *time.Time `json:"last"`
	Calls     int        `json:"calls"`
	Requests  int        `json:"requests"`
	Responses int        `json:"responses"`
	Errors    int        `json:"errors"`
	Findings  *int       `json:"findings"` // in a list of the whole session, null where nobody judged it; of one run what belongs to that
}

// RunPart is a run that a session is part of, and how much of the session belongs to it.
type RunPart struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Calls     int    `json:"calls"`
	Requests  int    `json:"requests"`
	Responses int    `json:"responses"`
	Errors    int    `json:"errors"`
}

// NewRunList returns the JSON of runs as seen at now.
func NewRunList(runs []run.Run, now time.Time) *RunList {
	list := &RunList{Version: FormatVersion, Runs: make([]Run, 0, len(runs))}
	for i := range runs {
		list.Runs = append(list.Runs, *NewRun(&runs[i], now))
	}
	return list
}

// NewRun returns the JSON of a run as seen at now.
func NewRun(r *run.Run, now time.Time) *Run {
	out := &Run{
		ID: r.ID, Kind: string(r.Kind), Label: view.RunLabel(r, now), TraceID: r.Trace, First: moment(r.First), Last: moment(r.Last),
		Calls: r.Counts.Calls, Requests: r.Counts.Requests, Responses: r.Counts.Responses, Errors: r.Counts.Errors, Findings: r.Findings,
		Sessions: make([]RunSession, 0, len(r.Members)),
	}
	for i := range r.Members {
		m := &r.Members[i]
		out.Sessions = append(out.Sessions, RunSession{
			ID: m.Session.ID, Label: m.Session.Label, Shared: m.Shared, First: moment(m.First), Last: moment(m.Last),
			Calls: m.Counts.Calls, Requests: m.Counts.Requests, Responses: m.Counts.Responses, Errors: m.Counts.Errors,
			Findings: m.Session.Findings,
		})
	}
	return out
}

// RunDocument is the JSON of "runs" with the id of one: that run, judged, and its calls.
type RunDocument struct {
	Version int       `json:"version"`
	Runs    []Run     `json:"runs"`  // the one that was asked for
	Calls   []RunCall `json:"calls"` // of all its sessions, by their beginning
}

// RunCall is a call as part of a run. It has no params, result and error, which export has.
type RunCall struct {
	Session     string `json:"session"`                // id
	Label       string `json:"label"`                  // of the session
	SessionWide bool   `json:"session_wide,omitempty"` // in a trace: it carried no trace id, so it belongs to its session
	Depth       int    `json:"depth"`                  // 1: under the last call before it that has 0, and so on
	Call
}

// NewRunDocument returns the JSON of the page of a run.
func NewRunDocument(p *view.RunPage) *RunDocument {
	of, found := NewRun(p.Run, p.Now), 0
	for i := range p.Sessions {
		n := p.Sessions[i].Findings
		of.Sessions[i].Findings = &n
		found += n
	}
	of.Findings = &found
	doc := &RunDocument{Version: FormatVersion, Runs: []Run{*of}, Calls: make([]RunCall, 0, len(p.Calls))}
	for i := range p.Calls {
		c := &p.Calls[i]
		h := p.Sessions[c.Session].Header
		doc.Calls = append(doc.Calls, RunCall{h.ID, h.Label, c.Wide, c.Depth, newCall(c.Call, nil)})
	}
	return doc
}

// NewRunParts returns of which runs the session of each index is part.
func NewRunParts(runs []run.Run) map[int][]RunPart {
	parts := map[int][]RunPart{}
	for i := range runs {
		r := &runs[i]
		for k := range r.Members {
			m := &r.Members[k]
			parts[m.Index] = append(parts[m.Index], RunPart{
				r.ID, string(r.Kind), m.Counts.Calls, m.Counts.Requests, m.Counts.Responses, m.Counts.Errors,
			})
		}
	}
	return parts
}
