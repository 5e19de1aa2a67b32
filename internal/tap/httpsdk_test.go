package tap

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpsnoop/internal/capture"
)

// sdkServer is a server of the SDK's, whose tool reports progress.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	type in struct {
		Text string `json:"text"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(ctx context.Context, r *mcp.CallToolRequest, a in) (*mcp.CallToolResult, any, error) {
		if token := r.Params.GetProgressToken(); token != nil {
			r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1})
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "echo " + a.Text}}}, nil, nil
	})
	return s
}

// calls drives a session of the SDK's through a transport.
func calls(t *testing.T, transport mcp.Transport, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	c := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil)
	s, err := c.Connect(ctx, transport, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Close()
	for i := range n {
		params := &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": fmt.Sprint(i)}}
		params.SetProgressToken(fmt.Sprint(i))
		res, err := s.CallTool(ctx, params)
		if err != nil {
			t.Error(err)
			return
		}
		if got := res.Content[0].(*mcp.TextContent).Text; got != fmt.Sprint("echo ", i) {
			t.Errorf("got %q", got)
		}
	}
}

// TestSDK: the SDK's clients and servers talk through a tap as they do without, over
// each transport there is, several at once.
func TestSDK(t *testing.T) {
	streamable := func(o *mcp.StreamableHTTPOptions) http.Handler {
		s := sdkServer()
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o)
	}
	s := sdkServer()
	for name, c := range map[string]struct {
		handler   http.Handler
		transport func(url string, c *http.Client) mcp.Transport
	}{
		"streamable": {streamable(nil), func(url string, c *http.Client) mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: c}
		}},
		"json": {streamable(&mcp.StreamableHTTPOptions{JSONResponse: true}), func(url string, c *http.Client) mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: c}
		}},
		"stateless": {streamable(&mcp.StreamableHTTPOptions{Stateless: true}), func(url string, c *http.Client) mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: c}
		}},
		"sse": {mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil), func(url string, c *http.Client) mcp.Transport {
			return &mcp.SSEClientTransport{Endpoint: url, HTTPClient: c}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			h := tapHTTP(t, server.URL+"/mcp", nil)
			const clients, n = 3, 5
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() { calls(t, c.transport(h.url+"/mcp", client(t)), n) })
			}
			wg.Wait()
			server.CloseClientConnections()
			frames := h.frames()
			asked, answered, broken := 0, 0, 0
			for _, f := range frames {
				switch {
				case f.Dir == capture.C2S && bytes.Contains(f.Payload, []byte(`"tools/call"`)):
					asked++
				case f.Dir == capture.S2C && bytes.Contains(f.Payload, []byte(`"echo `)):
					answered++
				case f.Status() >= 400 && f.Status() != 405 && f.HTTP.Error != "":
					broken++
				}
			}
			if asked != clients*n || answered != clients*n || broken > 0 {
				t.Errorf("%d calls, %d answers, %d failures in\n%s", asked, answered, broken, short(frames))
			}
		})
	}
}

