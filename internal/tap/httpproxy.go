package tap

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// transfer is an exchange on its way.
type transfer struct {
	p    *proxy
	w    http.ResponseWriter
	rc   *http.ResponseController
	r    *http.Request
	ex   *exchange
	up   *upload // nil: the request has no body
	done func()  // ends what an endpoint event announced; may be nil

	// mu keeps informational answers apart from the answer.
	mu        sync.Mutex
	committed bool // the answer's head is set
	informed  bool // informational answers came
	continued bool // 100 was one of them

	conn *serverConn // nil unless over plain HTTP/1

	connected, reused, wroteHead atomic.Bool // of the attempt
}

// ServeHTTP forwards one exchange.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.handlers.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.handlers.leave()
	x := &transfer{p: p, w: w, r: r, rc: http.NewResponseController(w)}
	// Without this the server closes the body of the request when the answer begins,
	// and the transport takes the closed body for a failed request.
	x.rc.EnableFullDuplex()
	x.run()
}

func (x *transfer) run() {
	r, p := x.r, x.p
	path, query, hasQuery := splitTarget(r.RequestURI)
	x.ex = &exchange{
		conn: r.RemoteAddr, verb: r.Method, path: path, query: queryWithoutCredentials(query), host: r.Host,
		session: r.Header.Get(sessionHeader), asked: r.Header,
	}
	if p.rec != nil {
		p.rec.asked(x.ex)
	}
	if r.Method == http.MethodConnect {
		x.refuse(http.StatusNotImplemented, "this is no forward proxy: CONNECT is not supported")
		return
	}
	toPath, toQuery, toHasQuery := p.routes.route(path, query, hasQuery)
	out := x.request(toPath, toQuery, toHasQuery)
	defer func() {
		if x.up != nil {
			x.up.over()
		}
		if x.done != nil {
			x.done()
		}
	}()
	res, err := x.roundTrip(out)
	if err != nil {
		x.failed(err)
		return
	}
	defer res.Body.Close()
	x.answer(res, toPath)
	x.awaitUpload()
}

// request makes the request that goes to the server.
func (x *transfer) request(path, query string, hasQuery bool) *http.Request {
	r, p := x.r, x.p
	u := &url.URL{Scheme: p.cfg.Target.Scheme, Host: p.authority, RawQuery: query, ForceQuery: hasQuery}
	if strings.HasPrefix(path, "//") { // as Opaque it would be taken for a host
		u.RawPath = path
		u.Path, _ = url.PathUnescape(path)
	} else {
		u.Opaque = path
	}
	var out *http.Request
	out = (&http.Request{
		Method: r.Method, URL: u, Host: r.Host, Header: make(http.Header, len(r.Header)+1),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: r.ContentLength, Body: http.NoBody,
	}).WithContext(httptrace.WithClientTrace(r.Context(), x.trace(&out)))
	copyHeader(out.Header, r.Header)
	if out.Header["User-Agent"] == nil {
		out.Header["User-Agent"] = nil // else the transport names itself
	}
	if hasToken(r.Header["Te"], "trailers") {
		out.Header["Te"] = []string{"trailers"}
	}
	if user := p.cfg.Target.User; user != nil && r.Header["Authorization"] == nil {
		password, _ := user.Password()
		out.SetBasicAuth(user.Username(), password)
	}
	x.rename(out)
	switch {
	case r.ContentLength == 0 || r.Body == nil:
		out.ContentLength = 0
		if r.Header["Content-Length"] != nil && !safe(r.Method) { // it says so, and so shall we
			out.TransferEncoding = []string{"identity"}
		}
	default:
		if r.Trailer == nil {
			r.Trailer = make(http.Header) // for those that were not announced
		}
		out.Trailer = r.Trailer // filled in when the body has been read
		x.up = newUpload(r.Body, r.ContentLength, x.ex, p.rec)
		out.Body = x.up
	}
	return out
}

// rename makes Host and Origin name the target where they name us. What names
// anybody else goes on, so that the server's own protection against DNS rebinding
// sees it.
func (x *transfer) rename(out *http.Request) {
	p := x.p
	local, _ := x.r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if out.Host == "" { // HTTP/1.0
		out.Host = p.authority
	}
	if p.cfg.PreserveHost {
		return
	}
	if p.names.ours(out.Host, local) {
		out.Host = p.authority
	}
	for i, origin := range out.Header["Origin"] {
		if p.names.oursOrigin(origin, local) {
			if i == 0 {
				out.Header["Origin"] = append([]string(nil), out.Header["Origin"]...)
			}
			out.Header["Origin"][i] = p.targetOrigin
		}
	}
}

// maxAttempts is how often a connection is looked for that takes the request.
const maxAttempts = 5

