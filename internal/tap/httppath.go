package tap

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
)

// ParseTarget reads the URL of a server: http or https, with a host.
func ParseTarget(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) { // its text repeats the URL, which may hold a password
			err = inner.Err
		}
		return nil, fmt.Errorf("read target URL: %w", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("read target URL: it must begin with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("read target URL: it names no host")
	}
	return u, nil
}

// splitTarget splits the target of a request line, byte for byte. The origin of an
// absolute URL, which is for forward proxies, is left out.
func splitTarget(target string) (path, query string, hasQuery bool) {
	if scheme, rest, ok := strings.Cut(target, "://"); ok && scheme != "" && !strings.ContainsAny(scheme, "/?") {
		i := strings.IndexAny(rest, "/?")
		if i < 0 {
			return "", "", false
		}
		target = rest[i:]
	}
	return strings.Cut(target, "?")
}

// routes say where a request goes.
type routes struct {
	path, query string // of the target, as they go over the wire

	mu sync.RWMutex
	// announced are paths that a server named as the place for messages (HTTP+SSE),
	// by how the client has to spell them.
	announced map[string]*announced
}

// announced is where a path leads that a server named.
type announced struct {
	path    string
	streams int // that named it and are open
}

// maxAnnounced is how many paths are remembered whose streams have ended.
const maxAnnounced = 1024

const wellKnown = "/.well-known/"

// route returns where the request for a path and query goes.
func (r *routes) route(path, query string, hasQuery bool) (toPath, toQuery string, toHasQuery bool) {
	if to, ok := r.toAnnounced(path); ok {
		return to, query, hasQuery
	}
	switch {
	case query == "" && r.query != "":
		query, hasQuery = r.query, true
	case r.query != "":
		query += "&" + r.query
	}
	return r.routePath(path), query, hasQuery
}

func (r *routes) routePath(path string) string {
	t := r.path
	base := strings.TrimSuffix(t, "/")
	switch {
	case path == "" || path == "/":
		if t == "" {
			return "/"
		}
		return t
	case path == "*", strings.HasPrefix(path, wellKnown):
		return path
	case path == base, strings.HasPrefix(path, base+"/"):
		return path
	}
	return base + path
}

func (r *routes) toAnnounced(path string) (to string, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	a := r.announced[path]
	if a == nil {
		return "", false
	}
	return a.path, true
}

// announce remembers that what the client asks for at path has to go to another.
// The stream that said so calls done when it ends.
func (r *routes) announce(path, to string) (done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.announced[path]
	if a == nil {
		if len(r.announced) >= maxAnnounced {
			for old, b := range r.announced {
				if b.streams == 0 {
					delete(r.announced, old)
					break
				}
			}
		}
		if r.announced == nil {
			r.announced = make(map[string]*announced)
		}
		a = &announced{}
		r.announced[path] = a
	}
	a.path = to
	a.streams++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		a.streams--
	}
}

// ourNames knows which hosts name our listener.
type ourNames struct {
	port string
	addr netip.Addr // listened on; unspecified if on all
	name string     // as a person gave it, "" if that is an address
}

func namesOf(addr net.Addr, listen string) ourNames {
	var n ourNames
	if a, err := netip.ParseAddrPort(addr.String()); err == nil {
		n.addr, n.port = a.Addr().Unmap(), fmt.Sprint(a.Port())
	}
	if host, _, err := net.SplitHostPort(listen); err == nil {
		if _, err := netip.ParseAddr(host); err != nil {
			n.name = strings.ToLower(host)
		}
	}
	return n
}

// ours reports whether a host, with or without a port, names our listener. The
// address local is the one that the connection came in at.
func (n *ourNames) ours(hostport string, local net.Addr) bool {
	host, port := hostport, "80"
	if i := strings.LastIndexByte(hostport, ':'); i > strings.LastIndexByte(hostport, ']') {
		host, port = hostport[:i], hostport[i+1:]
	}
	if port != n.port || host == "" {
		return false
	}
	host = strings.ToLower(host)
	loopback := n.addr.IsLoopback() || n.addr.IsUnspecified()
	if host == "localhost" && loopback || host == n.name {
		return true
	}
	if host[0] == '[' {
		host = strings.TrimSuffix(host[1:], "]")
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	a = a.Unmap()
	if a == n.addr || loopback && a.IsLoopback() {
		return true
	}
	if l, err := netip.ParseAddrPort(fmt.Sprint(local)); err == nil && a == l.Addr().Unmap() {
		return true
	}
	return false
}

// oursOrigin reports whether an Origin header names our listener.
func (n *ourNames) oursOrigin(origin string, local net.Addr) bool {
	host, ok := cutScheme(origin, "http")
	return ok && n.ours(host, local)
}

func cutScheme(u, scheme string) (rest string, ok bool) {
	n := len(scheme) + len("://")
	if len(u) < n || !strings.EqualFold(u[:n], scheme+"://") {
		return "", false
	}
	return u[n:], true
}

// originOf returns the origin of a URL as browsers write it.
func originOf(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return scheme + "://" + host
}
