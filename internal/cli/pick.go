package cli

import (
	"regexp"
	"slices"
	"strconv"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
)

// pick is which sessions of a log an argument names: all, or with "<id>.<n>" the nth.
type pick int

// ofTap reports whether a session is one of them.
func (p pick) ofTap(h *session.Header) bool { return p == 0 || h.Number == int(p) }

// numbered is an argument that ends in the number of a session.
var numbered = regexp.MustCompile(`^(.+)\.([1-9][0-9]{0,8})$`)

// splitPick takes the number of a session off an argument.
func splitPick(arg string) (rest string, p pick, ok bool) {
	m := numbered.FindStringSubmatch(arg)
	if m == nil {
		return "", 0, false
	}
	n, _ := strconv.Atoi(m[2]) // cannot fail: nine digits
	return m[1], pick(n), true
}

// has makes sure that the session asked for is there.
func (p pick) has(r *session.Reducer, name string) error {
	for i := range r.Len() {
		if h := r.Header(i); p.ofTap(&h) {
			return nil
		}
	}
	if p == 0 {
		return nil
	}
	return usagef("mcpsnoop sessions lists them", "no session %d in %q: it holds %d", p, name, r.Len())
}

// picked prints the frames of the sessions that were asked for. It holds the head of an
// HTTP request back until it is known whose it is.
type picked struct {
	pick    pick
	members members // of those of pick; nil: all
	sorted  bool    // whose a frame is matters though all are printed
	heads   []head
}

type head struct {
	frame *capture.Frame
	step  session.Step
}

// maxHeads bounds the heads that are held back.
const maxHeads = 1024

// print prints a frame, and what was held back until it came.
func (p *picked) print(out printer, h *session.Header, f *capture.Frame, st session.Step, found []judge.Group) error {
	if p.pick == 0 && p.members == nil && !p.sorted {
		return out.frame(h.ID, f, st, found)
	}
	if st.Guess {
		if len(p.heads) >= maxHeads {
			p.heads = slices.Delete(p.heads, 0, 1)
		}
		st.Gaps, st.Guess = slices.Clone(st.Gaps), false
		p.heads = append(p.heads, head{f.Clone(), st})
		return nil
	}
	mine := p.pick.ofTap(h) && p.members.has(h)
	for i, held := range p.heads {
		if held.frame.Tap != f.Tap || held.frame.Exchange != f.Exchange {
			continue
		}
		p.heads = slices.Delete(p.heads, i, i+1)
		if mine {
			held.step.Session = st.Session // until now it was a guess
			if err := out.frame(h.ID, held.frame, held.step, nil); err != nil {
				return err
			}
		}
		break
	}
	if !mine {
		return nil
	}
	return out.frame(h.ID, f, st, found)
}