// TestEndpoint: the messages of HTTP+SSE come back through the tap, however the
// server spells where they go.
func TestEndpoint(t *testing.T) {
	for _, c := range []struct {
		name, target, get string
		data              string // as the server says; {origin} is its own
		seen              string // by the client; {tap} is the tap's
		post              string // what a client makes of that
		want              string // path and query that reach the server
		preserve          bool
	}{
		{name: "path", target: "/sse", get: "/sse", data: "/messages?id=1", seen: "/messages?id=1", post: "/messages?id=1", want: "/messages?id=1"},
		{name: "path, asked at the root", target: "/a/sse", get: "/", data: "/a/messages?id=1", seen: "/a/messages?id=1", post: "/a/messages?id=1", want: "/a/messages?id=1"},
		{name: "relative", target: "/a/sse", get: "/a/sse", data: "messages/?id=1", seen: "messages/?id=1", post: "/a/messages/?id=1", want: "/a/messages/?id=1"},
		{name: "relative, asked at the root", target: "/a/sse", get: "/", data: "messages?id=1", seen: "messages?id=1", post: "/messages?id=1", want: "/a/messages?id=1"},
		{name: "query only", target: "/sse", get: "/sse", data: "?id=1", seen: "?id=1", post: "/sse?id=1", want: "/sse?id=1"},
		{name: "absolute", target: "/sse", get: "/sse", data: "{origin}/messages?id=%31", seen: "http://{tap}/messages?id=%31", post: "/messages?id=%31", want: "/messages?id=%31"},
		{name: "absolute without a path", target: "/sse", get: "/sse", data: "{origin}", seen: "http://{tap}", post: "/", want: "/"},
		{name: "ours already", target: "/sse", get: "/sse", data: "http://{tap}/messages", seen: "http://{tap}/messages", post: "/messages", want: "/messages", preserve: true},
		{name: "somebody else's", target: "/sse", get: "/sse", data: "http://evil.example/messages", seen: "http://evil.example/messages", post: "/messages", want: "/sse/messages"},
		{name: "target with a query", target: "/sse?k=v", get: "/sse", data: "/messages?id=1", seen: "/messages?id=1", post: "/messages?id=1", want: "/messages?id=1"},
	} {
		for _, form := range []string{"event: endpoint\ndata: %s\n\n", ": hi\r\n\r\nevent:endpoint\r\ndata:%s\r\n\r\n", "data: %s\nevent: endpoint\n\n"} {
			for _, piece := range []int{1, 7, 1000} {
				more := "event: message\ndata: {\"url\":\"{origin}/x\"}\n\n"
				var tapAddr string
				release := make(chan struct{})
				got := make(chan string, 1)
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if r.Method == "POST" {
						got <- r.URL.RequestURI()
						w.WriteHeader(202)
						return
					}
					w.Header().Set("Content-Type", "text/event-stream")
					text := strings.NewReplacer("{origin}", "http://"+r.Context().Value(http.LocalAddrContextKey).(fmt.Stringer).String(), "{tap}", tapAddr).Replace(fmt.Sprintf(form, c.data) + more)
					for text != "" {
						n := min(piece, len(text))
						io.WriteString(w, text[:n])
						w.(http.Flusher).Flush()
						text = text[n:]
					}
					<-release
				})
				h := tapHTTP(t, s.URL+c.target, func(cfg *HTTP) { cfg.PreserveHost = c.preserve })
				tapAddr = h.addr
				fill := strings.NewReplacer("{origin}", s.URL, "{tap}", h.addr).Replace
				res, err := client(t).Get(h.url + c.get)
				if err != nil {
					t.Fatal(err)
				}
				want := fill(fmt.Sprintf(form, c.seen)) + fill(more) // what is no endpoint event stays
				buf := make([]byte, len(want))
				if n, err := io.ReadFull(res.Body, buf); err != nil || string(buf) != want {
					t.Errorf("%s: the client sees %q, %v, want %q", c.name, buf[:n], err, want)
				}
				post(t, h.url+c.post, "{}")
				if got := <-got; got != c.want {
					t.Errorf("%s: the message went to %q, want %q", c.name, got, c.want)
				}
				close(release)
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
				var e *capture.SSEEvent
				for _, f := range h.frames() {
					if f.HTTP.SSE != nil && f.HTTP.SSE.Event == endpointEvent {
						e = f.HTTP.SSE
					}
				}
				wantEvent := capture.SSEEvent{Event: endpointEvent, Data: fill(c.data)}
				if c.data != c.seen {
					wantEvent.Rewritten = fill(c.seen)
				}
				if e == nil || *e != wantEvent {
					t.Errorf("%s: recorded %+v, want %+v", c.name, e, wantEvent)
				}
				s.Close()
			}
		}
	}
}

// TestAnnouncedPathsAreBounded: those of open streams stay.
func TestAnnouncedPathsAreBounded(t *testing.T) {
	r := routes{path: "/sse"}
	keep := r.announce("/kept", "/kept/there")
	for i := range 5 * maxAnnounced {
		r.announce(fmt.Sprint("/", i), "/x")()
	}
	if n := len(r.announced); n > maxAnnounced {
		t.Errorf("%d paths are remembered", n)
	}
	if to := r.routePath("/kept"); to != "/sse/kept" {
		t.Errorf("the rule gives %q", to)
	}
	if to, _, _ := r.route("/kept", "", false); to != "/kept/there" {
		t.Errorf("a path of an open stream leads to %q", to)
	}
	keep()
}

