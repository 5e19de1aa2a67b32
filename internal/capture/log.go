package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Reasons for which an input cannot be read as a log, or not any more.
var (
	ErrDirectory = errors.New("is a directory")
	ErrEmpty     = errors.New("nothing in it")
	ErrNoCapture = errors.New("no capture: not one line can be read")
	ErrTooLarge  = errors.New("larger than allowed once decompressed")
	ErrGone      = errors.New("payload gone")
	ErrOnePass   = errors.New("opened for reading once")
)

// MaxBytes is how large a compressed log may become.
const MaxBytes = 16 << 30

// Options say how a log is opened. The zero value will do.
type Options struct {
	Decoder  func(name string) LineDecoder // nil for the Decoder of this package
	Again    bool                          // Rewind and Fetch will be called
	MaxBytes int64                         // of a log once decompressed, 0 for the constant of that name
	TempDir  string                        // of what Again needs a copy of, "" for the system's
}

// Log is an opened log: one file, the parts of one log, or a stream, each perhaps
// compressed with gzip or zstd. With Options.Again it can be read a second time, and
// frames can be fetched: what cannot be read again as it stood is copied to a
// temporary file while it is read.
type Log struct {
	o     Options
	parts []*part
	at    int   // the part being read
	any   bool  // a frame was read in this pass
	err   error // that ended this pass

	// Until the first frame of a part shows that it is a capture, errors are held back.
	held    []*LineError
	waiting bool // first holds a frame to be given after them
	first   Frame
	ref     Ref

	fetching sync.Mutex
}

// maxHeld is how many unreadable lines may stand before the first frame before they
// are reported one by one.
const maxHeld = 1000

// OpenLog opens files that are read one after the other, as one log: [Ref.File]
// counts them. Their sizes count as they are now; what a live log gains is not read.
func OpenLog(o Options, paths ...string) (*Log, error) {
	l := &Log{o: o}
	for _, path := range paths {
		p, err := openPart(path)
		if err != nil {
			l.Close()
			return nil, fmt.Errorf("read log %q: %w", path, err)
		}
		l.parts = append(l.parts, p)
	}
	return l, nil
}

// OpenStream opens what can be read only once, such as standard input. It does not
// close r.
func OpenStream(o Options, name string, r io.Reader) *Log {
	return &Log{o: o, parts: []*part{{name: name, src: r}}}
}

// Name returns the name of a file of the log, by its number in [Ref.File].
func (l *Log) Name(file int32) string { return l.parts[file].name }

// Next reads the next frame into f, as [Reader.Next] does. Besides it returns errors
// that wrap ErrEmpty or ErrNoCapture instead of io.EOF for an input in which nothing
// is or of which nothing can be read, and other errors that end the reading.
func (l *Log) Next(f *Frame) (Ref, error) {
	for l.err == nil {
		if l.at == len(l.parts) {
			if l.err = io.EOF; !l.any {
				l.err = ErrEmpty
				if len(l.parts) > 0 {
					l.err = l.parts[0].error(ErrEmpty)
				}
			}
			break
		}
		p := l.parts[l.at]
		if len(l.held) > 0 && (p.proved || p.doubtful) {
			e := l.held[0]
			l.held = l.held[1:]
			return Ref{}, e
		}
		if l.waiting {
			l.waiting, *f = false, l.first
			return l.ref, nil
		}
		ref, err := p.next(&l.o, f)
		if err == nil {
			ref.File = int32(l.at)
			p.proved, l.any = true, true
			if len(l.held) == 0 {
				return ref, nil
			}
			l.waiting, l.first, l.ref = true, *f, ref
			continue
		}
		l.failed(p, err)
	}
	return Ref{}, l.err
}

// failed takes an error of the part that is being read.
func (l *Log) failed(p *part, err error) {
	var line *LineError
	switch {
	case errors.As(err, &line):
		l.held = append(l.held, line)
		p.doubtful = p.doubtful || len(l.held) > maxHeld
		p.bad = true
	case err != io.EOF:
		l.err = err
	case p.bad && !p.proved:
		l.err = p.error(ErrNoCapture)
		if len(l.held) > 0 {
			l.err = fmt.Errorf("%w (line %d: %w)", l.err, l.held[0].Line, l.held[0].Err)
		}
	default:
		l.at++
	}
}

// Rewind goes back to the first frame for a second pass over the same bytes.
func (l *Log) Rewind() error {
	for _, p := range l.parts {
		if err := p.rewind(&l.o); err != nil {
			return err
		}
	}
	l.at, l.any, l.err, l.held, l.waiting = 0, false, nil, nil, false
	return nil
}

// Fetch reads the frame at a place that Next gave; it owns its memory. If another
// frame, or none, stands there now, the error is ErrGone. Fetch may be called while
// another goroutine is in Next.
func (l *Log) Fetch(ref Ref) (*Frame, error) {
	l.fetching.Lock()
	defer l.fetching.Unlock()
	if ref.File < 0 || int(ref.File) >= len(l.parts) {
		return nil, fmt.Errorf("fetch frame %d: %w", ref.Seq, ErrGone)
	}
	p := l.parts[ref.File]
	f, err := p.fetch(&l.o, ref)
	if err != nil {
		return nil, fmt.Errorf("fetch frame %d of log %q: %w", ref.Seq, p.name, err)
	}
	return f, nil
}

// Close closes the files and deletes the copies.
func (l *Log) Close() error {
	var errs []error
	for _, p := range l.parts {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}

// decoder returns a decoder for a file of that name.
func (o *Options) decoder(name string) LineDecoder {
	if o.Decoder == nil {
		return new(Decoder)
	}
	return o.Decoder(name)
}

// openPart opens a file.
func openPart(path string) (*part, error) {
	file, err := os.Open(path)
	if err != nil {
		if inner := (*os.PathError)(nil); errors.As(err, &inner) {
			err = inner.Err // the caller names the path
		}
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = ErrDirectory
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	p := &part{name: path, file: file, src: file}
	if size := info.Size(); info.Mode().IsRegular() && !compressed(io.NewSectionReader(file, 0, size)) {
		p.plain, p.size = true, size
	}
	return p, nil
}
