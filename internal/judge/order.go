package judge

import (
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/session"
)

// held is an answer of a log that was numbered after its frames had gone on: it may
// stand before its request, and waits for it a little.
type held struct {
	frame   *capture.Frame
	element int
	kind    Kind
	key     uint64
	until   uint64
	late    time.Time
	post    *Post // that it belongs to: the exchange may be over when it is handed out
	reply   *Reply
}

// Limits of waiting, and of what may wait.
const (
	maxHeld       = 64
	maxHeldFrames = 256
	maxHeldTime   = 2 * time.Second
	maxHeldFrame  = 1 << 20 // of one frame
	maxHeldBytes  = 4 << 20 // bytes
)

// hold keeps an answer back that may stand before its request.
func (s *conv) hold(e *Event) bool {
	if !s.unordered || e.Msg.ID == nil || string(e.Msg.ID) == "null" || len(s.held) >= maxHeld || len(e.Frame.Payload) > maxHeldFrame {
		return false
	}
	size := len(e.Frame.Payload)
	for i := range s.held {
		size += len(s.held[i].frame.Payload)
	}
	if size > maxHeldBytes {
		return false
	}
	key := IDKey(e.From.other(), e.Msg.ID)
	if s.requests.open[key] != nil {
		return false
	}
	s.held = append(s.held, held{
		frame: e.Frame.Clone(), element: e.Msg.Element, kind: e.Kind, key: key,
		until: s.frames + maxHeldFrames, late: e.At.Wall.Add(maxHeldTime), post: e.Post, reply: e.Reply,
	})
	return true
}

// deliver hands out the answer that waited for a request.
func (s *conv) deliver(r *Req) {
	for i := range s.held {
		if s.held[i].key == r.key {
			h := s.held[i]
			s.held = append(s.held[:i], s.held[i+1:]...)
			s.handOut(&h)
			return
		}
	}
}

// expire gives up on answers whose request should have come by now.
func (s *conv) expire(f *capture.Frame) {
	for len(s.held) > 0 && (s.frames > s.held[0].until || f.Time.After(s.held[0].late)) {
		s.handOutFirst()
	}
}

func (s *conv) handOutFirst() {
	h := s.held[0]
	s.held = s.held[:copy(s.held, s.held[1:])]
	s.handOut(&h)
}

func (s *conv) handOut(h *held) {
	f := h.frame
	var m *jsonrpc.Message
	if parsed := s.j.parser.Parse(f.Payload); len(parsed) > 0 {
		m = element(parsed, int32(h.element))
	}
	if m == nil {
		return
	}
	e := &Event{
		Kind: h.kind, From: actorOf(f.Dir), Seq: f.Seq, At: session.Instant{Wall: f.Time, Mono: f.Mono},
		Transport: f.Transport, Frame: f, Msg: m, Post: h.post, Reply: h.reply, Facts: &s.facts, s: s,
	}
	s.tell(e)
}

// Finish says that no frame will follow: what was held back is judged as it stands.
func (j *Judge) Finish() {
	for _, s := range j.convs {
		for len(s.held) > 0 {
			s.handOutFirst()
		}
	}
}
