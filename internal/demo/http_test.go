package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// asProxy names a directory: a process of this test binary whose last argument is a URL
// is a proxy for that. It leaves its address there, a line for each exchange, and what
// was posted. Set to broken, it is a proxy that does not start.
const asProxy = "MCPSNOOP_TEST_DEMO_PROXY"

// proxying is the proxy process.
func proxying(dir, target string) {
	if dir == broken {
		os.Stderr.WriteString("no trains today")
		os.Exit(1)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	u, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	exchanges, posted := create(dir, "exchanges"), create(dir, "posted")
	var mu sync.Mutex
	forward := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: u.Scheme, Host: u.Host}) },
		ModifyResponse: func(r *http.Response) error {
			mu.Lock()
			defer mu.Unlock()
			kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
			_, err := fmt.Fprintf(exchanges, "%s %s %d %s\n", r.Request.Method, r.Request.URL.Path, r.StatusCode, kind)
			return err
		},
	}
	go http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		if body, err := io.ReadAll(r.Body); err == nil && len(body) > 0 {
			r.Body = io.NopCloser(bytes.NewReader(body))
			mu.Lock()
			posted.Write(append(body, '\n'))
			mu.Unlock()
		}
		forward.ServeHTTP(w, r)
	}))
	if err := os.WriteFile(filepath.Join(dir, "new"), []byte(ln.Addr().String()), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "address")); err != nil {
		panic(err)
	}
	<-ended
}

// left returns what a proxy left in a file, once it has.
func left(dir, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		for {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				return string(text), nil
			}
			select {
			case <-ctx.Done():
				return "", context.Cause(ctx)
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
}

func TestHTTPShowsWhatItPromises(t *testing.T) {
	dir, taps := played(t)
	if err := Run(t.Context(), NewTrace(), taps); err != nil {
		t.Fatal(err)
	}
	text, err := left(dir, "exchanges")(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		count[strings.TrimSpace(line)]++
	}
	for line, want := range map[string]int{
		"POST /mcp 200 text/event-stream": 4, // initialize, list, two calls
		"POST /mcp 202":                   2, // initialized, the form
		"GET /mcp 200 text/event-stream":  1,
		"DELETE /mcp 204":                 1,
	} {
		if count[line] != want {
			t.Errorf("%d of %q, want %d", count[line], line, want)
		}
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "DELETE") || len(lines) != 8 {
		t.Errorf("%d exchanges, the last %q:\n%s", len(lines), last, text)
	}
	addr, _ := left(dir, "address")(t.Context())
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("the proxy is still there")
	}
}

func TestProxyThatIsNone(t *testing.T) {
	_, taps := played(t)
	taps.Address = left(t.TempDir(), "address") // never
	t.Setenv(asProxy, broken)
	err := Run(t.Context(), NewTrace(), taps)
	if err == nil || !strings.Contains(err.Error(), "no trains today") {
		t.Errorf("got %v, want what the command said", err)
	}
	absent := filepath.Join(t.TempDir(), "absent")
	taps.HTTP = func(string) []string { return []string{absent} }
	if err := Run(t.Context(), NewTrace(), taps); err == nil {
		t.Error("no error for a command that is not there")
	}
}

// TestHTTPCancelled: whoever loses patience is rid of all of it.
func TestHTTPCancelled(t *testing.T) {
	_, taps := played(t)
	ctx, cancel := context.WithCancel(t.Context())
	var addr string
	listens := taps.Address
	taps.Address = func(ctx context.Context) (string, error) {
		var err error
		addr, err = listens(ctx)
		cancel()
		return addr, err
	}
	if err := Run(ctx, NewTrace(), taps); err == nil {
		t.Error("no error")
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("the proxy is still there")
	}
}
