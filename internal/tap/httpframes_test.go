package tap

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mcpsnoop/internal/capture"
)

// TestAnswers: each answer is one frame with its status.
func TestAnswers(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/200":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "s1")
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		case "/202":
			w.WriteHeader(202)
		case "/202body":
			w.WriteHeader(202)
			io.WriteString(w, "Accepted")
		case "/204":
			w.WriteHeader(204)
		case "/401":
			w.Header().Add("WWW-Authenticate", "Bearer a")
			w.Header().Add("WWW-Authenticate", "Basic b")
			w.WriteHeader(401)
		case "/403":
			w.WriteHeader(403)
		case "/404":
			w.WriteHeader(404)
			w.(http.Flusher).Flush() // chunked, and empty
		case "/500":
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(500)
			io.WriteString(w, "<h1>no</h1>\n")
		case "/batch":
			io.WriteString(w, "[1,\n2]")
		}
	})
	h := tapHTTP(t, s.URL, nil)
	post(t, h.url+"/200", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	post(t, h.url+"/202", `{"a":1}`, "Mcp-Session-Id", "s1", "MCP-Protocol-Version", "2025-11-25")
	post(t, h.url+"/202body", `{"a":1}`)
	do(t, "DELETE", h.url+"/204", "", "Mcp-Session-Id", "s1")
	post(t, h.url+"/401", `{}`)
	do(t, "GET", h.url+"/403?a=b", "", "Origin", "http://evil.example")
	post(t, h.url+"/404", "{}")
	post(t, h.url+"/500", "\xff")
	post(t, h.url+"/batch", "[\r\n{},\n\t{}]")
	frames := h.check(`
1 meta http POST /200
1 c2s POST /200 {"jsonrpc":"2.0","id":1,"method":"initialize"}
1 s2c 200 {"jsonrpc":"2.0","id":1,"result":{}}
2 meta http POST /202
2 c2s POST /202 {"a":1}
2 s2c http 202
3 meta http POST /202body
3 c2s POST /202body {"a":1}
3 s2c http 202
4 meta http DELETE /204
4 s2c http 204
5 meta http POST /401
5 c2s POST /401 {}
5 s2c http 401
6 meta http GET /403
6 s2c http 403
7 meta http POST /404
7 c2s POST /404 {}
7 s2c http 404
8 meta http POST /500
8 c2s POST /500 ` + "\xff" + `
8 s2c 500 <h1>no</h1>

9 meta http POST /batch
9 c2s POST /batch [` + "\r" + ` {}, 	{}]
9 s2c 200 [1, 2]
`)
	for i, want := range map[int]string{0: "", 1: "", 2: "s1", 3: "s1", 5: "s1", 9: "s1"} {
		if got := frames[i].MCPSession; got != want {
			t.Errorf("frame %d has session %q, want %q", i, got, want)
		}
	}
	if got := frames[13].HTTP.Response["www-authenticate"]; got != "Bearer a, Basic b" {
		t.Errorf("challenge is %q", got)
	}
	if got := frames[14].HTTP; got.Query != "a=b" || got.Request["origin"] != "http://evil.example" || got.Request["host"] != h.addr {
		t.Errorf("facts are %+v", got)
	}
	if got := frames[4].HTTP.Request; got["mcp-protocol-version"] != "2025-11-25" || got["content-length"] != "7" || got["mcp-session-id"] != "s1" {
		t.Errorf("headers are %v", got)
	}
	if f := frames[23]; f.Size != int64(len("[\r\n{},\n\t{}]")) || f.Form != capture.Raw || f.Flags != 0 {
		t.Errorf("batch is %+v", f)
	}
	if f := frames[20]; f.Form != capture.Bytes || f.Size != 1 {
		t.Errorf("bytes are %+v", f)
	}
}

