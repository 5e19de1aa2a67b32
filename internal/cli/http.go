package cli

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/tap"
	"mcpsnoop/internal/term"
)

// httpFlags are the flags of the HTTP tap, besides those of all taps.
type httpFlags struct {
	tapFlags
	target, listen, ca     string
	insecure, preserveHost bool
}

func (a *app) httpCommand() *cobra.Command {
	var flags httpFlags
	c := &cobra.Command{
		Use:   "http --target URL",
		Short: "Record between HTTP clients and a server, as a reverse proxy",
		Long: `http listens, passes every request on to the target and every answer back, untouched,
and records what passes. Give clients its address instead of the server's:

  mcpsnoop http --target http://127.0.0.1:3000/mcp
  (clients connect to http://127.0.0.1:7000/mcp)

With {session} in --trace-file each MCP session gets a file of its own.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.http(c, &flags, nil) },
	}
	c.Flags().StringVar(&flags.target, targetFlag, "", "URL of the server (required)")
	flags.addHTTP(c.Flags(), "127.0.0.1:7000")
	flags.add(c.Flags())
	return c
}

// targetFlag names the server of the HTTP tap; watch calls it otherwise.
const targetFlag = "target"

// addHTTP adds the flags of the HTTP tap, besides those of all taps and its target.
func (flags *httpFlags) addHTTP(f *pflag.FlagSet, listen string) {
	f.StringVar(&flags.listen, "listen", listen, "address to listen on")
	f.StringVar(&flags.ca, "target-ca", "", "PEM file of certificates to trust for the target")
	f.BoolVar(&flags.insecure, "target-insecure", false, "do not judge the target's certificate")
	f.BoolVar(&flags.preserveHost, "preserve-host", false, "pass Host and Origin on even where they name this proxy")
}

// http runs the proxy until it is told to end. With a watch what passes is judged
// meanwhile.
func (a *app) http(c *cobra.Command, flags *httpFlags, w *watch) error {
	proxy := tap.HTTP{Listen: flags.listen, Insecure: flags.insecure, PreserveHost: flags.preserveHost}
	var err error
	if flags.target == "" {
		return usagef("name the server's URL with --"+w.target(), "no target")
	}
	if proxy.Target, err = tap.ParseTarget(flags.target); err != nil {
		return usagef("", "--%s: %w", w.target(), err)
	}
	if proxy.TargetCA, err = loadCA(flags.ca); err != nil {
		return usagef("", "--target-ca: %w", err)
	}
	notices := tap.NewNotices(a.env.Stderr)
	defer notices.Close(noticeWait)
	w.begin(notices.Line)
	defer w.quit()
	logs := &sessionFiles{pattern: flags.traceFile, replace: flags.replace, watch: w}
	if strings.Contains(logs.pattern, sessionPlace) && !flags.noTrace {
		proxy.LogFor, flags.traceFile = logs.open, os.DevNull
	}
	end, err := a.record(&proxy.Recording, &flags.tapFlags, targetLabel(proxy.Target), notices)
	if err != nil {
		return err
	}
	defer end()
	if proxy.LogFor == nil {
		proxy.Log = w.follow(proxy.Log, proxy.Tap)
	}
	logs.label = proxy.Label
	defer logs.close()
	if !flags.noTrace && !flags.quiet {
		proxy.Ready = func(addr net.Addr) { notices.Line(banner(&proxy, addr)) }
	}
	err = tap.RunHTTP(c.Context(), proxy)
	var busy *tap.ListenError
	var address *net.AddrError
	var name *net.DNSError
	if errors.As(err, &address) || errors.As(err, &name) {
		return usagef("name an address and a port, such as 127.0.0.1:7000", "--listen %q: %w", flags.listen, err)
	}
	if errors.As(err, &busy) {
		return failed(err, "is another proxy running? name another address with --listen")
	}
	if err != nil {
		return err
	}
	end()
	logs.close()
	return w.end(exitYes)
}

func loadCA(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	return tap.LoadCA(path)
}

// targetLabel is the label of a proxy that was given none: the target's host.
func targetLabel(target *url.URL) string {
	if label := statedir.CleanLabel(target.Host); label != "" {
		return label
	}
	return "http"
}

func banner(proxy *tap.HTTP, addr net.Addr) string {
	as := " as " + proxy.Tap
	if proxy.LogFor != nil {
		as = ""
	}
	return fmt.Sprintf("mcpsnoop: recording %s%s, listening on http://%s", term.Escape(proxy.Target.Redacted()), as, addr)
}

// sessionPlace is what a trace file is named by where each MCP session has its own.
const sessionPlace = "{session}"

// sessionFiles are the logs of a proxy that writes one for each MCP session.
type sessionFiles struct {
	pattern, label string
	replace        bool // what is in a file
	watch          *watch

	mu    sync.Mutex
	files []*statedir.LogFile
}

// open opens the log of an MCP session, "" for what belongs to none.
func (s *sessionFiles) open(session string) (tap.Log, string, error) {
	log, err := openTrace(strings.ReplaceAll(s.pattern, sessionPlace, fileWord(session)), s.replace)
	if err != nil {
		s.watch.unjudged(err)
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = append(s.files, log)
	id := statedir.NewID(s.label, os.Getpid())
	return s.watch.follow(log, id), id, nil
}

func (s *sessionFiles) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, log := range s.files {
		log.Close()
	}
	s.files = nil
}

// fileWord makes a session id, which a server chose, part of a file name. What is
// not as it was gets a hash, so that two ids never share a file.
func fileWord(session string) string {
	const most = 64
	if session == "" {
		return "none"
	}
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z', r == '-', r == '_':
			return r
		}
		return '_'
	}, session)
	if safe == session && len(safe) <= most && session != "none" {
		return safe
	}
	sum := sha256.Sum256([]byte(session))
	return safe[:min(len(safe), most)] + "-" + hex.EncodeToString(sum[:6])
}