// roundTrip sends the request once. That an idle connection turns out to be closed
// before a byte of the request was written is no attempt.
func (x *transfer) roundTrip(out *http.Request) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		x.connected.Store(false)
		x.reused.Store(false)
		x.wroteHead.Store(false)
		res, err := x.p.transport.RoundTrip(out)
		switch {
		case err == nil && res.StatusCode == http.StatusSwitchingProtocols:
			res.Body.Close()
			return nil, errSwitched
		case err == nil && (res.StatusCode < 200 || res.StatusCode > 999):
			res.Body.Close()
			return nil, fmt.Errorf("server answered with status %d", res.StatusCode)
		case err == nil:
			return res, nil
		case attempt == maxAttempts || out.Context().Err() != nil:
			return nil, err
		case !x.reused.Load() || x.wroteHead.Load() || x.up != nil && x.up.touched.Load():
			return nil, err
		}
		if x.up != nil {
			x.up.again()
		}
	}
}

// trace follows the request through the transport.
func (x *transfer) trace(request **http.Request) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			out := *request
			x.connected.Store(true)
			x.reused.Store(info.Reused)
			x.conn, _ = info.Conn.(*serverConn)
			// Over HTTP/2 nothing is sent twice, unless the server says that it
			// ignored it; and there, no body has to look like none.
			if out.Body == http.NoBody && safe(out.Method) && !isHTTP2(info.Conn) {
				out.Body = emptyBody{}
			}
		},
		WroteHeaders: func() { x.wroteHead.Store(true) },
		Got100Continue: func() {
			x.inform(http.StatusContinue, nil)
		},
		Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
			x.inform(code, header)
			return nil
		},
	}
}

// safe reports whether the transport takes a request for one that may be sent again.
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

func isHTTP2(c net.Conn) bool {
	t, ok := c.(*tls.Conn)
	return ok && t.ConnectionState().NegotiatedProtocol == "h2"
}

// inform passes an informational answer on.
func (x *transfer) inform(code int, header textproto.MIMEHeader) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.committed || code == http.StatusContinue && x.continued {
		return
	}
	x.informed, x.continued = true, x.continued || code == http.StatusContinue
	h := x.w.Header()
	copyHeader(h, http.Header(header))
	x.w.WriteHeader(code)
	clear(h)
}

// failed tells the client that no answer came, unless it is the client's own doing.
func (x *transfer) failed(err error) {
	switch {
	case x.p.ctx.Err() != nil:
		x.end("", "the tap was stopped")
	case x.r.Context().Err() != nil || x.up != nil && x.up.clientBroke() != nil:
		x.end("client", "")
	default:
		if !x.connected.Load() {
			x.recordUnsent()
		}
		x.refuse(http.StatusBadGateway, reason(err))
		return
	}
	panic(http.ErrAbortHandler)
}

// maxUnsent is how much our server reads of a request that nobody else reads.
const maxUnsent = 256 << 10

// recordUnsent reads a request that no server could be found for, so that the record
// has it, if it is here. A client that is to be asked for its body first is not asked.
func (x *transfer) recordUnsent() {
	if x.up == nil || x.p.rec == nil || x.r.ContentLength > maxUnsent || x.r.Header["Expect"] != nil {
		return
	}
	x.rc.SetReadDeadline(time.Now().Add(uploadGrace))
	io.CopyN(io.Discard, x.up, maxUnsent)
	x.rc.SetReadDeadline(time.Time{})
}

// reason words an error of the transport.
func reason(err error) string {
	var verify *tls.CertificateVerificationError
	if errors.As(err, &verify) {
		return "server's certificate: " + verify.Err.Error()
	}
	return err.Error()
}

// refuse answers in the server's place.
func (x *transfer) refuse(status int, why string) {
	x.mu.Lock()
	x.committed = true
	x.mu.Unlock()
	ex := x.ex
	ex.status, ex.bare, ex.failure = status, true, why
	h := x.w.Header()
	h["Content-Type"] = []string{"text/plain; charset=utf-8"}
	if x.p.rec != nil {
		x.p.rec.answered(ex)
	}
	x.w.WriteHeader(status)
	if status == http.StatusBadGateway {
		why = "no answer from " + x.p.targetOrigin + ": " + why
	}
	fmt.Fprintf(x.w, "mcpsnoop: %s\n", why)
}

// end records that the exchange ends here, before its answer is complete.
func (x *transfer) end(by, why string) {
	x.ex.ended, x.ex.why = by, why
	if x.p.rec != nil {
		x.p.rec.cut(x.ex)
	}
}

// uploadGrace is how long a complete answer waits for the rest of the request: the
// transport lets go of it that soon.
const uploadGrace = 50 * time.Millisecond

// awaitUpload lets a request finish whose answer was faster.
func (x *transfer) awaitUpload() {
	if x.up == nil {
		return
	}
	select {
	case <-x.up.done:
		return
	default:
	}
	x.rc.Flush()
	t := time.NewTimer(uploadGrace)
	defer t.Stop()
	select {
	case <-x.up.done:
	case <-t.C:
	case <-x.r.Context().Done():
	}
}
