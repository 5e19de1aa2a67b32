package tap

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// upload is the body of a request on its way to the server. What is read of it is
// recorded before it goes on.
type upload struct {
	body io.ReadCloser
	ex   *exchange
	rec  *recorder // nil: nothing is recorded
	left int64     // of the declared length, -1 if none is

	touched atomic.Bool // something was read
	mu      sync.Mutex
	broken  error         // why the client's bytes ended too early
	detach  bool          // the exchange is over: nothing more is recorded
	ended   bool          // done is closed
	done    chan struct{} // closed when nothing more will be read
}

func newUpload(body io.ReadCloser, length int64, ex *exchange, rec *recorder) *upload {
	return &upload{body: body, ex: ex, rec: rec, left: length, done: make(chan struct{})}
}

func (u *upload) Read(p []byte) (int, error) {
	u.touched.Store(true)
	n, err := u.body.Read(p)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.left > 0 {
		u.left -= int64(n)
	}
	last := err == io.EOF || u.left == 0
	if u.rec != nil && !u.detach && (n > 0 || last) {
		bits := bitUp
		if last {
			bits |= bitLast
		}
		u.rec.body(u.ex, bits, p[:n], nil, 0)
	}
	if err != nil {
		if err != io.EOF {
			u.broken = err
		}
		u.end()
	} else if last {
		u.end()
	}
	return n, err
}

// Close ends the upload. The body itself is the server's to close: that would wait
// for a client that does not send.
func (u *upload) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.end()
	return nil
}

func (u *upload) end() {
	if !u.ended {
		u.ended = true
		close(u.done)
	}
}

// again makes an upload of which nothing was read ready for another attempt.
func (u *upload) again() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended, u.done = false, make(chan struct{})
}

// clientBroke returns why the client's bytes ended too early, nil if they did not.
func (u *upload) clientBroke() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.broken
}

// finished reports whether nothing more will be read.
func (u *upload) finished() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ended
}

// over tells that the exchange is.
func (u *upload) over() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.detach = true
	if u.rec != nil {
		u.rec.noMore(u.ex)
	}
}

// emptyBody is a body of nothing that does not look like one. The transport sends a
// request without a body a second time where it thinks that is harmless; whether it
// is, is for the client to decide.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

var errSwitched = errors.New("server switched protocols unasked")
