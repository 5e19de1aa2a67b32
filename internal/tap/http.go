package tap

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/proc"
	"mcpsnoop/internal/term"
)

// HTTP is a tap between HTTP clients and a server: a reverse proxy that changes
// nothing it need not change.
type HTTP struct {
	Recording
	Target       *url.URL // as ParseTarget reads it
	Listen       string   // host and port
	TargetCA     *x509.CertPool
	Insecure     bool // the target's certificate is not judged
	PreserveHost bool // Host and Origin go on even where they name us
	// LogFor, if set, gives each MCP session a log and a tap id of its own, "" for
	// what belongs to none; Tap and Log are not used then. If it fails, that
	// session goes unrecorded.
	LogFor func(mcpSession string) (Log, string, error)
	// Ready, if set, is called once clients can connect.
	Ready func(addr net.Addr)

	grace time.Duration // for exchanges to finish; 0: as usual
}

// ListenError says that we cannot listen where we should: mostly since somebody else
// does.
type ListenError struct {
	Addr string
	Err  error
}

func (e *ListenError) Error() string { return fmt.Sprintf("listen on %s: %v", e.Addr, e.Err) }
func (e *ListenError) Unwrap() error { return e.Err }

// LoadCA reads certificates that are trusted beside the system's, in PEM.
func LoadCA(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read certificates %q: no certificate in PEM in it", path)
	}
	return pool, nil
}

const (
	// httpGrace is how long exchanges may take to finish when we are to end.
	httpGrace = 5 * time.Second
	// cutGrace is how long cut ones get to notice.
	cutGrace = 2 * time.Second
)

// RunHTTP listens and forwards until ctx ends or we are told to end by a signal;
// then exchanges may finish for a while. The error is a *ListenError if it cannot
// listen.
func RunHTTP(ctx context.Context, cfg HTTP) error {
	if cfg.clock == nil {
		cfg.clock = systemClock()
	}
	if cfg.kernel == nil {
		cfg.kernel = proc.System
	}
	if cfg.Notify == nil {
		cfg.Notify = func(string) {}
	}
	signals, stop := catchHTTP()
	defer stop()
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return &ListenError{cfg.Listen, err}
	}
	p := newProxy(&cfg, ln.Addr())
	if warning := reachable(ln.Addr()); warning != "" {
		cfg.Notify(warning)
	}
	if cfg.Ready != nil {
		cfg.Ready(ln.Addr())
	}
	return p.serve(ctx, ln, signals)
}

// catchHTTP takes the signals that ask us to end. What we were told to ignore (nohup)
// stays ignored.
func catchHTTP() (c chan os.Signal, stop func()) {
	c = make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(c, syscall.SIGHUP)
	}
	// Caught and forgotten: a stderr that nobody reads must not end us.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	return c, func() {
		signal.Stop(c)
		signal.Stop(pipe)
	}
}

// reachable warns if others than this machine can connect.
func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		return fmt.Sprintf("mcpsnoop: warning: listening on %s: whoever can reach this machine can use the server, and is recorded", addr)
	}
	return ""
}

const (
	// httpBlock is what bodies are read into. A socket is no pipe: larger pieces reach
	// the other side later and still cost a wake-up each.
	httpBlock = 32 << 10
	// keepBlocks is how many bytes of blocks are kept for reuse: many bodies pass at
	// once.
	keepBlocks = 16 << 20
)

// proxy is a running HTTP tap.
type proxy struct {
	cfg          *HTTP
	rec          *recorder // nil: nothing is recorded
	transport    *http.Transport
	targetOrigin string
	authority    string // of the target, for Host
	names        ourNames
	routes       routes
	small, big   pool
	handlers     handlers
	dialer       net.Dialer
	ctx          context.Context // ends when exchanges are cut
	cut          context.CancelFunc
}