// TestTargetDown: the client gets a 502, and a frame says why.
func TestTargetDown(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := "http://" + ln.Addr().String()
	ln.Close()
	h := tapHTTP(t, target, nil)
	res, body := post(t, h.url, "{}")
	if res.StatusCode != 502 || !strings.Contains(body, "no answer from "+target) || strings.Count(body, "\n") != 1 {
		t.Errorf("got %d %q", res.StatusCode, body)
	}
	// What is not all here, too much or not asked for yet is not waited for.
	for _, rest := range []string{
		"Content-Length: 5\r\n\r\nhalf", "Content-Length: 1000000\r\n\r\n{}",
		"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n",
	} {
		m, before, err := sendRaw(t, h.addr, "POST /x HTTP/1.1\r\nHost: x\r\n"+rest, false)
		if err != nil || len(before) > 0 || !strings.HasPrefix(m.start, "HTTP/1.1 502") {
			t.Errorf("%q: got %+v, %+v, %v", rest, before, m, err)
		}
	}
	post(t, h.url, "[1]")
	frames := h.check(`
1 meta http POST /
1 c2s POST / {}
1 s2c http 502
2 meta http POST /x
2 s2c http 502
3 meta http POST /x
3 s2c http 502
4 meta http POST /x
4 s2c http 502
5 meta http POST /
5 c2s POST / [1]
5 s2c http 502
`)
	if e := frames[2].HTTP.Error; !strings.Contains(e, "refused") {
		t.Errorf("reason is %q", e)
	}
}

// TestEvents: what an event stream says, frame for frame.
func TestEvents(t *testing.T) {
	stream := "\xEF\xBB\xBF: hello\n\nretry: 500\nid: e0\ndata:\n\nevent: message\nid: e1\ndata: {\"a\":\ndata: 1}\n\n" +
		"data: x\r\n\r\ndata: y\r\rid: only\n\nevent: ping\ndata: now\n\ndata: {\"last\":1}\n"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for i := range len(stream) { // event ends anywhere
			io.WriteString(w, stream[i:i+1])
			w.(http.Flusher).Flush()
		}
	})
	h := tapHTTP(t, s.URL, nil)
	if _, body := post(t, h.url, "{}"); body != stream {
		t.Errorf("got %q", body)
	}
	frames := h.check(`
1 meta http POST /
1 c2s POST / {}
1 meta open 200
1 meta http comment=hello
1 meta http id=e0 retry=500
1 s2c 200 id=e1 event=message {"a": 1}
1 s2c 200 x
1 s2c 200 y
1 meta http id=only
1 meta http event=ping data=now
1 s2c 200 unended {"last":1}
1 meta close by server
`)
	total := int64(0)
	for _, f := range frames[3 : len(frames)-1] {
		total += f.Size
	}
	if total != int64(len(stream)) {
		t.Errorf("sizes make %d of %d", total, len(stream))
	}
}

// TestEventOverTheLimit: it is cut, once, and the next is whole.
func TestEventOverTheLimit(t *testing.T) {
	big := strings.Repeat("ä", 10_000)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\ndata: %s\n\ndata: next\n\n", big, big)
	})
	h := tapHTTP(t, s.URL, func(c *HTTP) { c.Limits.MessageBytes = 9 })
	if _, body := do(t, "GET", h.url, ""); len(body) != 2*len(big)+len("data: \ndata: \n\ndata: next\n\n") {
		t.Errorf("got %d bytes", len(body))
	}
	h.check(`
1 meta http GET /
1 meta open 200
1 s2c 200 truncated ääää
1 s2c 200 next
1 meta close by server
`)
}

// TestBodyOverTheLimit: forwarded whole, recorded cut, both ways.
func TestBodyOverTheLimit(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Write(b)
	})
	for _, n := range []int{9, 10, 11, 5000, 200_000} {
		h := tapHTTP(t, s.URL, func(c *HTTP) { c.Limits.MessageBytes = 10 })
		text := strings.Repeat("x", n)
		if _, body := post(t, h.url, text); body != text {
			t.Errorf("got %d bytes", len(body))
		}
		frames := h.frames()
		for _, f := range []capture.Frame{frames[1], frames[2]} {
			if f.Size != int64(n) || string(f.Payload) != text[:min(n, 10)] || (f.Flags == capture.Truncated) != (n > 10) {
				t.Errorf("%d bytes: %s of %d, flags %v", n, f.Payload, f.Size, f.Flags)
			}
		}
	}
}

