package tap

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
)

// httpTap is a tap that runs in this process.
type httpTap struct {
	t     *testing.T
	log   *memLog
	addr  string
	url   string
	end   context.CancelFunc
	ended chan error
	once  sync.Once
	mu    sync.Mutex
	notes []string
}

// tapHTTP starts a tap in front of a target; change changes its configuration first.
func tapHTTP(t *testing.T, target string, change func(*HTTP)) *httpTap {
	t.Helper()
	u, err := ParseTarget(target)
	if err != nil {
		t.Fatal(err)
	}
	h := &httpTap{t: t, log: &memLog{}, ended: make(chan error, 1)}
	cfg := HTTP{Target: u, Listen: "127.0.0.1:0", grace: 100 * time.Millisecond}
	cfg.Tap, cfg.Label, cfg.Log, cfg.Limits = "t-1-000000000000", "t", h.log, DefaultLimits()
	cfg.waits = waits{time.Minute, time.Minute} // tests share their machine
	cfg.Notify = func(line string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.notes = append(h.notes, line)
	}
	ready := make(chan net.Addr, 1)
	cfg.Ready = func(a net.Addr) { ready <- a }
	if change != nil {
		change(&cfg)
	}
	var ctx context.Context
	ctx, h.end = context.WithCancel(context.Background())
	go func() { h.ended <- RunHTTP(ctx, cfg) }()
	select {
	case a := <-ready:
		h.addr = a.String()
		h.url = "http://" + h.addr
	case err := <-h.ended:
		t.Fatal(err)
	}
	t.Cleanup(func() { h.stop() })
	return h
}

func (h *httpTap) stop() {
	h.t.Helper()
	h.once.Do(func() {
		h.end()
		select {
		case err := <-h.ended:
			if err != nil {
				h.t.Errorf("run: %v", err)
			}
		case <-time.After(hang):
			h.t.Fatal("the tap does not end")
		}
	})
}

func (h *httpTap) noted() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.notes, "\n")
}

// frames ends the tap and returns what it recorded, without its first and last frame.
func (h *httpTap) frames() []capture.Frame {
	h.t.Helper()
	h.stop()
	return h.sofar()[1:]
}

// sofar returns what is recorded, without the end.
func (h *httpTap) sofar() []capture.Frame {
	h.t.Helper()
	frames := readFrames(h.t, h.log.text())
	if n := len(frames); n > 0 && frames[n-1].Kind == capture.End {
		frames = frames[:n-1]
	}
	return frames
}

// readFrames reads a log and checks numbers, times and transport.
func readFrames(t *testing.T, text string) (frames []capture.Frame) {
	t.Helper()
	d := new(capture.Decoder)
	for line := range strings.Lines(text) {
		var f capture.Frame
		if err := d.Decode([]byte(strings.TrimSuffix(line, "\n")), &f); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		frames = append(frames, *f.Clone())
	}
	for i, f := range frames {
		if f.Transport != capture.HTTP {
			t.Errorf("frame %d has transport %v", f.Seq, f.Transport)
		}
		if i > 0 && f.Kind != capture.Gap && f.Seq != frames[i-1].Seq+1 {
			t.Errorf("frame %d after %d", f.Seq, frames[i-1].Seq)
		}
		if i > 0 && (f.Mono < frames[i-1].Mono || f.Time.Before(frames[i-1].Time)) {
			t.Errorf("frame %d is earlier than the one before", f.Seq)
		}
	}
	return frames
}

