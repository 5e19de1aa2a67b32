package session

import (
	"strconv"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/tracectx"
)

func (r *Reducer) newConversation(t *tap) *conversation {
	s := &conversation{
		r: r, tap: t, index: len(r.sessions), number: len(t.sessions) + 1, transport: t.transport,
		peers:    peers{r: r},
		calls:    calls{open: map[uint64]*call{}, byID: map[uint64]*ring{}},
		progress: tokens{open: map[uint64]*call{}},
		retries:  retries{byState: map[uint64]*ring{}, byInput: map[uint64]*ring{}},
		tasks:    tasks{byID: map[uint64]*call{}},
		http:     posts{groups: map[uint64]*ring{}},
	}
	for dir := range s.signs {
		s.signs[dir].message = -1
	}
	s.calls.seen.index = r.options.Keep
	if r.options.Keep {
		s.keep = newKeeper(&r.names)
	}
	if r.options.Keep || r.options.Stats {
		s.stats = newStats()
	}
	if r.options.Keep || r.options.Catalog {
		s.offers = newOffers()
	}
	return s
}

// span stretches the session over a frame.
func (s *conversation) span(at Instant) {
	if s.first == (Instant{}) {
		s.first = at
	}
	s.last = at
}

// noteGap adds a note on the record to the tap and to the step.
func (s *conversation) noteGap(n GapNote) {
	s.tap.note(n)
	s.r.step.Gaps = append(s.r.step.Gaps, n)
}

// own takes a note of the tap's own.
func (s *conversation) own(f *capture.Frame, line int) {
	t := s.tap
	switch f.Kind {
	case capture.Start, capture.Line:
		if info, err := capture.ParseStart(f.Payload); err == nil {
			t.start = info
		}
	case capture.Clock:
		if info, err := capture.ParseClock(f.Payload); err == nil {
			s.noteGap(GapNote{Kind: Stepped, Line: line, Seq: max(f.Seq, 1) - 1, Clock: info})
		}
	case capture.End:
		first := t.end == nil
		if info, err := capture.ParseEnd(f.Payload); err == nil {
			t.end = &info
		} else {
			t.end = &capture.EndInfo{}
		}
		if first {
			for _, s := range t.sessions {
				s.left()
			}
		}
	}
}

// header returns what the session is, as it stands.
func (s *conversation) header() Header {
	h := Header{
		ID: s.tap.id, Tap: s.tap.id, Number: s.number, Label: s.tap.label, Transport: s.transport, Start: s.tap.start, End: s.tap.end,
		Client: s.peers.client.Peer, Server: s.peers.server.Peer, Instructions: s.peers.instructions,
		First: s.first, Last: s.last, Counts: s.counts, Traces: s.traces.copied(), MoreTraced: s.traces.more,
	}
	if len(s.tap.sessions) > 1 {
		h.ID += "." + strconv.Itoa(s.number)
	}
	h.Revision, h.RevisionText = s.revisions.header()
	h.Counts.Missing, h.Counts.Unreadable, h.Counts.Torn = s.tap.missing, s.tap.unreadable, s.tap.torn
	return h
}

// recall returns a call that is only in the list any more.
func (s *conversation) recall(index int32) *Call {
	list := CallList{
		calls: frozen[packedCall]{s.keep.calls.chunks, s.keep.calls.n},
		messages: MessageList{
			messages: frozen[packedMessage]{s.keep.messages.chunks, s.keep.messages.n},
			ids:      frozen[string]{s.keep.ids.chunks, s.keep.ids.n}, names: s.keep.names.list,
		},
		traces: frozen[tracectx.TraceID]{s.keep.traces.chunks, s.keep.traces.n},
		signs:  s.signs,
	}
	s.r.recall = append(s.r.recall, list.At(int(index)))
	return &s.r.recall[len(s.r.recall)-1]
}
