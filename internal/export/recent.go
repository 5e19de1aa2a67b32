package export

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/view"
)

// recent fetches frames, and keeps the batches among those fetched last: each of
// their elements leads back to the same frame. Two, because the calls of a batch go
// back and forth between that of the requests and that of the answers.
type recent struct {
	log   Log
	kept  [2]fetched
	other fetched // what was fetched last, if it is no batch
	next  int     // place of kept to be taken
}

// fetched is a frame and what it holds.
type fetched struct {
	ref    capture.Ref
	frame  *capture.Frame // nil if none
	pieces view.Pieces
}

// fetch returns the frame at a place. It holds until the next fetch.
func (r *recent) fetch(ref capture.Ref) (*fetched, error) {
	for i := range r.kept {
		if k := &r.kept[i]; k.frame != nil && k.ref == ref {
			r.next = 1 - i
			return k, nil
		}
	}
	f, err := r.log.Fetch(ref)
	if err != nil {
		return nil, err
	}
	into := &r.other
	if mayBeBatch(f) {
		into = &r.kept[r.next]
		r.next = 1 - r.next
	}
	into.ref, into.frame = ref, f
	into.pieces.Look(f)
	return into, nil
}

func mayBeBatch(f *capture.Frame) bool {
	for _, c := range f.Payload {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		}
		return f.Form == capture.Raw && c == '['
	}
	return false
}
