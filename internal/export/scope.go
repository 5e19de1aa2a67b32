package export

import (
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/tracectx"
)

// scope is whose a call is, as seen from a run.
type scope uint8

const (
	ofSession scope = iota // it carried no trace id: its session's, whatever run that is in
	ofRun
	ofOthers
)

// scopes says of each call of the sessions whose it is. Where no trace was asked for,
// everything is the run's.
type scopes struct {
	trace tracectx.TraceID
	calls [][]scope // by session and index
}

// on reports whether there is anything to tell apart.
func (s *scopes) on() bool { return s.trace != (tracectx.TraceID{}) }

// put notes whose a call is, and returns that.
func (s *scopes) put(session int, c *session.Call) scope {
	if !s.on() {
		return ofRun
	}
	whose := ofSession
	switch {
	case c.InTrace(s.trace):
		whose = ofRun
	case c.Traced():
		whose = ofOthers
	}
	for len(s.calls) <= session {
		s.calls = append(s.calls, nil)
	}
	for len(s.calls[session]) <= int(c.Index) {
		s.calls[session] = append(s.calls[session], ofSession)
	}
	s.calls[session][c.Index] = whose
	return whose
}

// of returns whose a message is, nil being a frame that is none.
func (s *scopes) of(session int, m *session.Message) scope {
	switch {
	case !s.on():
		return ofRun
	case m == nil || m.Call < 0 || session >= len(s.calls) || int(m.Call) >= len(s.calls[session]):
		return ofSession
	}
	return s.calls[session][m.Call]
}
