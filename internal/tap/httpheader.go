package tap

import (
	"net/http"
	"net/textproto"
	"strings"

	"mcpsnoop/internal/capture"
)

// hopByHop are the headers that are of one connection, not of the message. Those
// that Connection names are too.
var hopByHop = map[string]bool{
	"Connection": true, "Proxy-Connection": true, "Keep-Alive": true, "Te": true,
	"Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// copyHeader adds to dst what of src belongs to the message. Values are shared.
func copyHeader(dst, src http.Header) {
	named := connectionNames(src)
	for name, values := range src {
		if hopByHop[name] || named != nil && named[name] {
			continue
		}
		dst[name] = values
	}
}

// connectionNames returns the headers that Connection names, nil if there are none.
func connectionNames(h http.Header) (named map[string]bool) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			name = textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name))
			if name == "" || name == "Close" || name == "Keep-Alive" {
				continue
			}
			if named == nil {
				named = make(map[string]bool)
			}
			named[name] = true
		}
	}
	return named
}

// recorded are the headers that are written down, by their canonical names.
var recorded = map[string]string{
	"Origin": "origin", "Accept": "accept", "Accept-Encoding": "accept-encoding",
	"Content-Type": "content-type", "Content-Encoding": "content-encoding", "Content-Length": "content-length",
	"User-Agent": "user-agent", "Mcp-Session-Id": "mcp-session-id", "Mcp-Protocol-Version": "mcp-protocol-version",
	"Last-Event-Id": "last-event-id", "Mcp-Method": "mcp-method", "Mcp-Name": "mcp-name",
	"X-Accel-Buffering": "x-accel-buffering", "Www-Authenticate": "www-authenticate",
	"Traceparent": "traceparent", "Tracestate": "tracestate", "Allow": "allow", "Location": "location",
	"Retry-After": "retry-after", "Cache-Control": "cache-control", "Authorization": "authorization",
}

const paramHeader = "Mcp-Param-" // and what follows

const sessionHeader = "Mcp-Session-Id"

// headerFacts returns what is written down of headers, nil if it is nothing. Of
// credentials it is only that they were there.
func headerFacts(h http.Header, host string) map[string]string {
	var facts map[string]string
	add := func(name, value string) {
		if facts == nil {
			facts = make(map[string]string, 8)
		}
		facts[name] = value
	}
	if host != "" {
		add("host", host)
	}
	for name, values := range h {
		short, ok := recorded[name]
		switch {
		case ok:
		case strings.HasPrefix(name, paramHeader) && len(name) > len(paramHeader):
			short = strings.ToLower(name)
		default:
			continue
		}
		switch value := strings.Join(values, ", "); short {
		case "authorization":
			add(short, capture.Redaction)
		case "location":
			add(short, withoutCredentials(value))
		default:
			add(short, value)
		}
	}
	return facts
}

// headerSize is about how much memory headers take.
func headerSize(h http.Header) (n int64) {
	for name, values := range h {
		n += int64(len(name)) + 48
		for _, v := range values {
			n += int64(len(v)) + 16
		}
	}
	return n
}

// withoutCredentials returns a URL without its userinfo and without what its query
// and fragment tell of credentials.
func withoutCredentials(u string) string {
	head, tail := u, ""
	if i := strings.IndexAny(u, "?#"); i >= 0 {
		head, tail = u[:i+1], u[i+1:]
	}
	if at := strings.Index(head, "//"); at >= 0 {
		end := strings.IndexByte(head[at+2:], '/')
		if end < 0 {
			end = len(head) - at - 2
		}
		if i := strings.LastIndexByte(head[at+2:at+2+end], '@'); i >= 0 {
			head = head[:at+2] + head[at+2+i+1:]
		}
	}
	return head + queryWithoutCredentials(tail)
}

// queryWithoutCredentials replaces the values of parameters that look like
// credentials, and leaves all else byte for byte.
func queryWithoutCredentials(query string) string {
	if query == "" {
		return ""
	}
	var b strings.Builder
	kept := 0 // up to where the query is in b
	for at := 0; at < len(query); {
		end := strings.IndexAny(query[at:], "&;#")
		if end < 0 {
			end = len(query) - at
		}
		name, value, ok := strings.Cut(query[at:at+end], "=")
		if ok && value != "" && isCredential(name) {
			b.WriteString(query[kept : at+len(name)+1])
			b.WriteString(capture.Redaction)
			kept = at + end
		}
		at += end + 1
	}
	if kept == 0 {
		return query
	}
	b.WriteString(query[kept:])
	return b.String()
}

var (
	credentialParts = []string{"token", "secret", "password", "passwd", "passphrase", "apikey", "credential", "signature", "assertion", "jwt", "bearer", "accesskey", "privatekey", "authkey"}
	credentialNames = map[string]bool{
		"auth": true, "authorization": true, "key": true, "sig": true, "pwd": true, "pass": true, "code": true, "codeverifier": true, "cookie": true, "sas": true, "hmac": true,
	}
)

// isCredential reports whether a parameter of that name holds one. Better one value
// too many is missing from a log than one too few.
func isCredential(name string) bool {
	plain := make([]byte, 0, 32)
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == '%' && i+2 < len(name) { // a name may be spelled with escapes
			if hi, lo := unhex(name[i+1]), unhex(name[i+2]); hi < 16 && lo < 16 {
				c = hi<<4 | lo
				i += 2
			}
		}
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		default:
			continue
		}
		plain = append(plain, c)
	}
	if credentialNames[string(plain)] {
		return true
	}
	for _, part := range credentialParts {
		if strings.Contains(string(plain), part) {
			return true
		}
	}
	return false
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 16
}

// hasToken reports whether a header lists a word, whatever its case.
func hasToken(values []string, token string) bool {
	for _, line := range values {
		for word := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(textproto.TrimString(word), token) {
				return true
			}
		}
	}
	return false
}

// isEventStream reports whether a response is one.
func isEventStream(h http.Header) bool {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.EqualFold(textproto.TrimString(kind), "text/event-stream")
}