// TestHTTP2: over TLS, with a certificate of its own, both protocols.
func TestHTTP2(t *testing.T) {
	for _, version := range []int{1, 2} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			if r.ProtoMajor != version || r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("User-Agent") != "" || r.Header.Get("Accept-Encoding") != "" {
				t.Errorf("%s with %v", r.Proto, r.Header)
			}
			if r.Method == "GET" && r.ContentLength != 0 {
				t.Errorf("a GET of %d bytes", r.ContentLength)
			}
			w.Header()["Date"] = nil
			w.Header()["Content-Type"] = nil
			w.Header().Set("Trailer", "X-Sum")
			fmt.Fprintf(w, "%s %s %s", r.Method, r.RequestURI, b)
			w.(http.Flusher).Flush()
			w.Header().Set("X-Sum", "1")
		}))
		s.EnableHTTP2 = version == 2
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		path := filepath.Join(t.TempDir(), "ca.pem")
		os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600)
		pool, err := LoadCA(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, set := range map[string]func(*HTTP){
			"ca": func(c *HTTP) { c.TargetCA = pool }, "insecure": func(c *HTTP) { c.Insecure = true }, "neither": nil,
		} {
			h := tapHTTP(t, s.URL+"/mcp", set)
			for range 2 {
				for _, method := range []string{"GET", "POST"} {
					req, _ := http.NewRequest(method, h.url+"/mcp/a%2Fb%7ec?q=%41", nil)
					if method == "POST" {
						req.Body = io.NopCloser(strings.NewReader("body"))
					}
					req.Header["User-Agent"] = nil
					res, err := client(t).Do(req)
					if err != nil {
						t.Fatal(err)
					}
					b, err := io.ReadAll(res.Body)
					res.Body.Close()
					if name == "neither" {
						if res.StatusCode != 502 || !strings.Contains(string(b), "certificate") {
							t.Errorf("got %d %q", res.StatusCode, b)
						}
						continue
					}
					want := method + " /mcp/a%2Fb%7ec?q=%41 "
					if method == "POST" {
						want += "body"
					}
					if got := string(b); got != want || err != nil {
						t.Errorf("%s: got %q, %v, want %q", name, b, err, want)
					}
					if len(res.Header) != 0 || res.Trailer.Get("X-Sum") != "1" {
						t.Errorf("%s: headers %v, trailers %v", name, res.Header, res.Trailer)
					}
				}
			}
			h.stop()
		}
		s.Close()
	}
	// A bad certificate is told in our words.
	if got := reason(&tls.CertificateVerificationError{Err: io.ErrUnexpectedEOF}); got != "server's certificate: unexpected EOF" {
		t.Errorf("got %q", got)
	}
}