// TestLargeBody: 64 MiB go both ways while nothing holds them.
func TestLargeBody(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const size = 64 << 20
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		http.NewResponseController(w).EnableFullDuplex()
		io.Copy(w, r.Body)
	})
	h := tapHTTP(t, s.URL, nil)
	pr, pw := io.Pipe()
	block := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	go func() {
		for range size / len(block) {
			pw.Write(block)
		}
		pw.Close()
	}()
	req, _ := http.NewRequest("POST", h.url, pr)
	res, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, buf := 0, make([]byte, len(block))
	for {
		n, err := io.ReadFull(res.Body, buf)
		if n > 0 && !bytes.Equal(buf[:n], block[:n]) {
			t.Fatalf("bytes differ after %d", got)
		}
		got += n
		if err != nil {
			break
		}
	}
	if got != size {
		t.Errorf("got %d bytes", got)
	}
	for _, f := range h.frames()[1:] {
		if f.Size != size || f.Flags != capture.Truncated || int64(len(f.Payload)) != DefaultLimits().MessageBytes {
			t.Errorf("frame %s: %d of %d", f.Dir, len(f.Payload), f.Size)
		}
	}
}

// encode codes a body.
func encode(t *testing.T, coding string, text []byte, flush int) []byte {
	t.Helper()
	var b bytes.Buffer
	var w interface {
		io.WriteCloser
		Flush() error
	}
	switch coding {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw deflate":
		w, _ = flate.NewWriter(&b, 5)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	default:
		return text
	}
	for len(text) > 0 {
		n := min(flush, len(text))
		w.Write(text[:n])
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
	w.Close()
	return b.Bytes()
}

// TestCodings: bodies go on as they were sent, and are recorded decoded.
func TestCodings(t *testing.T) {
	text := []byte(`{"text":"` + strings.Repeat("aber ja ", 20_000) + `"}`)
	for _, coding := range []string{"gzip", "x-gzip", "deflate", "raw deflate", "br", "zstd", "gzip, br", "identity", "GZIP"} {
		coded := text
		for name := range strings.SplitSeq(strings.ToLower(coding), ", ") {
			coded = encode(t, name, coded, 50_000)
		}
		header := strings.TrimPrefix(coding, "raw ")
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			if !bytes.Equal(b, coded) || r.Header.Get("Content-Encoding") != header {
				t.Errorf("%s: the server got %d of %d bytes", coding, len(b), len(coded))
			}
			w.Header().Set("Content-Encoding", header)
			w.Header().Set("Content-Type", "application/json")
			for len(b) > 0 {
				n := min(len(b), 997)
				w.Write(b[:n])
				w.(http.Flusher).Flush()
				b = b[n:]
			}
		})
		h := tapHTTP(t, s.URL, nil)
		res, body := post(t, h.url, string(coded), "Content-Encoding", header, "Accept-Encoding", "gzip, br")
		if body != string(coded) || res.Header.Get("Content-Encoding") != header {
			t.Errorf("%s: the client got %d bytes, %v", coding, len(body), res.Header)
		}
		frames := h.frames()
		for _, f := range frames[1:] {
			if !bytes.Equal(f.Payload, text) || f.Size != int64(len(coded)) || f.Flags != 0 || f.Form != capture.Raw {
				t.Errorf("%s: frame %s has %d bytes, size %d, flags %v", coding, f.Dir, len(f.Payload), f.Size, f.Flags)
			}
		}
		if frames[0].HTTP.Request["accept-encoding"] != "gzip, br" {
			t.Errorf("%s: headers are %v", coding, frames[0].HTTP.Request)
		}
		h.stop()
		s.Close()
	}
}

