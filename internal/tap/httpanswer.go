package tap

import (
	"io"
	"net/http"
	"strings"
)

// smallBlock is what an answer is read into until it fills one. Most event streams
// never do, and there may be thousands.
const smallBlock = 4 << 10

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
	x.mu.Unlock()
	x.head(res, noBody)
	if noBody {
		return
	}
	if x.late(res) {
		x.rc.Flush()
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
	left := res.ContentLength
	told := false // the end of the body
	for {
		if blk.refs.Load() == 1 {
			off = 0
		} else if len(blk.buf)-off < min(minRoom, len(blk.buf)) {
			blk.release(1)
			blk, off = x.p.big.get(httpBlock), 0
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
		if !x.forward(out, err, told) {
			return
		}
		switch {
		case kept:
			off += n
		case n == len(blk.buf) && len(blk.buf) == smallBlock:
			blk.release(1)
			blk, off = x.p.big.get(httpBlock), 0
		}
	}
}

func (x *transfer) firstBlock(length int64) *block {
	if length > smallBlock {
		return x.p.big.get(httpBlock)
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

// late reports whether the head of an answer must not wait for its body, to go with
// it: nobody knows how long that would be, unless the body has a length, and so is
// ready, or some of it is here.
func (x *transfer) late(res *http.Response) bool {
	if x.conn != nil && x.conn.more.Load() && !x.informed {
		return false
	}
	return res.ContentLength < 0 || x.up != nil && !x.up.finished()
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