// TestShutdown: nobody new gets in, what is open may finish, and what does not is
// cut and recorded as such.
func TestShutdown(t *testing.T) {
	finish := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/fast":
			<-finish
			io.WriteString(w, "done")
		case "/stream":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	})
	h := tapHTTP(t, s.URL, func(c *HTTP) { c.grace = 500 * time.Millisecond })
	fast := make(chan string, 1)
	go func() {
		_, body := do(t, "GET", h.url+"/fast", "")
		fast <- body
	}()
	soon(t, "request", func() bool { return strings.Contains(h.log.text(), "/fast") })
	res, err := client(t).Get(h.url + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	stopped := make(chan struct{})
	go func() {
		h.stop()
		close(stopped)
	}()
	soon(t, "end of listening", func() bool {
		c, err := net.Dial("tcp", h.addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	close(finish)
	if got := <-fast; got != "done" {
		t.Errorf("got %q", got)
	}
	if text, err := io.ReadAll(res.Body); string(text) != "data: 1\n\n" || err == nil {
		t.Errorf("got %q, %v", text, err)
	}
	<-stopped
	frames := h.frames()
	got := short(frames)
	if !strings.Contains(got, "1 s2c 200 done\n") || !strings.HasSuffix(got, "2 meta close\n") {
		t.Errorf("frames are\n%s", got)
	}
	if e := frames[len(frames)-1].HTTP.Error; e != "the tap was stopped" {
		t.Errorf("the close says %q", e)
	}
	if !strings.Contains(h.noted(), "2 exchanges are open") {
		t.Errorf("notes are %q", h.noted())
	}
}

// TestHint: one line, when the server names itself to clients that will insist on it.
func TestHint(t *testing.T) {
	for name, c := range map[string]struct {
		challenge, doc string
		want           string
	}{
		"challenge":       {challenge: `Bearer error="x", resource_metadata="https://api.example/.well-known/oauth-protected-resource/mcp"`, want: "https://api.example"},
		"unquoted":        {challenge: `Bearer resource_metadata=https://api.example/x, scope=a`, want: "https://api.example"},
		"ours":            {challenge: `Bearer resource_metadata="http://{tap}/.well-known/oauth-protected-resource"`},
		"none":            {challenge: `Bearer realm="https://api.example"`},
		"document":        {doc: `{"resource":"https://api.example/mcp","authorization_servers":["https://as.example"]}`, want: "https://api.example"},
		"our document":    {doc: `{"resource":"http://{tap}/mcp"}`},
		"broken document": {doc: `{"resource":`},
	} {
		t.Run(name, func(t *testing.T) {
			var addr string
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if c.challenge != "" {
					w.Header().Set("WWW-Authenticate", strings.ReplaceAll(c.challenge, "{tap}", addr))
					w.WriteHeader(401)
					return
				}
				io.WriteString(w, strings.ReplaceAll(c.doc, "{tap}", addr))
			})
			h := tapHTTP(t, s.URL+"/mcp", nil)
			addr = h.addr
			for range 3 {
				do(t, "GET", h.url+"/.well-known/oauth-protected-resource/mcp", "")
			}
			h.stop()
			n := 0
			if c.want != "" {
				n = 1
			}
			if got := h.noted(); strings.Count(got, "hint:") != n || !strings.Contains(got, c.want) {
				t.Errorf("notes are %q", got)
			}
		})
	}
}

// TestLogForEachSession: by headers alone; a log is a tap of its own.
func TestLogForEachSession(t *testing.T) {
	s := sdkServer()
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	defer server.Close()
	var mu sync.Mutex
	logs := map[string]*memLog{}
	h := tapHTTP(t, server.URL, func(c *HTTP) {
		c.LogFor = func(session string) (Log, string, error) {
			mu.Lock()
			defer mu.Unlock()
			if logs[session] != nil {
				t.Errorf("asked twice for %q", session)
			}
			logs[session] = &memLog{}
			return logs[session], fmt.Sprintf("t-1-%012d", len(logs)), nil
		}
	})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			calls(t, &mcp.StreamableClientTransport{Endpoint: h.url, HTTPClient: client(t)}, 2)
		})
	}
	wg.Wait()
	post(t, h.url, "nonsense")
	h.stop()
	if len(logs) != 4 || h.log.text() != "" {
		t.Errorf("%d logs; beside them: %s", len(logs), h.log.text())
	}
	for session, log := range logs {
		frames := readFrames(t, log.text())
		if frames[0].Kind != capture.Start || frames[0].Seq != 1 || frames[len(frames)-1].Kind != capture.End {
			t.Errorf("log of %q:\n%s", session, short(frames))
		}
		asked := 0
		for _, f := range frames[1 : len(frames)-1] {
			if f.MCPSession != session || f.Tap != frames[0].Tap {
				t.Errorf("frame %d of %q is of %q, tap %s", f.Seq, session, f.MCPSession, f.Tap)
			}
			if f.Dir == capture.C2S && bytes.Contains(f.Payload, []byte(`"initialize"`)) {
				asked++
			}
		}
		if want := map[bool]int{true: 0, false: 1}[session == ""]; asked != want {
			t.Errorf("log of %q has %d initializes", session, asked)
		}
	}
}

// TestLogForFails: such a session goes unrecorded, its traffic goes on.
func TestLogForFails(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	good := &memLog{}
	h := tapHTTP(t, s.URL, func(c *HTTP) {
		c.LogFor = func(session string) (Log, string, error) {
			if session == "bad" {
				return nil, "", fmt.Errorf("open log of %q: no room", session)
			}
			return good, "t-1-000000000001", nil
		}
	})
	for _, session := range []string{"bad", "good", "bad"} {
		if _, body := post(t, h.url, session, "Mcp-Session-Id", session); body != session {
			t.Errorf("got %q", body)
		}
	}
	h.stop()
	if n := h.noted(); strings.Count(n, "no room") != 2 || !strings.Contains(n, "6 frames not recorded") {
		t.Errorf("notes are %q", n)
	}
	if got := readFrames(t, good.text()); len(got) != 5 {
		t.Errorf("frames are\n%s", short(got))
	}
}

// TestManyStreams: a thousand open streams leave nothing behind.
func TestManyStreams(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 100
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	h := tapHTTP(t, s.URL, nil)
	before := runtime.NumGoroutine()
	c := client(t)
	var bodies []io.Closer
	for range n {
		res, err := c.Get(h.url)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(res.Body, make([]byte, 9)); err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, res.Body)
	}
	for _, b := range bodies {
		b.Close()
	}
	c.CloseIdleConnections()
	soon(t, "end of goroutines", func() bool { return runtime.NumGoroutine() <= before+5 })
	soon(t, "closes", func() bool { return strings.Count(h.log.text(), `"closed_by":"client"`) == n })
}