// TestCodedEvents: each event is recorded when it passes, not at the end.
func TestCodedEvents(t *testing.T) {
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		var one []byte
		for i := range 3 {
			one = fmt.Appendf(one, "data: event %d %s\n\n", i, strings.Repeat("x", 30))
		}
		whole := encode(t, coding, one, len(one)/3)
		next := make(chan int)
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", coding)
			w.Header().Set("Content-Type", "text/event-stream")
			var b bytes.Buffer
			var c interface {
				io.WriteCloser
				Flush() error
			}
			switch coding {
			case "gzip":
				c = gzip.NewWriter(&b)
			case "deflate":
				c = zlib.NewWriter(&b)
			case "br":
				c = brotli.NewWriter(&b)
			case "zstd":
				c, _ = zstd.NewWriter(&b)
			}
			for i := range 3 {
				c.Write(one[i*len(one)/3 : (i+1)*len(one)/3])
				c.Flush()
				w.Write(b.Bytes())
				b.Reset()
				w.(http.Flusher).Flush()
				<-next
			}
			c.Close()
			w.Write(b.Bytes())
		})
		_ = whole
		h := tapHTTP(t, s.URL, nil)
		res, err := client(t).Get(h.url)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			soon(t, coding+" event", func() bool {
				return strings.Contains(short(h.sofar()), fmt.Sprintf("1 s2c 200 event %d", i))
			})
			next <- i
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		got := h.frames()
		if last := got[len(got)-1]; len(got) != 6 || last.HTTP.ClosedBy != "server" || last.HTTP.Error != "" {
			t.Errorf("%s: frames are\n%s", coding, short(got))
		}
	}
}

// TestBombs: what grows without measure when decoded costs nothing, is told, and
// does not stop the rest.
func TestBombs(t *testing.T) {
	var bomb bytes.Buffer
	z, _ := zstd.NewWriter(&bomb, zstd.WithEncoderLevel(zstd.SpeedFastest))
	zeros := make([]byte, 1<<20)
	for range 2000 { // two gigabytes
		z.Write(zeros)
	}
	z.Close()
	if bomb.Len() > 1<<20 {
		t.Fatalf("the bomb has %d bytes", bomb.Len())
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "zstd")
		if r.URL.Path == "/events" {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.Write(bomb.Bytes())
	})
	h := tapHTTP(t, s.URL, func(c *HTTP) { c.Limits.MessageBytes = 1 << 20 })
	for _, path := range []string{"/events", "/body"} {
		if _, body := do(t, "GET", h.url+path, ""); body != bomb.String() {
			t.Errorf("%s: got %d bytes", path, len(body))
		}
	}
	frames := h.frames()
	got := short(frames)
	if !strings.Contains(got, "1 meta close by server\n") || !strings.Contains(got, "2 s2c 200 truncated") {
		t.Errorf("frames are\n%.2000q", got)
	}
	if e := frames[len(frames)-3].HTTP.Error; !strings.Contains(e, "grows too much") {
		t.Errorf("the close says %q in\n%.2000q", e, got)
	}
	if f := frames[len(frames)-1]; len(f.Payload) != 1<<20 || f.Size != int64(bomb.Len()) {
		t.Errorf("%d bytes recorded of %d", len(f.Payload), f.Size)
	}
}

// TestNotCodedAsSaid: a body that cannot be decoded is recorded as it came.
func TestNotCodedAsSaid(t *testing.T) {
	half := encode(t, "gzip", bytes.Repeat([]byte("hello "), 10_000), 1000)
	half = half[:len(half)/2]
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/unknown":
			w.Header().Set("Content-Encoding", "aws-chunked")
		default:
			w.Header().Set("Content-Encoding", "gzip")
		}
		if r.URL.Path == "/half" {
			w.Write(half)
			return
		}
		io.WriteString(w, "plain text, longer than a header of gzip is")
	})
	h := tapHTTP(t, s.URL, nil)
	for _, path := range []string{"/plain", "/unknown", "/half"} {
		do(t, "GET", h.url+path, "")
	}
	frames := h.frames()
	for _, f := range []capture.Frame{frames[1], frames[3]} {
		if string(f.Payload) != "plain text, longer than a header of gzip is" || f.Flags != 0 {
			t.Errorf("recorded %q", f.Payload)
		}
	}
	if f := frames[5]; !bytes.HasPrefix(f.Payload, []byte("hello hello")) || f.Flags != capture.Truncated {
		t.Errorf("of half a body: %.100q, flags %v", f.Payload, f.Flags)
	}
}

