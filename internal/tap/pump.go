package tap

import (
	"io"
	"sync/atomic"

	"mcpsnoop/internal/capture"
)

// stream is one of the three that pass through a stdio tap.
type stream uint8

const (
	c2s stream = iota
	s2c
	stderr
	streams
)

func (s stream) dir() capture.Dir {
	return [streams]capture.Dir{capture.C2S, capture.S2C, capture.Stderr}[s]
}

// pump carries one stream from src to dst. Each chunk takes its place in the record
// before it goes on.
type pump struct {
	stream stream
	src    io.Reader
	dst    io.Writer
	rec    *recorder     // nil: nothing is recorded
	grow   func()        // called once, when a message larger than a pipe has begun; may be nil
	done   chan struct{} // closed when run has returned

	moved   atomic.Uint64 // reads and writes completed
	writing atomic.Bool   // waiting for dst, not for src

	blk  *block
	off  int
	line int64 // bytes known to have come since the last line end
	size int   // of the blocks to read into
	pool *pool
}

// pumpEnd says which side a stream ended at.
type pumpEnd uint8

const (
	srcEnded pumpEnd = iota // src has no more, or cannot be read
	dstBroke                // nobody reads dst any more
)

func newPump(s stream, src io.Reader, dst io.Writer, rec *recorder, p *pool) *pump {
	return &pump{stream: s, src: src, dst: dst, rec: rec, done: make(chan struct{}), size: blockSize, pool: p}
}

// run forwards until either side ends, and then calls ended.
func (p *pump) run(ended func(pumpEnd)) {
	end := p.pump()
	if p.blk != nil {
		p.blk.release(1)
	}
	if p.rec != nil {
		p.rec.end(p.stream)
	}
	ended(end)
	close(p.done)
}

func (p *pump) pump() pumpEnd {
	for {
		p.room()
		buf := p.blk.buf[p.off:]
		n, err := p.src.Read(buf)
		if n > 0 {
			p.moved.Add(1)
			p.took(n)
			p.writing.Store(true)
			_, err := p.dst.Write(buf[:n])
			p.writing.Store(false)
			p.moved.Add(1)
			if err != nil {
				return dstBroke
			}
		}
		if err != nil {
			return srcEnded
		}
	}
}

// took records the n bytes that were read, before they go on.
func (p *pump) took(n int) {
	large := n == blockSize // nobody looks for line ends; a pipe that was full will do
	if p.rec != nil {
		lineEnds, kept := p.rec.chunk(p.stream, p.blk, p.off, p.off+n)
		if kept {
			p.off += n
		}
		p.line += int64(n)
		large = p.line > blockSize
		if lineEnds {
			p.line = 0
		}
	}
	if large && p.grow != nil {
		p.grow()
		p.grow, p.size = nil, bigBlock
	}
}

// room makes room for a read: in the block there is, if that has enough or nobody
// else needs it any more, else in another one.
func (p *pump) room() {
	switch {
	case p.blk == nil:
	case p.blk.refs.Load() == 1 && len(p.blk.buf) == p.size:
		p.off = 0
		return
	case len(p.blk.buf)-p.off >= minRoom:
		return
	default:
		p.blk.release(1)
	}
	p.blk, p.off = p.pool.get(p.size), 0
}
