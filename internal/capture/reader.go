package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
)

// LineError says that a line of a log could not be read. Reading may go on.
type LineError struct {
	File   string
	Line   int   // from 1
	Offset int64 // of the line
	Len    int   // in bytes, newline excluded
	Torn   bool  // the log ends inside this line
	Err    error
}

func (e *LineError) Error() string {
	return fmt.Sprintf("read log %q: line %d: %v", e.File, e.Line, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }

// Reasons for which a line is unreadable, besides those a decoder finds.
var (
	ErrTorn = errors.New("cut off")
	ErrLong = errors.New("longer than a line may be")
	ErrNUL  = errors.New("zero bytes, as a crash of the machine leaves them")
)

// MaxLine is the longest line that a reader holds in memory, newline excluded: far
// above the largest copy of a message that a tap records.
const MaxLine = 256 << 20

const bufferSize = 64 << 10

var utf8BOM = []byte("\uFEFF")

// ReaderOptions say how a stream of lines is read. The zero value will do.
type ReaderOptions struct {
	Name    string      // of the log, for errors
	Decoder LineDecoder // nil for a Decoder of this package
	Follow  bool        // the log may grow, see Reader.Next
	MaxLine int         // 0 for the constant of that name, which it cannot exceed
}

// Reader reads frames from a stream of lines.
//
// Lines of nothing but spaces are passed over; they count for line numbers. A last
// line without a newline is a frame if it is whole.
type Reader struct {
	o   ReaderOptions
	src io.Reader
	err error // of src, to be reported once all it gave is consumed

	buf     []byte // buf[start:end] is read but not consumed, buf[start:seen] has no newline
	start   int
	seen    int
	end     int
	largest int   // line consumed since the buffer was last filled
	offset  int64 // of buf[start] in the stream
	line    int   // lines consumed
	skipped int64 // bytes dropped of a line that is too long, 0 outside of one
}

// NewReader returns a reader of src.
func NewReader(src io.Reader, o ReaderOptions) *Reader {
	if o.Decoder == nil {
		o.Decoder = new(Decoder)
	}
	if o.MaxLine <= 0 || o.MaxLine > MaxLine {
		o.MaxLine = MaxLine
	}
	return &Reader{o: o, src: src}
}

// End says that a log that was followed will not grow any more: what stands after
// its last newline is its last line.
func (r *Reader) End() { r.o.Follow = false }

// Rest returns where the line begins that is not yet complete, and how much of it
// has been read. It is for logs that are followed, after io.EOF.
func (r *Reader) Rest() (offset, n int64) {
	return r.offset - r.skipped, r.skipped + int64(r.end-r.start)
}

// Next reads the next frame into f. It returns a *LineError for a line that cannot
// be read, after which reading goes on behind that line. It returns io.EOF at the
// end; with Follow that is behind the last newline so far, and there may be more.
func (r *Reader) Next(f *Frame) (Ref, error) {
	for {
		line, whole, err := r.nextLine()
		if err != nil {
			return Ref{}, err
		}
		if r.offset == 0 && bytes.HasPrefix(line, utf8BOM) {
			r.pass(len(utf8BOM))
			continue
		}
		if len(line) > 0 && line[0] == 0 {
			return Ref{}, r.zeros(line, whole)
		}
		at, n := r.offset, len(line)
		r.consume(n, whole)
		if n == 0 || line[0] != '{' && len(bytes.TrimLeft(line, " \t\r")) == 0 {
			continue
		}
		if err := r.o.Decoder.Decode(line, f); err != nil {
			if !whole {
				err = fmt.Errorf("%w: %w", ErrTorn, err)
			}
			return Ref{}, r.lineError(at, n, !whole, err)
		}
		return Ref{Seq: f.Seq, Offset: at, Len: int32(n), Line: int32(min(r.line, math.MaxInt32))}, nil
	}
}

// zeros reports the zero bytes at the start of a line. What stands behind them may be
// a frame: it is left as the rest of the line.
func (r *Reader) zeros(line []byte, whole bool) error {
	at, n := r.offset, len(line)-len(bytes.TrimLeft(line, "\x00"))
	if n == len(line) {
		r.consume(n, whole)
		return r.lineError(at, n, !whole, ErrNUL)
	}
	r.pass(n)
	e := r.lineError(at, n, false, ErrNUL)
	e.Line++ // not consumed yet
	return e
}

func (r *Reader) lineError(at int64, n int, torn bool, err error) *LineError {
	return &LineError{File: r.o.Name, Line: r.line, Offset: at, Len: n, Torn: torn, Err: err}
}

// nextLine returns the next line and whether it ends in a newline. It consumes
// nothing, lines that are too long apart.
func (r *Reader) nextLine() (line []byte, whole bool, err error) {
	for {
		if i := bytes.IndexByte(r.buf[r.seen:r.end], '\n'); i >= 0 {
			line, whole = r.buf[r.start:r.seen+i], true
			break
		}
		r.seen = r.end
		if r.end-r.start > r.o.MaxLine || r.skipped > 0 {
			r.skip()
		}
		if err := r.fill(); err == nil {
			continue
		} else if err != io.EOF || r.o.Follow || r.end == r.start && r.skipped == 0 {
			return nil, false, err
		}
		line = r.buf[r.start:r.end]
		break
	}
	if r.skipped > 0 || len(line) > r.o.MaxLine {
		at, n := r.offset-r.skipped, int(r.skipped)+len(line)
		r.skipped = 0
		r.consume(len(line), whole)
		return nil, false, r.lineError(at, n, !whole, fmt.Errorf("%w: %d bytes", ErrLong, r.o.MaxLine))
	}
	return line, whole, nil
}

// consume moves behind a line.
func (r *Reader) consume(n int, whole bool) {
	r.line++
	r.largest = max(r.largest, n)
	if whole {
		n++
	}
	r.pass(n)
}

// pass moves on by n bytes.
func (r *Reader) pass(n int) {
	r.start += n
	r.offset += int64(n)
	r.seen = max(r.seen, r.start)
}

// skip drops what is there of a line that is too long.
func (r *Reader) skip() {
	n := r.end - r.start
	r.skipped += int64(n)
	r.pass(n)
}

// fill reads more behind what is not consumed, and makes room for it first: it grows
// the buffer for a line that does not fit, and gives the memory back once a whole
// buffer was read without such a line.
func (r *Reader) fill() error {
	if r.err != nil && r.err != io.EOF {
		return r.err
	}
	rest := r.buf[r.start:r.end]
	size := len(r.buf)
	switch {
	case size == 0 || size > bufferSize && len(rest) <= bufferSize/2 && r.largest <= size/4:
		size = bufferSize
	case len(rest) > size/2:
		size = min(2*size, r.o.MaxLine+bufferSize)
	}
	r.largest = 0
	to := r.buf
	if size != len(r.buf) {
		to = make([]byte, size)
	}
	if r.start > 0 || size != len(r.buf) {
		r.end = copy(to, rest)
		r.seen -= r.start
		r.start, r.buf = 0, to
	}
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		if err != nil && err != io.EOF {
			r.err = fmt.Errorf("read log %q: %w", r.o.Name, err)
			err = r.err
		}
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("read log %q: %w", r.o.Name, io.ErrNoProgress)
}
