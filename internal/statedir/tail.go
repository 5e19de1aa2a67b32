package statedir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"mcpsnoop/internal/capture"
)

// AgainError says that a log no longer holds what was read of it: its frames so far
// are void, and the next ones are read from its start.
type AgainError struct{ Path, Why string }

func (e *AgainError) Error() string { return fmt.Sprintf("log %q was %s", e.Path, e.Why) }

// tail reads one log, all its parts, while it grows. Reading goes in sweeps: each
// hands out what is there and ends with io.EOF.
type tail struct {
	parts   []*tailPart
	decoder func(path string) capture.LineDecoder
	at      int   // part being read, -1 between sweeps
	gone    bool  // no part existed when last looked at
	void    error // to be said before the next sweep
}

func newTail(paths []string, decoder func(path string) capture.LineDecoder) *tail {
	t := &tail{decoder: decoder}
	t.reset(paths)
	return t
}

// reset begins again with these parts.
func (t *tail) reset(paths []string) {
	t.close()
	t.parts, t.at = nil, -1
	for _, path := range paths {
		t.add(path)
	}
}

func (t *tail) add(path string) {
	t.parts = append(t.parts, &tailPart{growing: growing{path: path}, decoder: t.decoder(path)})
}

// paths returns the paths of the parts, in the order that Ref.File counts.
func (t *tail) paths() []string {
	paths := make([]string, len(t.parts))
	for i, p := range t.parts {
		paths[i] = p.path
	}
	return paths
}

// extend adds the parts that are new. Parts that vanished stay, so that those after
// them keep their place; one that belongs before others has all read again.
func (t *tail) extend(paths []string) {
	known := t.paths()
	_, newest := splitPart(known[len(known)-1])
	for _, path := range paths {
		if slices.Contains(known, path) {
			continue
		}
		if _, n := splitPart(path); n < newest {
			t.reset(paths)
			t.void = &AgainError{path, "given a part that comes before others"}
			return
		}
		t.add(path)
	}
}

// next returns the next frame. io.EOF ends a sweep; a *capture.LineError is about
// one line; an *AgainError voids all so far; errAllGone says that no part exists;
// any other error says why a part cannot be read now.
func (t *tail) next(f *capture.Frame) (capture.Ref, error) {
	if err := t.void; err != nil {
		t.void = nil
		return capture.Ref{}, err
	}
	if t.at < 0 {
		if err := t.look(); err != nil {
			return capture.Ref{}, err
		}
		t.at = 0
	}
	for ; t.at < len(t.parts); t.at++ {
		p := t.parts[t.at]
		if !p.ready {
			continue
		}
		ref, err := p.read(f)
		if err != io.EOF {
			ref.File = int32(t.at)
			return ref, err
		}
		p.ready = false
		p.close()
		if p.cut {
			p.drop() // it took the end for the end
		}
	}
	t.at = -1
	return capture.Ref{}, io.EOF
}

var errAllGone = errors.New("log is gone")

// look begins a sweep. It looks at the last part first: whoever writes there has
// written all it ever will to the parts before, so they are read whole before it.
func (t *tail) look() error {
	gone, ready := 0, false
	var trouble error
	for _, p := range slices.Backward(t.parts) {
		var err error
		p.ready, err = p.look()
		var again errAgain
		switch {
		case errors.As(err, &again):
			t.reset(t.paths())
			return &AgainError{p.path, again.why}
		case errors.Is(err, fs.ErrNotExist):
			gone++
		case err != nil:
			trouble = fmt.Errorf("read log %w", pathCause(err))
		}
		ready = ready || p.ready
	}
	was := t.gone
	t.gone = gone == len(t.parts)
	switch {
	case t.gone:
		return errAllGone
	case was:
		t.reset(t.paths())
		return &AgainError{t.parts[0].path, "deleted and made again"}
	case !ready:
		return trouble
	}
	return nil
}

// finish says that nobody writes the log any more: the next sweep, if there is
// anything to it, hands out what stands behind the last newlines.
func (t *tail) finish() (more bool) {
	for _, p := range t.parts {
		p.ready = p.finish()
		more = more || p.ready
	}
	if more {
		t.at = 0
	}
	return more
}

// close closes the files that a sweep holds open.
func (t *tail) close() {
	for _, p := range t.parts {
		p.close()
	}
}

// drop gives back the memory that reading needs, until there is more to read. What
// was read of an unfinished line is kept.
func (t *tail) drop() {
	for _, p := range t.parts {
		if p.reader == nil {
			continue
		}
		if _, n := p.reader.Rest(); n == 0 {
			p.drop()
		}
	}
}

// tailPart is one file of a log.
type tailPart struct {
	growing
	ready   bool // there is something to read in this sweep
	decoder capture.LineDecoder
	reader  *capture.Reader // nil until there is something to read
	base    position        // where reader began
	done    position        // behind the last line that was handed out
}

// position is a place between lines of a file.
type position struct {
	offset int64
	lines  int // before it
}

func (p *tailPart) read(f *capture.Frame) (capture.Ref, error) {
	if p.reader == nil {
		p.base, p.at = p.done, p.done.offset
		p.reader = capture.NewReader(&p.growing, capture.ReaderOptions{Name: p.path, Decoder: p.decoder, Follow: true})
	}
	ref, err := p.reader.Next(f)
	var bad *capture.LineError
	switch {
	case err == nil:
		ref.Offset += p.base.offset
		ref.Line += int32(p.base.lines)
		p.passed(ref.Offset+int64(ref.Len), int(ref.Line))
	case errors.As(err, &bad):
		bad.Offset += p.base.offset
		bad.Line += p.base.lines
		p.passed(bad.Offset+int64(bad.Len), bad.Line)
	case err != io.EOF:
		p.drop()
	}
	return ref, err
}

// passed notes that a line was handed out, of which the text ends at end.
func (p *tailPart) passed(end int64, line int) {
	offset, _ := p.reader.Rest()
	p.done = position{p.base.offset + offset, line}
	if p.done.offset == end { // its newline was not
		p.done.lines--
	}
}

// finish reports whether there is a line that lacks its newline. It is the last.
func (p *tailPart) finish() bool {
	if p.reader == nil {
		return false
	}
	_, n := p.reader.Rest()
	if n > 0 {
		p.reader.End()
		p.cut = true
	}
	return n > 0
}

// drop forgets the reader: reading goes on behind the last line handed out.
func (p *tailPart) drop() {
	p.close()
	p.reader = nil
}
