package export

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/view"
)

// event is one thing to write: a message, or a frame that is none.
type event struct {
	frame *capture.Frame
	step  *session.Step
	at    int  // of the message in step, -1 where the frame is none
	place int  // of the session among those exported
	first bool // of those of its frame that are written
	wide  bool // it belongs to its session, whatever run that is in
}

func (e *event) message() *session.Message {
	if e.at < 0 {
		return nil
	}
	return &e.step.Messages[e.at]
}

func (e *event) element() int32 {
	if m := e.message(); m != nil {
		return m.Element
	}
	return -1
}

// format turns events into output in two steps, so that between them only what is
// small need be kept: render makes the head of an event, emit writes it with the
// raw payload (nil where there is none).
type format interface {
	render(e *event) (head []byte, err error) // holds until the next render
	emit(head, raw []byte) error
}

// events reads the log again and writes what passed in the chosen sessions.
func (p *folded) events(out format) error {
	if err := p.log.Rewind(); err != nil {
		return err
	}
	sink, err := p.sink(out)
	if err != nil {
		return err
	}
	defer sink.close()
	order := newSequence()
	r := session.New(session.Options{})
	err = session.Fold(p.log, r, func(f *capture.Frame, ref capture.Ref, st session.Step) error {
		at := order.next(f)
		place, ok := p.is[p.sessionOf(ref, &st)]
		if !ok {
			return nil
		}
		e := event{frame: f, step: &st, place: place, at: -1, first: true}
		if len(st.Messages) == 0 {
			e.wide = p.scopes.on()
			return sink.put(&e, ref, at)
		}
		for e.at = range st.Messages {
			m := &st.Messages[e.at]
			p.settleEarly(m)
			whose := p.scopes.of(p.chosen[place], m)
			if whose == ofOthers {
				continue
			}
			e.wide = whose == ofSession
			if err := sink.put(&e, ref, at); err != nil {
				return err
			}
			e.first = false
		}
		return nil
	})
	if err != nil {
		return err
	}
	return sink.end()
}

// sink takes events in the order of the log.
type sink interface {
	put(e *event, ref capture.Ref, at position) error
	end() error
	close()
}

func (p *folded) sink(out format) (sink, error) {
	if p.inOrder {
		return &straight{out: out}, nil
	}
	return newMerger(out, p.log, p.o.Temp)
}

// straight writes events as they come.
type straight struct {
	out    format
	pieces view.Pieces
}

func (s *straight) put(e *event, _ capture.Ref, _ position) error {
	head, err := s.out.render(e)
	if err != nil {
		return err
	}
	if e.first {
		s.pieces.Look(e.frame)
	}
	return s.out.emit(head, rawOf(&s.pieces, e.frame, e.element()))
}

func (s *straight) end() error { return nil }
func (s *straight) close()     {}

// rawOf is the JSON of an event: all of the frame's, or that of one element. pieces
// look at that frame.
func rawOf(pieces *view.Pieces, f *capture.Frame, element int32) []byte {
	if f.Form != capture.Raw {
		return nil
	}
	if element < 0 || f.Flags&capture.Batch != 0 || !pieces.Several() {
		return f.Payload
	}
	return pieces.At(element).Text()
}
