package tap

import (
	"sync"
	"sync/atomic"
)

const (
	// blockSize holds what a pipe holds as the kernel makes it; bigBlock what it
	// holds when we have grown it.
	blockSize = 64 << 10
	bigBlock  = grownPipe
	// minRoom is the least room worth a read.
	minRoom = 16 << 10
)

// block is a piece of memory that a pump reads into and records point into. It
// returns to its pool when pump and writer are done with it.
type block struct {
	buf  []byte
	refs atomic.Int32
	pool *pool
}

func (b *block) release(n int32) {
	if b.refs.Add(-n) == 0 {
		b.pool.put(b)
	}
}

// pool keeps a few blocks for reuse, the last used first: it is still in the cache.
type pool struct {
	mu   sync.Mutex
	free []*block
	size int
	keep int // bytes kept, if that is more than usual
}

const pooled = 2 << 20 // bytes kept at most

func (p *pool) get(size int) *block {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.free) - 1; i >= 0; i-- {
		b := p.free[i]
		if len(b.buf) != size {
			continue
		}
		last := len(p.free) - 1
		copy(p.free[i:], p.free[i+1:])
		p.free[last] = nil
		p.free = p.free[:last]
		p.size -= size
		b.refs.Store(1)
		return b
	}
	b := &block{buf: make([]byte, size), pool: p}
	b.refs.Store(1)
	return b
}

func (p *pool) put(b *block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size+len(b.buf) <= max(p.keep, pooled) {
		p.free = append(p.free, b)
		p.size += len(b.buf)
	}
}
