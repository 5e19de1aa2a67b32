package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// part is one file or stream of a Log.
type part struct {
	name  string
	file  *os.File  // nil for a stream that is not ours
	plain bool      // a regular file that is not compressed
	size  int64     // of the plain file when it was opened, else of the spool
	src   io.Reader // what is read in the first pass

	spool  *os.File // copy of all that was read from src, once decompressed
	reader *Reader
	closer func()
	damage error // of the compression: nothing behind it can be read

	bad      bool // a line was unreadable
	proved   bool // a line was a frame
	doubtful bool // too many lines were not for holding errors back any longer
	damaged  bool // damage was reported in this pass
}

func (p *part) error(err error) error { return fmt.Errorf("read log %q: %w", p.name, err) }

// next reads the next frame of the part.
func (p *part) next(o *Options, f *Frame) (Ref, error) {
	if p.reader == nil {
		if err := p.begin(o); err != nil {
			return Ref{}, err
		}
	}
	ref, err := p.reader.Next(f)
	if err == nil || p.damage == nil || p.damaged {
		return ref, err
	}
	// The damage is one unreadable line: the one it cut off, or the one that would follow.
	var e *LineError
	if err == io.EOF {
		e = p.reader.lineError(p.reader.offset, 0, true, p.damage)
		e.Line++
	} else if !errors.As(err, &e) || !e.Torn {
		return ref, err
	}
	e.Err, p.damaged = p.damage, true
	return Ref{}, e
}

// begin starts the first pass.
func (p *part) begin(o *Options) error {
	if p.plain {
		p.src = io.NewSectionReader(p.file, 0, p.size)
	} else if err := p.prepare(o); err != nil {
		return err
	}
	p.reader = NewReader(p.src, ReaderOptions{Name: p.name, Decoder: o.decoder(p.name)})
	return nil
}

// prepare makes src give the bytes of the log as they are decompressed, and keep a
// copy of them if they will be needed again.
func (p *part) prepare(o *Options) error {
	head := bufio.NewReader(p.src)
	p.src = head
	if compressed(head) {
		limit := o.MaxBytes
		if limit <= 0 {
			limit = MaxBytes
		}
		p.src = &limited{from: p.decompress(head), left: limit, part: p}
	}
	if !o.Again {
		return nil
	}
	spool, err := os.CreateTemp(o.TempDir, "mcpsnoop-*.jsonl") // mode 0600
	if err != nil {
		return fmt.Errorf("copy log %q: %w", p.name, err)
	}
	if p.spool = spool; runtime.GOOS != "windows" { // there it is deleted on close
		os.Remove(spool.Name())
	}
	p.src = &spooling{p.src, p}
	return nil
}

// compressed reports whether what r is about to give begins like a gzip or zstd file.
// Of a *bufio.Reader nothing is consumed.
func compressed(r io.Reader) bool {
	var head []byte
	if b, ok := r.(*bufio.Reader); ok {
		head, _ = b.Peek(4)
	} else {
		head = make([]byte, 4)
		n, _ := io.ReadFull(r, head)
		head = head[:n]
	}
	switch {
	case len(head) >= 2 && string(head[:2]) == gzipMagic, string(head) == zstdMagic:
		return true
	}
	return len(head) == 4 && head[0]&0xf0 == 0x50 && string(head[1:]) == skipMagic
}

const (
	gzipMagic = "\x1f\x8b"
	zstdMagic = "\x28\xb5\x2f\xfd"
	skipMagic = "\x2a\x4d\x18" // behind 0x50 to 0x5f: a frame to be skipped, with which parallel zstd begins
)

// decompress returns a reader of what r holds compressed. It fails on reading, not here.
func (p *part) decompress(r *bufio.Reader) io.Reader {
	if head, _ := r.Peek(2); string(head) == gzipMagic {
		z, err := gzip.NewReader(r)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return failing{err}
		}
		return z
	}
	// A window is memory: 128 MiB is what zstd itself accepts without being asked.
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return failing{err}
	}
	p.closer = z.Close
	return z
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// limited passes decompressed bytes on up to a limit. An error of the compression
// ends them; what came before it stands.
type limited struct {
	from io.Reader
	left int64
	part *part
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.from.Read(b)
	if l.left -= int64(n); l.left < 0 {
		return 0, ErrTooLarge
	}
	if err != nil && err != io.EOF {
		l.part.damage = fmt.Errorf("%w: decompress: %w", ErrTorn, err)
		err = io.EOF
	}
	return n, err
}

// spooling copies what is read to the spool.
type spooling struct {
	from io.Reader
	part *part
}

func (s *spooling) Read(b []byte) (int, error) {
	n, err := s.from.Read(b)
	if _, werr := s.part.spool.Write(b[:n]); werr != nil {
		return 0, fmt.Errorf("copy to a temporary file: %w", werr)
	}
	s.part.size += int64(n)
	return n, err
}

// rewind makes the next call of next read the first frame again.
func (p *part) rewind(o *Options) error {
	if p.reader == nil {
		return nil
	}
	if !p.plain {
		if p.spool == nil {
			return p.error(ErrOnePass)
		}
		if _, err := io.Copy(io.Discard, p.src); err != nil { // what was not read is copied now
			return p.error(err)
		}
	}
	p.reader = NewReader(io.NewSectionReader(p.again(), 0, p.size), ReaderOptions{Name: p.name, Decoder: o.decoder(p.name)})
	p.bad, p.proved, p.doubtful, p.damaged = false, false, false, false
	return nil
}

// again returns the file in which the bytes of the log can be read again, nil if none.
func (p *part) again() *os.File {
	if p.plain {
		return p.file
	}
	return p.spool
}

// fetch reads the frame at a place.
func (p *part) fetch(o *Options, ref Ref) (*Frame, error) {
	file := p.again()
	if file == nil {
		return nil, ErrOnePass
	}
	if ref.Offset < 0 || ref.Len < 0 {
		return nil, ErrGone
	}
	line := make([]byte, int(ref.Len)+1)
	n, err := file.ReadAt(line, ref.Offset)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if n < int(ref.Len) || n > int(ref.Len) && line[ref.Len] != '\n' {
		return nil, ErrGone
	}
	var f Frame
	if err := o.decoder(p.name).Decode(line[:ref.Len], &f); err != nil || f.Seq != ref.Seq {
		return nil, ErrGone
	}
	return f.Clone(), nil
}

func (p *part) close() error {
	var errs []error
	if p.closer != nil {
		p.closer()
	}
	if p.file != nil {
		errs = append(errs, p.file.Close())
	}
	if p.spool != nil {
		errs = append(errs, p.spool.Close())
		if runtime.GOOS == "windows" {
			errs = append(errs, os.Remove(p.spool.Name()))
		}
	}
	return errors.Join(errs...)
}
