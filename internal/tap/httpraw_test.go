package tap

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
)

// TestRawExchange: what reaches the other side is what was sent, but for what
// belongs to the connection.
func TestRawExchange(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for _, c := range []struct{ name, request, response string }{
		{"post", "POST /mcp?a=%41&b=c%2fd HTTP/1.1\r\nHost: example.test\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Mon, 30 Nov 2026 00:00:00 GMT\r\nContent-Length: 2\r\n\r\n{}"},
		{"nothing is added", "GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n<html>hi</html"},
		{"nothing is added to a chunked answer", "GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;ext=1\r\n world\r\n0\r\n\r\n"},
		{"nothing at all in the answer", "GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		{"empty chunked answer", "GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"answer that ends with its connection", "GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it<close>"},
		{"chunked request", "POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n", ok},
		{"trailers both ways", "POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-A, X-B\r\n\r\n3\r\nabc\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n"},
		{"trailers that nobody announced", "POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-A: 1\r\n\r\n"},
		{"headers of all kinds", "POST /mcp HTTP/1.1\r\nHost: x\r\nUser-Agent: me\r\nAccept-Encoding: gzip, br\r\nX-Two: 1\r\nX-Two: 2\r\nX-Empty:\r\nX-Forwarded-For: 192.0.2.1\r\nVia: 1.1 other\r\nAuthorization: Bearer t\r\nCookie: a=b\r\nMcp-Param-City: =?base64?w6Q=?=\r\nX-Bytes: \xe4\xff\r\nIdempotency-Key: 1\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nServer: s\r\nVia: 1.1 other\r\nX-Bytes: \xe4\xff\r\nX-Empty:\r\nContent-Encoding: what-ever\r\nContent-Length: 2\r\n\r\nok"},
		{"headers of the connection", "GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: h2c\r\nKeep-Alive: timeout=5\r\n\r\n", "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nok"},
		{"head", "HEAD /mcp HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n"},
		{"head without a length", "HEAD /mcp HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"},
		{"delete", "DELETE /mcp HTTP/1.1\r\nHost: x\r\nMcp-Session-Id: 1\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n"},
		{"delete with a length", "DELETE /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\nContent-Length: 0\r\n\r\n"},
		{"options", "OPTIONS /mcp HTTP/1.1\r\nHost: x\r\nOrigin: http://a\r\nAccess-Control-Request-Method: POST\r\n\r\n", "HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: *\r\n\r\n"},
		{"options of all", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\nAllow: POST\r\nContent-Length: 0\r\n\r\n"},
		{"get with a body", "GET /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", ok},
		{"empty post", "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"},
		{"accepted, with a body", "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted"},
		{"not modified", "GET /mcp HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"a\"\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nEtag: \"a\"\r\n\r\n"},
		{"redirect", "GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"},
		{"method nobody knows", "PURGE /mcp HTTP/1.1\r\nHost: x\r\n\r\n", ok},
		{"event stream", "GET /mcp HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n13\r\n: ping\r\n\r\nid: 1\r\n\r\n\r\na\r\ndata: x\r\n\r\r\n0\r\n\r\n"},
		{"bytes that are no text", "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n\x00\xff\r\n\x80", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\xfe\x00\n\xff"},
		{"path as it is spelled", "GET /mcp/a%2Fb/%7euser;p=1/..%2f/x|y\"z//w HTTP/1.1\r\nHost: x\r\n\r\n", ok},
		{"question mark alone", "GET /mcp? HTTP/1.1\r\nHost: x\r\n\r\n", ok},
		{"many question marks", "GET /mcp?a=?&b=# HTTP/1.1\r\nHost: x\r\n\r\n", ok},
		{"informational", "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + ok},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startRaw(t, func(int, rawMessage) string { return c.response })
			h := tapHTTP(t, s.url()+"/mcp", nil)
			noBody := strings.HasPrefix(c.request, "HEAD") || strings.Contains(c.response, " 204 ") || strings.Contains(c.response, " 304 ")
			got, before, err := sendRaw(t, h.addr, c.request, noBody)
			if err != nil {
				t.Fatal(err)
			}
			wantRequest, err := readRaw(bufio.NewReader(strings.NewReader(c.request)), false)
			if err != nil {
				t.Fatal(err)
			}
			if got := <-s.requests; !reflect.DeepEqual(got, wantRequest) {
				t.Errorf("request is\n%+v\nwant\n%+v", got, wantRequest)
			}
			r := bufio.NewReader(strings.NewReader(strings.TrimSuffix(c.response, "<close>")))
			for range before {
				readRaw(r, true)
			}
			want, err := readRaw(r, noBody)
			if err != nil {
				t.Fatal(err)
			}
			if want.trailer == nil && len(got.trailer) == 0 { // of another framing
				want.trailer = got.trailer
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("answer is\n%+v\nwant\n%+v", got, want)
			}
			if n := strings.Count(c.response, "HTTP/1.1 1"); len(before) != n {
				t.Errorf("%d informational answers, want %d", len(before), n)
			} else if n > 0 && before[0].header["link"] == nil {
				t.Errorf("informational answer is %+v", before[0])
			}
			if len(s.requests) > 0 {
				t.Errorf("a second request came")
			}
		})
	}
}

// TestExpectContinue: the body is sent when the server asks for it.
func TestExpectContinue(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	step := make(chan string, 10)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(c)
			head := ""
			for !strings.HasSuffix(head, "\r\n\r\n") {
				s, err := r.ReadString('\n')
				if err != nil {
					return
				}
				head += s
			}
			if !strings.Contains(head, "Expect: 100-continue") {
				step <- "no expectation"
			}
			if strings.Contains(head, "/refuse") {
				io.WriteString(c, "HTTP/1.1 417 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				c.Close()
				continue
			}
			step <- "asked"
			io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
			body := make([]byte, 5)
			io.ReadFull(r, body)
			step <- string(body)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			c.Close()
		}
	}()
	h := tapHTTP(t, "http://"+ln.Addr().String(), nil)
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(hang))
	r := bufio.NewReader(c)
	io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	m, err := readRaw(r, true)
	if err != nil || m.start != "HTTP/1.1 100 Continue" || <-step != "asked" {
		t.Fatalf("got %+v, %v", m, err)
	}
	io.WriteString(c, "hello")
	if got := <-step; got != "hello" {
		t.Fatalf("server got %q", got)
	}
	if m, err := readRaw(r, false); err != nil || m.start != "HTTP/1.1 200 OK" {
		t.Errorf("answer is %+v, %v", m, err)
	}
	c.Close()
	if m, before, err := sendRaw(t, h.addr, "POST /refuse HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n", false); err != nil ||
		len(before) != 0 || !strings.HasPrefix(m.start, "HTTP/1.1 417") {
		t.Errorf("answer is %+v after %v, %v", m, before, err)
	}
}