// TestClientAborts: before the answer, inside it, and inside a stream.
func TestClientAborts(t *testing.T) {
	cancelled := make(chan string, 3)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/stream":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: one\n\ndata: tw")
		case "/body":
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"half":`)
		}
		if r.URL.Path != "/none" {
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done() // an abort reaches the server
		cancelled <- r.URL.Path
	})
	h := tapHTTP(t, s.URL, nil)
	for i, path := range []string{"/none", "/body", "/stream"} {
		ctx, cancel := context.WithCancel(t.Context())
		req, _ := http.NewRequestWithContext(ctx, "POST", h.url+path, strings.NewReader("{}"))
		if path == "/none" {
			go func() {
				soon(t, "request", func() bool { return strings.Contains(h.log.text(), `"raw":{}`) })
				cancel()
			}()
		}
		res, err := client(t).Do(req)
		if err == nil {
			res.Body.Read(make([]byte, 4))
			cancel()
			res.Body.Close()
		}
		cancel()
		if got := <-cancelled; got != path {
			t.Errorf("%s was cancelled", got)
		}
		soon(t, "close", func() bool { return strings.Count(h.log.text(), `"kind":"close"`) == i+1 })
	}
	frames := h.check(`
1 meta http POST /none
1 c2s POST /none {}
1 meta close by client
2 meta http POST /body
2 c2s POST /body {}
2 s2c 200 {"half":
2 meta close by client
3 meta http POST /stream
3 c2s POST /stream {}
3 meta open 200
3 s2c 200 one
3 s2c 200 unended tw
3 meta close by client
`)
	if got := frames[5].HTTP.Error; got != "the client hung up" {
		t.Errorf("the half body has the reason %q", got)
	}
	if got, half := frames[10].HTTP.Error, frames[11].HTTP.Error; got != "" || half != "the stream ended inside this event" {
		t.Errorf("the events have the reasons %q and %q", got, half)
	}
}

// TestClientBreaksOff: a request that does not come to its end is no upstream failure.
func TestClientBreaksOff(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	h := tapHTTP(t, s.URL, nil)
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
	soon(t, "request", func() bool { return strings.Contains(h.log.text(), `"POST"`) })
	c.Close()
	soon(t, "close", func() bool { return strings.Contains(h.log.text(), `"kind":"close"`) })
	h.check(`
1 meta http POST /x
1 meta close by client
`)
}

// TestServerBreaksOff: the client sees that the answer is not complete, as it would
// without us.
func TestServerBreaksOff(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"length":  {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf<close>", "1 s2c 200 half\n1 meta close by upstream\n"},
		"nothing": {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<close>", "1 s2c http 200\n1 meta close by upstream\n"},
		"chunked": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n<close>", "1 s2c 200 half\n1 meta close by upstream\n"},
		"stream":  {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nid: \r\n<close>", "1 meta open 200\n1 meta http unended\n1 meta close by upstream\n"},
		"head":    {"HTTP/1.1 200 OK\r\nContent-<close>", "1 s2c http 502\n"},
	} {
		s := startRaw(t, func(int, rawMessage) string { return c.answer })
		h := tapHTTP(t, s.url(), nil)
		m, _, err := sendRaw(t, h.addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", false)
		if name == "head" {
			if err != nil || !strings.HasPrefix(m.start, "HTTP/1.1 502") {
				t.Errorf("%s: got %+v, %v", name, m, err)
			}
		} else if err == nil || !strings.HasPrefix(m.start, "HTTP/1.1 200") {
			t.Errorf("%s: the client sees a complete answer, %+v", name, m)
		}
		frames := h.frames()
		compare(t, short(frames), "1 meta http GET /\n"+c.want)
		// A reader must not take half a body for what the server meant to say.
		for _, f := range frames {
			if f.Kind == capture.Line && f.HTTP.Error != "unexpected EOF" {
				t.Errorf("%s: the half body has the reason %q", name, f.HTTP.Error)
			}
		}
	}
}

// TestOrder: a request is recorded before anybody can answer it, an answer before
// anybody can act on it.
func TestOrder(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", []string{"application/json", "text/event-stream"}[len(b)%2])
		fmt.Fprintf(w, "data: %s\n\n", b)
	})
	h := tapHTTP(t, s.URL, nil)
	const clients, calls = 8, 50
	var wg sync.WaitGroup
	c := client(t)
	for i := range clients {
		wg.Go(func() {
			for j := range calls { // a ping-pong: each follows from the one before
				res, err := c.Post(h.url, "application/json", strings.NewReader(fmt.Sprintf("%d.%d", i, j)))
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
	wg.Wait()
	frames := h.frames()
	next := map[string]string{} // of a client: what has to come
	heads, last := uint64(0), map[uint64]int{}
	for _, f := range frames {
		if f.Kind == capture.HTTPHead {
			if heads++; f.Exchange != heads {
				t.Fatalf("exchange %d is the %dth", f.Exchange, heads)
			}
		}
		rank := map[bool]int{true: 1}[f.Dir == capture.C2S]
		if f.Dir == capture.S2C {
			rank = 2
		}
		if rank < last[f.Exchange] && f.Kind != capture.Open && f.Kind != capture.Close {
			t.Errorf("exchange %d out of order", f.Exchange)
		}
		last[f.Exchange] = max(last[f.Exchange], rank)
		if f.Kind != capture.Line {
			continue
		}
		text := strings.Trim(strings.TrimPrefix(string(f.Payload), "data: "), "\n ")
		id, n, _ := strings.Cut(text, ".")
		want := next[id]
		if want == "" {
			want = "c2s 0"
		}
		if got := f.Dir.String() + " " + n; got != want {
			t.Fatalf("client %s: %s where %s should be", id, got, want)
		}
		if f.Dir == capture.C2S {
			next[id] = "s2c " + n
		} else {
			var k int
			fmt.Sscan(n, &k)
			next[id] = fmt.Sprintf("c2s %d", k+1)
		}
	}
	if heads != clients*calls {
		t.Errorf("%d exchanges", heads)
	}
}

// TestEarlyAnswer: a server may answer before it has read the request.
func TestEarlyAnswer(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	event := "data: {\"n\":1}\n\n"
	var conns sync.WaitGroup
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				buf := make([]byte, 64<<10)
				for {
					head := ""
					for !strings.Contains(head, "\r\n\r\n") {
						n, err := c.Read(buf)
						if err != nil {
							return
						}
						head += string(buf[:n])
					}
					// The answer begins, and may end, before the body is here.
					fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(event), event)
					_, body, _ := strings.Cut(head, "\r\n\r\n")
					for got := len(body); got < 20_000; {
						n, err := c.Read(buf)
						if err != nil {
							return
						}
						got += n
					}
					fmt.Fprintf(c, "%x\r\n%s\r\n0\r\n\r\n", len(event), event)
				}
			})
		}
	}()
	h := tapHTTP(t, "http://"+ln.Addr().String(), nil)
	n := 2000
	if testing.Short() {
		n = 200
	}
	body := strings.Repeat("x", 20_000)
	c := client(t)
	work := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range work {
				res, err := c.Post(h.url, "application/json", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					continue
				}
				got, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil || string(got) != event+event {
					t.Errorf("cut: %q, %v", got, err)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wg.Wait()
	c.CloseIdleConnections()
	count := map[string]int{}
	for _, f := range h.frames() {
		count[f.Dir.String()+" "+f.Kind.String()]++
	}
	if count["c2s "] != n || count["s2c "] != 2*n || count["meta close"] != n || count["meta open"] != n || count["meta http"] != n {
		t.Errorf("frames: %v", count)
	}
	ln.Close()
	conns.Wait()
}

// TestAnswerWithoutReading: a server that answers and never reads ends nothing else.
func TestAnswerWithoutReading(t *testing.T) {
	s := startRaw(t, func(int, rawMessage) string { return "" })
	s.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			c.Read(make([]byte, 100))
			io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
			time.AfterFunc(100*time.Millisecond, func() { c.Close() })
		}
	}()
	h := tapHTTP(t, "http://"+ln.Addr().String(), nil)
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(hang))
	io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nsome of it")
	buf := make([]byte, 1000)
	n, err := io.ReadAtLeast(c, buf, 40)
	if err != nil || !bytes.HasPrefix(buf[:n], []byte("HTTP/1.1 413")) {
		t.Errorf("got %q, %v", buf[:n], err)
	}
	c.Close()
	soon(t, "answer", func() bool { return strings.Contains(h.log.text(), `"status":413`) })
	h.stop()
	if got := short(h.frames()); !strings.HasPrefix(got, "1 meta http POST /\n1 s2c 413 no\n") {
		t.Errorf("frames are\n%s", got)
	}
}

// TestSilentStream: a stream opens before anything is on it and survives silence.
func TestSilentStream(t *testing.T) {
	speak := make(chan string)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for text := range speak {
			io.WriteString(w, text)
			w.(http.Flusher).Flush()
		}
	})
	h := tapHTTP(t, s.URL, nil)
	res, err := client(t).Get(h.url) // comes back with the head alone
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	time.Sleep(300 * time.Millisecond)
	buf := make([]byte, 100)
	for _, text := range []string{"data: o", "ne\n\n", ": ping\n\n"} {
		speak <- text
		if n, err := io.ReadAtLeast(res.Body, buf, len(text)); err != nil || string(buf[:n]) != text {
			t.Errorf("got %q, %v", buf[:n], err)
		}
	}
	close(speak)
	io.Copy(io.Discard, res.Body)
	h.check(`
1 meta http GET /
1 meta open 200
1 s2c 200 one
1 meta http comment=ping
1 meta close by server
`)
}

// TestHTTPQueueFull: what finds no room is counted, and the traffic does not wait.
func TestHTTPQueueFull(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", []string{"application/json", "text/event-stream"}[len(b)%2])
		fmt.Fprintf(w, "data: %s\n\ndata: again\n\n", b)
	})
	stall := make(chan struct{})
	h := tapHTTP(t, s.URL, func(c *HTTP) {
		c.Limits.QueueBytes = 20 << 10
		c.Log.(*memLog).stall = stall
	})
	for i := range 100 {
		text := strings.Repeat("x", 1000+i)
		if _, body := post(t, h.url, text); !strings.Contains(body, text) {
			t.Errorf("got %d bytes", len(body))
		}
	}
	close(stall)
	soon(t, "room", func() bool { // the writer has caught up
		post(t, h.url, "{}")
		return strings.Count(h.log.text(), `"raw":{}`) > 2
	})
	frames := readFrames(t, func() string { h.stop(); return h.log.text() }())
	lost, at := uint64(0), uint64(0)
	for _, f := range frames {
		if f.Kind == capture.Gap {
			g, err := capture.ParseGap(f.Payload)
			if err != nil || g.First != at+1 || g.Last != f.Seq-1 || g.Lost != g.Last-at {
				t.Errorf("gap %+v at %d, %v", g, f.Seq, err)
			}
			lost += g.Lost
		} else if f.Seq != at+1 {
			t.Errorf("frame %d after %d", f.Seq, at)
		}
		at = f.Seq
	}
	if lost == 0 || !strings.Contains(h.noted(), "not recorded (queue full") {
		t.Errorf("%d lost; %s", lost, h.noted())
	}
}

// TestParkedBodies: bodies that are on their way count against the queue's bound,
// and are let go of when they end.
func TestParkedBodies(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	h := tapHTTP(t, s.URL, func(c *HTTP) { c.Limits.QueueBytes = 300 << 10 })
	for round := range 3 {
		var bodies []*io.PipeWriter
		var wg sync.WaitGroup
		for range 4 {
			pr, pw := io.Pipe()
			bodies = append(bodies, pw)
			wg.Go(func() {
				res, err := client(t).Post(h.url, "text/plain", pr)
				if err != nil {
					t.Error(err)
					return
				}
				res.Body.Close()
			})
			pw.Write(make([]byte, 100_000))
		}
		for _, pw := range bodies {
			pw.Write([]byte("end"))
			pw.Close()
		}
		wg.Wait()
		soon(t, "room", func() bool {
			post(t, h.url, fmt.Sprintf("round %d", round))
			return strings.Contains(h.log.text(), fmt.Sprintf(`"text":"round %d"`, round))
		})
	}
	h.stop()
	if !slices.ContainsFunc(readFrames(t, h.log.text()), func(f capture.Frame) bool { return f.Kind == capture.Gap }) {
		t.Error("nothing was lost: the bodies were not counted")
	}
}