// short writes frames the way tests compare them: exchange, direction, kind, and
// what tells them apart.
func short(frames []capture.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%d %s", f.Exchange, f.Dir)
		if f.Kind != capture.Line {
			fmt.Fprintf(&b, " %s", f.Kind)
		}
		if h := f.HTTP; h != nil {
			if h.Verb != "" {
				fmt.Fprintf(&b, " %s %s", h.Verb, h.Path)
			}
			if h.Status != 0 {
				fmt.Fprintf(&b, " %d", h.Status)
			}
			if e := h.SSE; e != nil {
				for _, v := range []struct{ name, value string }{{"id", e.ID}, {"event", e.Event}, {"data", e.Data}, {"comment", e.Comment}, {"rewritten", e.Rewritten}} {
					if v.value != "" {
						fmt.Fprintf(&b, " %s=%s", v.name, v.value)
					}
				}
				if e.Retry != 0 {
					fmt.Fprintf(&b, " retry=%d", e.Retry)
				}
			}
			if h.ClosedBy != "" {
				fmt.Fprintf(&b, " by %s", h.ClosedBy)
			}
		}
		if f.Flags&capture.Truncated != 0 {
			b.WriteString(" truncated")
		}
		if f.EOL == capture.NoEOL {
			b.WriteString(" unended")
		}
		if f.Dir != capture.Meta && f.Kind == capture.Line {
			fmt.Fprintf(&b, " %.200s", f.Payload)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (h *httpTap) check(want string) []capture.Frame {
	h.t.Helper()
	frames := h.frames()
	compare(h.t, short(frames), want)
	return frames
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimPrefix(want, "\n"); got != want {
		t.Errorf("frames are\n%swant\n%s", got, want)
	}
}

// serve starts a server for a test.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// client returns a client that leaves nothing behind.
func client(t *testing.T) *http.Client {
	tr := &http.Transport{DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// post posts a body and returns the answer, read to its end.
func post(t *testing.T, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	return do(t, "POST", url, body, header...)
}

func do(t *testing.T, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Add(header[i], header[i+1])
	}
	res, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// soon waits for what should come soon.
func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hang); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}

func TestHTTPStartFrame(t *testing.T) {
	h := tapHTTP(t, "https://user:secret@example.test/a%2Fb?token=secret", func(c *HTTP) { c.Start.Tool = "mcpsnoop test" })
	h.stop()
	frames := readFrames(t, h.log.text())
	if len(frames) != 2 || frames[0].Kind != capture.Start || frames[1].Kind != capture.End {
		t.Fatalf("frames are\n%s", short(frames))
	}
	info, err := capture.ParseStart(frames[0].Payload)
	if err != nil {
		t.Fatal(err)
	}
	if info.Target != "https://example.test/a%2Fb" || info.Listen != h.addr || info.Tool != "mcpsnoop test" || info.PID != os.Getpid() || info.Format != capture.FormatVersion {
		t.Errorf("start is %+v", info)
	}
	if text := h.log.text(); strings.Contains(text, "secret") || strings.Contains(text, "user") {
		t.Errorf("the log holds a secret: %s", text)
	}
}

func TestListenError(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	u, _ := ParseTarget("http://127.0.0.1:1")
	err = RunHTTP(t.Context(), HTTP{Target: u, Listen: ln.Addr().String()})
	var le *ListenError
	if !errors.As(err, &le) || le.Addr != ln.Addr().String() {
		t.Errorf("the error is %v", err)
	}
}

func TestReachable(t *testing.T) {
	for addr, want := range map[string]bool{"127.0.0.1:1": false, "127.8.9.1:1": false, "[::1]:1": false, "0.0.0.0:1": true, "[::]:1": true, "192.0.2.1:1": true} {
		a, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachable(a) != ""; got != want {
			t.Errorf("%s: warned %v", addr, got)
		}
	}
	h := tapHTTP(t, "http://127.0.0.1:1", func(c *HTTP) { c.Listen = "0.0.0.0:0" })
	if !strings.Contains(h.noted(), "warning: listening on") {
		t.Errorf("notes are %q", h.noted())
	}
}

func TestParseTarget(t *testing.T) {
	for text, ok := range map[string]bool{
		"http://x": true, "https://x:1/mcp?q#f": true, "HTTP://x": true, "http://[::1]:8000/sse": true,
		"x": false, "localhost:8000": false, "ftp://x": false, "http://": false, "http:///mcp": false, "http://:80/": false, "http://us:secret@x y": false, "": false,
	} {
		_, err := ParseTarget(text)
		if (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLoadCA(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.pem")
	os.WriteFile(bad, []byte("no certificate"), 0o600)
	for _, path := range []string{bad, filepath.Join(dir, "none.pem")} {
		if _, err := LoadCA(path); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

// TestHTTPStopWithoutTraffic: a tap with no log forwards, and ends.
func TestHTTPWithoutLog(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	h := tapHTTP(t, s.URL, func(c *HTTP) { c.Log = nil })
	if _, body := post(t, h.url+"/x", "hello"); body != "hello" {
		t.Errorf("got %q", body)
	}
	h.stop()
}

// rawMessage is a request or response, taken apart.
type rawMessage struct {
	start   string
	header  map[string][]string // by lower-case name
	body    []byte
	trailer map[string][]string
}

var notOfTheMessage = []string{"connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer", "upgrade"}

// readRaw reads a message as it came over the wire. noBody says that it has none
// whatever its head says.
func readRaw(r *bufio.Reader, noBody bool) (m rawMessage, err error) {
	line := func() string {
		s, e := r.ReadString('\n')
		if e != nil {
			err = e
		}
		return strings.TrimSuffix(s, "\r\n")
	}
	fields := func() map[string][]string {
		h := map[string][]string{}
		for err == nil {
			s := line()
			if s == "" {
				break
			}
			name, value, _ := strings.Cut(s, ":")
			name = strings.ToLower(name)
			h[name] = append(h[name], strings.TrimSpace(value))
		}
		return h
	}
	m.start = line()
	m.header = fields()
	switch te := strings.Join(m.header["transfer-encoding"], ","); {
	case err != nil || noBody:
	case te == "chunked":
		for err == nil {
			var n int
			if _, e := fmt.Sscanf(line(), "%x", &n); e != nil {
				return m, errors.Join(err, e)
			}
			if n == 0 {
				break
			}
			chunk := make([]byte, n)
			if _, e := io.ReadFull(r, chunk); e != nil {
				return m, e
			}
			m.body = append(m.body, chunk...)
			line()
		}
		m.trailer = fields()
	case m.header["content-length"] != nil:
		var n int
		fmt.Sscan(m.header["content-length"][0], &n)
		m.body = make([]byte, n)
		_, err = io.ReadFull(r, m.body)
	case strings.HasPrefix(m.start, "HTTP/"):
		m.body, err = io.ReadAll(r)
	}
	for _, name := range notOfTheMessage {
		delete(m.header, name)
	}
	return m, err
}

// rawServer answers each connection's requests with raw bytes, and tells what came.
type rawServer struct {
	net.Listener
	requests chan rawMessage
	conns    sync.WaitGroup
}

func startRaw(t *testing.T, answer func(n int, m rawMessage) string) *rawServer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{Listener: ln, requests: make(chan rawMessage, 1000)}
	var mu sync.Mutex
	n := 0
	s.conns.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			s.conns.Go(func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(hang))
				r := bufio.NewReader(c)
				for {
					m, err := readRaw(r, false)
					if err != nil {
						return
					}
					mu.Lock()
					n++
					k := n
					mu.Unlock()
					s.requests <- m
					text := answer(k, m)
					if text == "" {
						return
					}
					text, close := strings.CutSuffix(text, "<close>")
					io.WriteString(c, text)
					if close {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		s.conns.Wait()
	})
	return s
}

func (s *rawServer) url() string { return "http://" + s.Addr().String() }

// sendRaw sends raw bytes and reads one answer.
func sendRaw(t *testing.T, addr, text string, noBody bool) (m rawMessage, before []rawMessage, err error) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(hang))
	io.WriteString(c, text)
	r := bufio.NewReader(c)
	for {
		head, err := r.Peek(len("HTTP/1.1 1"))
		if err != nil {
			return m, before, err
		}
		if bytes.HasPrefix(head, []byte("HTTP/1.1 1")) {
			m, err = readRaw(r, true)
			before = append(before, m)
			if err != nil {
				return m, before, err
			}
			continue
		}
		m, err = readRaw(r, noBody)
		return m, before, err
	}
}