// TestNotSentTwice: a connection that breaks makes an error, not a second request.
func TestNotSentTwice(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
		"OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n",
		"DELETE / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
		"POST / HTTP/1.1\r\nHost: x\r\nIdempotency-Key: 1\r\nContent-Length: 2\r\n\r\n{}",
	} {
		s := startRaw(t, func(n int, m rawMessage) string {
			if n == 1 { // the connection will be used again, and then break
				return ok
			}
			return ""
		})
		h := tapHTTP(t, s.url(), nil)
		if _, _, err := sendRaw(t, h.addr, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", false); err != nil {
			t.Fatal(err)
		}
		m, _, err := sendRaw(t, h.addr, request, strings.HasPrefix(request, "HEAD"))
		if err != nil || !strings.HasPrefix(m.start, "HTTP/1.1 502") {
			t.Errorf("%q: %+v, %v", request, m, err)
		}
		if n := len(s.requests); n != 2 {
			t.Errorf("%q: the server got %d requests", request, n)
		}
	}
}

// TestPaths is the rule for where requests go.
func TestPaths(t *testing.T) {
	for _, c := range []struct{ target, request, want string }{
		{"", "/", "/"}, {"", "/mcp", "/mcp"}, {"/", "/", "/"}, {"/", "/mcp", "/mcp"},
		{"/mcp", "/", "/mcp"}, {"/mcp", "/mcp", "/mcp"}, {"/mcp", "/mcp/", "/mcp/"}, {"/mcp", "/mcp/x", "/mcp/x"},
		{"/mcp", "/mcpx", "/mcp/mcpx"}, {"/mcp", "/x", "/mcp/x"}, {"/mcp", "//x", "/mcp//x"}, {"/mcp", "/MCP", "/mcp/MCP"},
		{"/mcp", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource/mcp"},
		{"/mcp", "/.well-known/", "/.well-known/"}, {"/mcp", "/.well-knownx", "/mcp/.well-knownx"}, {"/mcp", "/.well-known", "/mcp/.well-known"},
		{"/a/b", "/a", "/a/b/a"}, {"/a/b", "/a/b", "/a/b"}, {"/a/b", "/a/b/c", "/a/b/c"},
		{"/a%2Fb", "/", "/a%2Fb"}, {"/a%2Fb", "/a%2Fb/c", "/a%2Fb/c"}, {"/a%2Fb", "/a/b", "/a%2Fb/a/b"}, {"/a%2Fb", "/a%2fb", "/a%2Fb/a%2fb"},
		{"/mcp/", "/", "/mcp/"}, {"/mcp/", "/mcp/", "/mcp/"}, {"/mcp/", "/mcp", "/mcp"}, {"/mcp/", "/x", "/mcp/x"},
		{"/mcp", "/mcp/../x", "/mcp/../x"}, {"/mcp", "/../x", "/mcp/../x"},
		{"", "//x//y", "//x//y"},
		// queries
		{"/mcp", "/mcp?a=1&b=%20+", "/mcp?a=1&b=%20+"}, {"/mcp?k=v%2f", "/mcp", "/mcp?k=v%2f"}, {"/mcp?k=v", "/?a=1", "/mcp?a=1&k=v"},
		{"/mcp?k=v", "/x?a", "/mcp/x?a&k=v"}, {"/mcp?k=v", "/mcp?", "/mcp?k=v"}, {"/mcp", "/?", "/mcp?"}, {"/mcp", "/?a?b", "/mcp?a?b"},
		{"/mcp?k=v", "/.well-known/x?a=1", "/.well-known/x?a=1&k=v"},
		// as forward proxies are asked
		{"/mcp", "http://example.test/mcp?a", "/mcp?a"}, {"/mcp", "http://example.test", "/mcp"}, {"/mcp", "http://example.test?a", "/mcp?a"},
		{"", "/x?u=http://y/", "/x?u=http://y/"}, {"", "/http://y/", "/http://y/"},
	} {
		s := startRaw(t, func(int, rawMessage) string { return "HTTP/1.1 204 No Content\r\n\r\n" })
		h := tapHTTP(t, s.url()+c.target, nil)
		if _, _, err := sendRaw(t, h.addr, "GET "+c.request+" HTTP/1.1\r\nHost: x\r\n\r\n", true); err != nil {
			t.Fatal(err)
		}
		if got, want := (<-s.requests).start, "GET "+c.want+" HTTP/1.1"; got != want {
			t.Errorf("target %q, request %q: %q, want %q", c.target, c.request, got, want)
		}
		h.stop()
	}
}

// TestHostAndOrigin: only what names us is made to name the target.
func TestHostAndOrigin(t *testing.T) {
	s := startRaw(t, func(int, rawMessage) string { return "HTTP/1.1 204 No Content\r\n\r\n" })
	target := s.Addr().String()
	for _, preserve := range []bool{false, true} {
		h := tapHTTP(t, s.url(), func(c *HTTP) { c.PreserveHost = preserve })
		_, port, _ := net.SplitHostPort(h.addr)
		for _, c := range []struct {
			host string
			ours bool
		}{
			{h.addr, true}, {"localhost:" + port, true}, {"LOCALHOST:" + port, true}, {"[::1]:" + port, true}, {"127.0.0.2:" + port, true},
			{"evil.example:" + port, false}, {"localhost", false}, {"localhost:1", false}, {"127.0.0.1", false}, {"192.0.2.1:" + port, false},
			{"localhost.evil.example:" + port, false}, {"evil.example", false}, {target, false}, {"[::2]:" + port, false},
		} {
			for _, origin := range []string{"http://" + c.host, "https://" + c.host, "null", ""} {
				request := "GET / HTTP/1.1\r\nHost: " + c.host + "\r\n"
				if origin != "" {
					request += "Origin: " + origin + "\r\n"
				}
				if _, _, err := sendRaw(t, h.addr, request+"\r\n", true); err != nil {
					t.Fatal(err)
				}
				m := <-s.requests
				wantHost, wantOrigin := c.host, origin
				if c.ours && !preserve {
					wantHost = target
					if strings.HasPrefix(origin, "http://") {
						wantOrigin = "http://" + target
					}
				}
				if got := m.header["host"][0]; got != wantHost {
					t.Errorf("host %q goes on as %q, preserve %v", c.host, got, preserve)
				}
				if got := strings.Join(m.header["origin"], ""); got != wantOrigin {
					t.Errorf("origin %q goes on as %q, preserve %v", origin, got, preserve)
				}
			}
		}
		h.stop()
	}
	h := tapHTTP(t, s.url(), nil)
	if _, _, err := sendRaw(t, h.addr, "GET / HTTP/1.0\r\n\r\n", true); err != nil {
		t.Fatal(err)
	}
	if m := <-s.requests; m.header["host"][0] != target {
		t.Errorf("without a host: %v", m.header)
	}
}

func TestOurNames(t *testing.T) {
	tcp := func(s string) net.Addr {
		a, err := net.ResolveTCPAddr("tcp", s)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range []struct {
		listening, listen, local string
		ours, not                string
	}{
		{"0.0.0.0:7000", ":7000", "192.0.2.7:7000", "192.0.2.7:7000 localhost:7000 127.0.0.1:7000 0.0.0.0:7000", "192.0.2.8:7000 other:7000 192.0.2.7"},
		{"[::]:7000", "[::]:7000", "[2001:db8::1]:7000", "[2001:db8::1]:7000 localhost:7000 [::1]:7000", "[2001:db8::2]:7000"},
		{"192.0.2.7:7000", "192.0.2.7:7000", "192.0.2.7:7000", "192.0.2.7:7000", "localhost:7000 127.0.0.1:7000"},
		{"192.0.2.7:7000", "MyBox:7000", "192.0.2.7:7000", "mybox:7000 192.0.2.7:7000", "localhost:7000 mybox"},
		{"127.0.0.1:80", "127.0.0.1:80", "127.0.0.1:80", "localhost 127.0.0.1 localhost:80", "localhost:8080 evil"},
	} {
		n := namesOf(tcp(c.listening), c.listen)
		for want, hosts := range map[bool]string{true: c.ours, false: c.not} {
			for _, host := range strings.Fields(hosts) {
				if got := n.ours(host, tcp(c.local)); got != want {
					t.Errorf("listening on %s, %q: %v", c.listen, host, got)
				}
			}
		}
	}
}

func TestTargetCredentials(t *testing.T) {
	s := startRaw(t, func(int, rawMessage) string { return "HTTP/1.1 204 No Content\r\n\r\n" })
	h := tapHTTP(t, "http://user:pass@"+s.Addr().String(), nil)
	for _, c := range []struct{ sent, want string }{{"", "Basic dXNlcjpwYXNz"}, {"Authorization: Bearer x\r\n", "Bearer x"}} {
		if _, _, err := sendRaw(t, h.addr, "GET / HTTP/1.1\r\nHost: x\r\n"+c.sent+"\r\n", true); err != nil {
			t.Fatal(err)
		}
		if got := (<-s.requests).header["authorization"]; len(got) != 1 || got[0] != c.want {
			t.Errorf("got %q", got)
		}
	}
}

// TestCredentialsAreNotRecorded: whatever a client or server says of them.
func TestCredentialsAreNotRecorded(t *testing.T) {
	s := startRaw(t, func(int, rawMessage) string {
		return "HTTP/1.1 302 Found\r\nSet-Cookie: a=hush\r\nLocation: https://u:hush@x.test/cb?code=hush&state=1&x=%2f#access_token=hush\r\nWww-Authenticate: Basic realm=\"a\"\r\nX-Auth-Token: hush\r\nContent-Length: 0\r\n\r\n"
	})
	h := tapHTTP(t, s.url(), nil)
	request := "GET /a?token=hush&API-Key=hush&api%5fkey=hush&sessionId=s&x=1;client_secret=hush&key HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer hush\r\nCookie: hush\r\n" +
		"Proxy-Authorization: hush\r\nX-Api-Key: hush\r\nMcp-Param-X: shown\r\n\r\n"
	if _, _, err := sendRaw(t, h.addr, request, false); err != nil {
		t.Fatal(err)
	}
	if m := <-s.requests; strings.Count(fmt.Sprint(m), "hush") != 8 {
		t.Errorf("not all went on: %+v", m)
	}
	frames := h.frames()
	if strings.Contains(h.log.text(), "hush") {
		t.Errorf("a secret is recorded:\n%s", h.log.text())
	}
	head, answer := frames[0].HTTP, frames[1].HTTP
	r := capture.Redaction
	if want := "token=" + r + "&API-Key=" + r + "&api%5fkey=" + r + "&sessionId=s&x=1;client_secret=" + r + "&key"; head.Query != want {
		t.Errorf("query is %q, want %q", head.Query, want)
	}
	if want := map[string]string{"host": "x", "authorization": r, "mcp-param-x": "shown"}; !reflect.DeepEqual(head.Request, want) {
		t.Errorf("headers are %v", head.Request)
	}
	if want := map[string]string{"location": "https://x.test/cb?code=" + r + "&state=1&x=%2f#access_token=" + r, "www-authenticate": `Basic realm="a"`, "content-length": "0"}; !reflect.DeepEqual(answer.Response, want) {
		t.Errorf("headers are %v", answer.Response)
	}
}