func newProxy(cfg *HTTP, addr net.Addr) *proxy {
	p := &proxy{
		cfg: cfg, targetOrigin: originOf(cfg.Target), authority: cfg.Target.Host, names: namesOf(addr, cfg.Listen),
		routes:   routes{path: cfg.Target.EscapedPath(), query: cfg.Target.RawQuery},
		handlers: handlers{none: make(chan struct{})},
		big:      pool{keep: keepBlocks},
		dialer:   net.Dialer{Timeout: 30 * time.Second},
		transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			TLSClientConfig:     &tls.Config{RootCAs: cfg.TargetCA, InsecureSkipVerify: cfg.Insecure},
			TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2:   true,
			DisableCompression:  true,
			MaxIdleConnsPerHost: 1 << 12,
			// How long a server may take to ask for a body that was announced.
			ExpectContinueTimeout: time.Second,
		},
	}
	p.transport.DialContext = p.dial
	p.ctx, p.cut = context.WithCancel(context.Background())
	if cfg.Log == nil && cfg.LogFor == nil {
		return p
	}
	info := cfg.Start
	info.Format, info.PID, info.Host = capture.FormatVersion, os.Getpid(), proc.Host(cfg.kernel)
	if info.Cwd == "" {
		info.Cwd, _ = os.Getwd()
	}
	info.Listen, info.Target = addr.String(), targetForLog(cfg.Target)
	p.rec = newRecorder(&cfg.Recording)
	p.rec.slabPool.keep = keepBlocks
	p.rec.beginHTTP(info, hints{names: p.names, origin: "http://" + addr.String()}, cfg.LogFor)
	return p
}

// targetForLog returns the target without what may be secret in it.
func targetForLog(u *url.URL) string {
	return term.Escape((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String())
}

// beginHTTP records the start of the tap.
func (r *recorder) beginHTTP(info capture.StartInfo, h hints, logFor func(string) (Log, string, error)) {
	r.mu.Lock() // the writer has seen nothing of this yet
	r.w.http.on, r.w.http.notes, r.w.http.hints = true, capture.NewNotes(info), h
	if logFor != nil {
		r.w.http.sessions = &sessionLogs{logFor: logFor, start: info}
	}
	r.mu.Unlock()
	if logFor == nil {
		r.begin(info)
	}
}

// serve serves until it is told to end, and ends.
func (p *proxy) serve(ctx context.Context, ln net.Listener, signals <-chan os.Signal) error {
	server := &http.Server{
		Handler: p, DisableGeneralOptionsHandler: true,
		BaseContext: func(net.Listener) context.Context { return p.ctx },
		ErrorLog:    log.New(io.Discard, "", 0), // it tells of clients' mistakes, which are not ours to tell
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	var err error
	select {
	case <-ctx.Done():
	case <-signals:
	case err = <-served: // the listener broke
	}
	p.flush()
	p.finish(server, signals)
	p.transport.CloseIdleConnections()
	if p.rec != nil {
		// The server goes on: what ends is the recording.
		if line := p.rec.closeHTTP(capture.EndInfo{}); line != "" {
			p.cfg.Notify(line)
		}
	}
	if err != nil {
		return fmt.Errorf("accept connections on %s: %w", ln.Addr(), err)
	}
	return nil
}

func (p *proxy) flush() {
	if p.rec != nil {
		p.rec.flush()
	}
}

// finish stops accepting, gives exchanges time to finish, or until somebody insists,
// and cuts what is left.
func (p *proxy) finish(server *http.Server, signals <-chan os.Signal) {
	grace := p.cfg.grace
	if grace == 0 {
		grace = httpGrace
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if n := p.handlers.count(); n > 0 {
		p.cfg.Notify(fmt.Sprintf("mcpsnoop: %d exchanges are open and may finish for %v; interrupt again to end now", n, grace))
	}
	insisted := make(chan struct{})
	go func() {
		defer close(insisted)
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	server.Shutdown(ctx)
	cancel()
	<-insisted
	p.cut()
	server.Close()
	p.handlers.wait(cutGrace)
}

// closeHTTP writes what is queued and the end, and says what was lost.
func (r *recorder) closeHTTP(end capture.EndInfo) string {
	totals := r.close(end)
	return totals.line()
}

// handlers counts the exchanges that are open.
type handlers struct {
	mu     sync.Mutex
	n      int
	closed bool
	none   chan struct{} // closed when there are none and will be none
}

// enter reports whether another exchange may begin.
func (h *handlers) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.n++
	return true
}

func (h *handlers) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n--; h.n == 0 && h.closed {
		close(h.none)
	}
}

func (h *handlers) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

// wait lets no more begin, and waits until all have ended, but no longer than d.
func (h *handlers) wait(d time.Duration) {
	h.mu.Lock()
	h.closed = true
	if h.n == 0 {
		close(h.none)
	}
	h.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-h.none:
	case <-t.C:
	}
}
