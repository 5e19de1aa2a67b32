package tap

import (
	"bufio"
	"compress/flate"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// decoding undoes the content coding of a copied body, piece by piece as it passed.
// The decoders pull and we push, so they run as a coroutine that stops where more
// input is needed. It belongs to the writer, never to the traffic.
type decoding struct {
	in    []byte // not yet read by the decoder
	ended bool   // there is no more
	next  func() (decoded []byte, ok bool)
	stop  func()
	err   error // why decoding ended early
	out   int64 // bytes that came out
	fed   int64 // bytes that went in
}

// maxCodings is how many codings on top of one another are undone.
const maxCodings = 4

// A stream may grow to this when decoded, and to so many times its size on the wire.
// What grows more is a bomb: nothing else of it is decoded.
const (
	growFree  = 64 << 20
	growTimes = 100
)

var (
	errBomb       = errors.New("it grows too much when decoded")
	errInputEnded = errors.New("decoding was stopped")
)

// newDecoding returns what undoes the codings that a Content-Encoding header lists;
// nil if there are none, or some that nobody knows.
func newDecoding(contentEncoding []string) *decoding {
	var codings []string
	for _, line := range contentEncoding {
		for name := range strings.SplitSeq(line, ",") {
			switch name = strings.ToLower(strings.TrimSpace(name)); name {
			case "", "identity":
			case "gzip", "x-gzip", "deflate", "br", "zstd":
				codings = append(codings, name)
			default:
				return nil
			}
		}
	}
	if len(codings) == 0 || len(codings) > maxCodings {
		return nil
	}
	d := &decoding{}
	d.next, d.stop = iter.Pull(d.run(codings))
	return d
}

// run is the coroutine. It yields decoded bytes, and nil where it needs more input.
func (d *decoding) run(codings []string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		defer func() { // a decoder's defect must not end the traffic
			if p := recover(); p != nil {
				d.err = fmt.Errorf("decoder failed: %v", p)
			}
		}()
		var r io.Reader = &pulled{d, yield}
		for i := len(codings) - 1; i >= 0; i-- {
			var done func()
			var err error
			if r, done, err = decoder(codings[i], r); err != nil {
				d.err = err
				return
			}
			if done != nil {
				defer done()
			}
		}
		buf := make([]byte, 32<<10)
		for {
			n, err := r.Read(buf)
			if n > 0 && !yield(buf[:n]) {
				return
			}
			if err != nil {
				if err != io.EOF {
					d.err = err
				}
				return
			}
		}
	}
}

// decoder returns a reader that undoes one coding.
func decoder(coding string, r io.Reader) (_ io.Reader, done func(), err error) {
	switch coding {
	case "br":
		return brotli.NewReader(r), nil, nil
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(32<<20))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	case "deflate":
		// The standard says zlib; some send what is inside of it.
		b := bufio.NewReader(r)
		head, err := b.Peek(2)
		if err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			z, err := zlib.NewReader(b)
			return z, nil, err
		}
		return flate.NewReader(b), nil, nil
	}
	z, err := gzip.NewReader(r)
	return z, nil, err
}

// pulled is the input of the coroutine.
type pulled struct {
	d     *decoding
	yield func([]byte) bool
}

func (p *pulled) Read(b []byte) (int, error) {
	for len(p.d.in) == 0 {
		if p.d.ended {
			return 0, io.EOF
		}
		if !p.yield(nil) {
			return 0, errInputEnded
		}
	}
	n := copy(b, p.d.in)
	p.d.in = p.d.in[n:]
	return n, nil
}

// feed decodes a piece. It calls each for what comes out, which is valid until it
// returns, and stops when each returns false or nothing more will come.
func (d *decoding) feed(piece []byte, last bool, each func([]byte) bool) {
	d.in, d.ended = piece, last
	d.fed += int64(len(piece))
	for {
		out, ok := d.next()
		if !ok || out == nil {
			return
		}
		if d.out += int64(len(out)); d.out > growFree+growTimes*d.fed {
			d.err = errBomb
			d.stop()
			return
		}
		if !each(out) {
			d.stop()
			return
		}
	}
}
