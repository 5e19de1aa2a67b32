package tap

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// smallBlock is what an answer is read into until it fills one. Most event
	// streams never do, and there may be thousands.
	smallBlock = 4 << 10
	// headDelay is about how long the head of an answer waits for the first bytes of
	// the body, to go with them.
	headDelay = time.Millisecond
)

// answer passes the server's answer on.
func (x *transfer) answer(res *http.Response, serverPath string) {
	ex := x.ex
	ex.status, ex.answered = res.StatusCode, res.Header
	noBody := res.Body == http.NoBody || res.ContentLength == 0 || x.r.Method == http.MethodHead
	ex.bare = noBody || res.StatusCode == http.StatusAccepted || res.StatusCode == http.StatusNoContent
	ex.stream = !ex.bare && isEventStream(res.Header)
	if x.p.rec != nil {
		x.p.rec.answered(ex)
	}
	x.mu.Lock()
	x.committed = true
	x.head(res, noBody)
	x.headPending = true
	x.mu.Unlock()
	if noBody {
		return
	}
	x.pump(res, x.filter(res, serverPath))
	for name, values := range res.Trailer {
		x.w.Header()[http.TrailerPrefix+name] = values // also those that were not announced
	}
}

// head sets the head of the answer, so that our server adds nothing to it.
func (x *transfer) head(res *http.Response, noBody bool) {
	h := x.w.Header()
	copyHeader(h, res.Header)
	for _, name := range []string{"Date", "Content-Type"} {
		if h[name] == nil {
			h[name] = nil
		}
	}
	if len(res.Trailer) > 0 {
		names := make([]string, 0, len(res.Trailer))
		for name := range res.Trailer {
			names = append(names, name)
		}
		h["Trailer"] = []string{strings.Join(names, ", ")}
	}
	if res.ContentLength < 0 && !noBody {
		h["Transfer-Encoding"] = []string{"chunked"} // else a short body would be given a length
	}
	x.w.WriteHeader(res.StatusCode)
}

// filter returns what looks for an endpoint event, nil where there can be none:
// HTTP+SSE knows no sessions in headers.
func (x *transfer) filter(res *http.Response, serverPath string) *endpointFilter {
	if !x.ex.stream || x.r.Method != http.MethodGet || res.ContentLength >= 0 || res.Header["Content-Encoding"] != nil ||
		x.ex.session != "" || res.Header[sessionHeader] != nil {
		return nil
	}
	return newEndpointFilter(x.p.targetOrigin, func(data string) (instead string, ok bool) {
		instead, ok, x.done = x.p.endpoint(data, x.r.Host, x.ex.path, serverPath)
		return instead, ok
	})
}

// pump passes the body of the answer on. Each piece is recorded before it goes on.
func (x *transfer) pump(res *http.Response, filter *endpointFilter) {
	blk, off := x.firstBlock(res.ContentLength), 0
	defer func() { blk.release(1) }()
	x.p.late.add(x)
	left := res.ContentLength
	told := false // the end of the body
	for first := true; ; first = false {
		if blk.refs.Load() == 1 {
			off = 0
		} else if len(blk.buf)-off < min(minRoom, len(blk.buf)) {
			blk.release(1)
			blk, off = x.p.big.get(blockSize), 0
		}
		piece := blk.buf[off:]
		n, err := res.Body.Read(piece)
		piece = piece[:n]
		if left > 0 {
			left -= int64(n)
		}
		out := piece
		if filter != nil && n > 0 { // before the record, which tells what it did
			var done bool
			if out, done = filter.pass(piece); done {
				x.ex.rewritten = filter.rewritten
				filter = nil
			}
		}
		last := !told && (err == io.EOF || left == 0)
		kept := false
		if n > 0 || last {
			kept = x.tell(piece, blk, off, last)
			told = told || last
		}
		if err == io.EOF && filter != nil {
			out, filter = filter.held, nil
		}
		if first {
			x.taken()
		}
		if !x.forward(out, err, told) {
			return
		}
		switch {
		case kept:
			off += n
		case n == len(blk.buf) && len(blk.buf) == smallBlock:
			blk.release(1)
			blk, off = x.p.big.get(blockSize), 0
		}
	}
}

func (x *transfer) firstBlock(length int64) *block {
	if length > smallBlock {
		return x.p.big.get(blockSize)
	}
	return x.p.small.get(smallBlock)
}

// tell records a piece of the body.
func (x *transfer) tell(piece []byte, blk *block, off int, last bool) (kept bool) {
	if x.p.rec == nil || x.ex.bare {
		return false
	}
	bits := httpBits(0)
	if last {
		bits = bitLast
	}
	return x.p.rec.body(x.ex, bits, piece, blk, off)
}

// sendHead sends the head of an answer whose body is late.
func (x *transfer) sendHead() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.headPending {
		x.headPending = false
		x.rc.Flush()
	}
}

// lateHeads sends the heads of answers whose bodies are late. Looking after all of
// them at once costs less than a timer for each.
type lateHeads struct {
	mu      sync.Mutex
	waiting []*transfer
	running bool
}

// lateRounds is after how many rounds without work nobody looks any more.
const lateRounds = 20

func (l *lateHeads) add(x *transfer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, x)
	if !l.running {
		l.running = true
		go l.run()
	}
}

func (l *lateHeads) run() {
	var due []*transfer
	for idle := 0; ; idle++ {
		time.Sleep(headDelay)
		l.mu.Lock()
		if len(l.waiting) > 0 {
			idle = 0
		} else if idle >= lateRounds {
			l.running, l.waiting = false, nil
			l.mu.Unlock()
			return
		}
		due, l.waiting = l.waiting, due[:0]
		l.mu.Unlock()
		for _, x := range due {
			x.sendHead()
		}
		clear(due)
	}
}

// taken tells that the head goes with what comes next.
func (x *transfer) taken() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.headPending = false
}

// forward sends a piece on and returns whether more is to come. When either side
// breaks, the exchange is over, and the client's connection with it: a body that
// just ended would look complete.
func (x *transfer) forward(out []byte, err error, told bool) (more bool) {
	var werr error
	if len(out) > 0 {
		_, werr = x.w.Write(out)
	}
	if err == io.EOF && werr == nil {
		return false
	}
	if werr == nil && (len(out) > 0 || err != nil) {
		werr = x.rc.Flush()
	}
	switch {
	case err == nil && werr == nil:
		return true
	case x.p.ctx.Err() != nil:
		x.end("", "the tap was stopped")
	case werr != nil || x.r.Context().Err() != nil:
		x.end("client", "")
	case told: // all that was promised has come
		return false
	default:
		x.end("upstream", reason(err))
	}
	panic(http.ErrAbortHandler)
}
