package tap

import (
	"bytes"
	"net/url"
	"strings"

	"mcpsnoop/internal/sse"
)

// endpointEvent is the first event of a stream of HTTP+SSE (2024-11-05). It names
// where the client has to send its messages.
const endpointEvent = "endpoint"

// maxEndpoint is how much of a stream is held back until it is clear whether it
// begins with such an event.
const maxEndpoint = 16 << 10

// endpointFilter passes an event stream on untouched, but for an absolute URL of the
// server's in an endpoint event that it begins with: that is made to name us.
type endpointFilter struct {
	origin   string // of the server
	held     []byte
	released bool // nothing is held back any more
	events   *sse.Decoder
	// found is called once, with the data of such an event.
	found     func(data string) (instead string, ok bool)
	rewritten string // what went on in place of the data
}

func newEndpointFilter(origin string, found func(string) (string, bool)) *endpointFilter {
	return &endpointFilter{origin: origin, events: sse.New(maxEndpoint), found: found}
}

// pass returns what of the stream may go on now that p has come, and whether the
// filter has done its work.
func (f *endpointFilter) pass(p []byte) (out []byte, done bool) {
	if out = p; !f.released {
		f.held = append(f.held, p...)
		out = f.held
	}
	var name, data string
	f.events.Feed(p, func(e *sse.Event) {
		if !done && (len(e.Data) > 0 || e.Name != "") { // a comment or the like may stand before it
			done, name, data = true, e.Name, string(e.Data)
		}
	})
	switch {
	case done && name == endpointEvent:
		if instead, ok := f.found(data); ok && !f.released {
			out = replaceData(f.held, data, instead)
			f.rewritten = instead
		}
	case done, f.released:
	case len(f.held) <= maxEndpoint && !f.other():
		return nil, false
	default: // it goes on, but where it leads is worth knowing
		f.released, f.held = true, nil
	}
	return out, done
}

// other reports whether the event that has begun must be another one: its name says
// so, or what comes before a name is no URL of the server's.
func (f *endpointFilter) other() bool {
	named := false
	for line := range bytes.Lines(f.held) {
		text := strings.TrimRight(string(line), "\r\n")
		ended := len(text) < len(line)
		field, value, ok := strings.Cut(text, ":")
		if !ok {
			continue
		}
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			named = named || value == endpointEvent && ended
			if value != endpointEvent && (ended || !strings.HasPrefix(endpointEvent, value)) {
				return true
			}
		case "data":
			n := min(len(value), len(f.origin))
			if !named && !strings.EqualFold(value[:n], f.origin[:n]) {
				return true
			}
		}
	}
	return false
}

// replaceData puts other data into the first event that has this one, and leaves all
// else as it stands.
func replaceData(stream []byte, data, instead string) []byte {
	for _, field := range []string{"data: ", "data:"} {
		if i := bytes.Index(stream, []byte(field+data)); i >= 0 {
			i += len(field)
			out := append([]byte(nil), stream[:i]...)
			return append(append(out, instead...), stream[i+len(data):]...)
		}
	}
	return stream
}

// endpoint works out where an endpoint event leads. A URL that names the target is
// rewritten to name us, as the client does; what the client will ask for then goes
// where the server meant. A URL of another origin stays: no client may follow it.
func (p *proxy) endpoint(data, clientHost, clientPath, serverPath string) (instead string, rewrite bool, done func()) {
	done = func() {}
	scheme, rest, absolute := strings.Cut(data, "://")
	if absolute && !strings.ContainsAny(scheme, "/?#") {
		host, path := rest, ""
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			host, path = rest[:i], rest[i:]
		}
		u := url.URL{Scheme: scheme, Host: host[strings.LastIndexByte(host, '@')+1:]}
		switch {
		case originOf(&u) == p.targetOrigin:
			done = p.routes.announce(pathOf(path), pathOf(path))
			return "http://" + clientHost + path, true, done
		case strings.EqualFold(scheme, "http") && p.names.ours(u.Host, nil):
			done = p.routes.announce(pathOf(path), pathOf(path))
		}
		return "", false, done
	}
	ref, err := url.Parse(data)
	if err != nil || ref.Host != "" {
		return "", false, done
	}
	if strings.HasPrefix(data, "/") { // byte for byte
		return "", false, p.routes.announce(pathOf(data), pathOf(data))
	}
	resolve := func(base string) string {
		b, err := url.Parse(base)
		if err != nil {
			return ""
		}
		return b.ResolveReference(ref).EscapedPath()
	}
	if from, to := resolve(clientPath), resolve(serverPath); from != "" && to != "" {
		done = p.routes.announce(from, to)
	}
	return "", false, done
}

// pathOf returns the path of a URL without its origin.
func pathOf(u string) string {
	if i := strings.IndexAny(u, "?#"); i >= 0 {
		u = u[:i]
	}
	if u == "" {
		return "/"
	}
	return u
}
