package capture

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"mcpsnoop/internal/jsontree"
)

// Classify says in which form the payload of a frame is written: Raw if it is one
// JSON value that may stand verbatim in a log, else Text if it is valid UTF-8, else
// Bytes. Never Raw are truncated copies, even where the rest happens to be a JSON
// value, and lines of standard error, where upstream's reader looks for text.
func Classify(f *Frame) Form {
	switch {
	case f.Flags&Truncated == 0 && f.Dir != Stderr && jsontree.Check(f.Payload) == nil:
		return Raw
	case utf8.Valid(f.Payload):
		return Text
	}
	return Bytes
}

// AppendFrame appends the frame as one line of a log, newline included.
//
// A payload of form Unjudged is classified here; one of form Raw must have been. Raw
// is written verbatim but for newlines between its tokens, which become spaces: a
// log line is one line. In every other string, what is no UTF-8 becomes U+FFFD.
func AppendFrame(dst []byte, f *Frame) []byte {
	dst = appendString(append(dst, `{"session_id":`...), f.Tap)
	dst = appendString(append(dst, `,"server_label":`...), f.Label)
	dst = strconv.AppendUint(append(dst, `,"seq":`...), f.Seq, 10)
	dst = append(appendTime(append(dst, `,"ts":"`...), f.Time), '"')
	dst = appendWord(dst, `,"direction":"`, f.Dir.String())
	dst = appendWord(dst, `,"transport":"`, f.Transport.String())
	dst = appendWord(dst, `,"kind":"`, f.Kind.String())
	if f.Mono >= 0 {
		dst = strconv.AppendInt(append(dst, `,"mono_us":`...), f.Mono.Microseconds(), 10)
	}
	if f.Conn != "" {
		dst = appendString(append(dst, `,"conn_id":`...), f.Conn)
	}
	if f.Exchange != 0 {
		dst = strconv.AppendUint(append(dst, `,"exchange":`...), f.Exchange, 10)
	}
	if f.MCPSession != "" {
		dst = appendString(append(dst, `,"mcp_session":`...), f.MCPSession)
	}
	if f.Size > 0 {
		dst = strconv.AppendInt(append(dst, `,"size":`...), f.Size, 10)
	}
	dst = appendWord(dst, `,"eol":"`, word(eolWords[:], f.EOL))
	if f.Flags != 0 {
		dst = appendFlags(dst, f.Flags)
	}
	if f.HTTP != nil {
		dst = appendUpstreamHTTP(dst, f)
		dst = appendHTTP(dst, f.HTTP)
	}
	return append(appendPayload(dst, f), '}', '\n')
}

// appendWord writes a member with a word that needs no escapes, nothing without one.
func appendWord(dst []byte, member, word string) []byte {
	if word == "" {
		return dst
	}
	return append(append(append(dst, member...), word...), '"')
}

func appendFlags(dst []byte, flags Flags) []byte {
	if flags&Batch != 0 {
		dst = append(dst, `,"batch":true`...)
	}
	if flags&Truncated != 0 {
		dst = append(dst, `,"truncated":true`...)
	}
	if flags&Redacted != 0 {
		dst = append(dst, `,"redacted":true`...)
	}
	if flags&Sparse != 0 {
		dst = append(dst, `,"sparse":true`...)
	}
	return dst
}

// appendTime writes RFC 3339 with nanoseconds, in UTC. Years beyond the format
// become the zero time.
func appendTime(dst []byte, t time.Time) []byte {
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		t = time.Time{}
	}
	return t.AppendFormat(dst, time.RFC3339Nano)
}

func appendPayload(dst []byte, f *Frame) []byte {
	form := f.Form
	if form == Unjudged || form == Raw && f.Flags&Truncated != 0 {
		form = Classify(f)
	}
	switch form {
	case Raw:
		dst = append(dst, `,"raw":`...)
		at := len(dst)
		dst = append(dst, f.Payload...)
		for raw := dst[at:]; ; {
			i := bytes.IndexByte(raw, '\n')
			if i < 0 {
				return dst
			}
			raw[i] = ' '
			raw = raw[i+1:]
		}
	case Text:
		return appendText(append(dst, `,"text":`...), f.Payload)
	case Bytes:
		dst = append(dst, `,"bytes":"`...)
		return append(base64.StdEncoding.AppendEncode(dst, f.Payload), '"')
	}
	return dst
}

// appendUpstreamHTTP writes the members in which upstream's reader looks for facts
// of HTTP; all of them stand in "http" too.
func appendUpstreamHTTP(dst []byte, f *Frame) []byte {
	h := f.HTTP
	switch f.Dir {
	case C2S:
		if len(h.Request) == 0 {
			return dst
		}
		for _, m := range upstreamHeaders {
			if value, ok := h.Request[m.header]; ok {
				dst = appendString(append(dst, m.member...), value)
			}
		}
		return appendParamHeaders(dst, h.Request, f.Flags&Redacted != 0)
	case S2C:
		dst = appendStatus(dst, h.Status)
		if challenge, ok := h.Response[challengeHeader]; ok {
			dst = appendString(append(dst, `,"auth_challenge":`...), challenge)
		}
	}
	return dst
}

const (
	methodHeader    = "mcp-method"
	nameHeader      = "mcp-name"
	versionHeader   = "mcp-protocol-version"
	paramHeaders    = "mcp-param-" // and what follows
	challengeHeader = "www-authenticate"
)

var upstreamHeaders = [...]struct{ header, member string }{
	{methodHeader, `,"mcp_method":`}, {nameHeader, `,"mcp_name":`}, {versionHeader, `,"mcp_protocol_version":`},
}

// appendParamHeaders writes the Mcp-Param-* headers as upstream does: spelled as
// Go's canonical header names, in order of name.
func appendParamHeaders(dst []byte, headers map[string]string, redacted bool) []byte {
	var few [32]string
	names := few[:0]
	for name := range headers {
		if len(name) > len(paramHeaders) && name[:len(paramHeaders)] == paramHeaders {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return dst
	}
	slices.Sort(names)
	dst = append(dst, `,"mcp_param_headers":[`...)
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"name":`...)
		at := len(dst) + 1
		dst = appendString(dst, name)
		canonical(dst[at : len(dst)-1])
		dst = appendString(append(dst, `,"value":`...), headers[name])
		if redacted && bytes.Contains(dst[at:], []byte(Redaction)) {
			dst = append(dst, `,"redacted":true`...)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// canonical capitalises each word of a header name.
func canonical(name []byte) {
	start := true
	for i, c := range name {
		if start && 'a' <= c && c <= 'z' {
			name[i] = c - 'a' + 'A'
		}
		start = c == '-'
	}
}

// appendHTTP writes the member "http". Its members are written with a comma before
// each, of which the first is taken away.
func appendHTTP(dst []byte, h *HTTPFacts) []byte {
	dst = append(dst, `,"http":{`...)
	at := len(dst)
	dst = appendNonEmpty(dst, `,"verb":`, h.Verb)
	dst = appendNonEmpty(dst, `,"path":`, h.Path)
	dst = appendNonEmpty(dst, `,"query":`, h.Query)
	dst = appendHeaders(dst, `,"request_headers":{`, h.Request)
	dst = appendStatus(dst, h.Status)
	dst = appendHeaders(dst, `,"response_headers":{`, h.Response)
	if e := h.SSE; e != nil {
		dst = append(dst, `,"sse":{`...)
		at := len(dst)
		dst = appendNonEmpty(dst, `,"id":`, e.ID)
		dst = appendNonEmpty(dst, `,"event":`, e.Event)
		if e.Retry != 0 {
			dst = strconv.AppendInt(append(dst, `,"retry":`...), e.Retry, 10)
		}
		dst = appendNonEmpty(dst, `,"data":`, e.Data)
		dst = appendNonEmpty(dst, `,"comment":`, e.Comment)
		dst = append(dropComma(appendNonEmpty(dst, `,"rewritten":`, e.Rewritten), at), '}')
	}
	dst = appendNonEmpty(dst, `,"closed_by":`, h.ClosedBy)
	dst = appendNonEmpty(dst, `,"error":`, h.Error)
	return append(dropComma(dst, at), '}')
}

// maxStatus is the greatest number that can be an HTTP status.
const maxStatus = 999

func appendStatus(dst []byte, status int) []byte {
	if status <= 0 || status > maxStatus {
		return dst
	}
	return strconv.AppendInt(append(dst, `,"status":`...), int64(status), 10)
}

func dropComma(dst []byte, at int) []byte {
	if len(dst) == at {
		return dst
	}
	return slices.Delete(dst, at, at+1)
}

func appendNonEmpty(dst []byte, member, value string) []byte {
	if value == "" {
		return dst
	}
	return appendString(append(dst, member...), value)
}

// appendHeaders writes headers in order of name.
func appendHeaders(dst []byte, member string, headers map[string]string) []byte {
	if len(headers) == 0 {
		return dst
	}
	var few [32]string
	names := few[:0]
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	dst = append(dst, member...)
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, name), ':')
		dst = appendString(dst, headers[name])
	}
	return append(dst, '}')
}

// appendString writes a JSON string. It escapes no more than it must.
func appendString(dst []byte, s string) []byte { return appendText(dst, []byte(s)) } // does not copy

func appendText(dst, s []byte) []byte {
	dst = append(dst, '"')
	run, judged := 0, false // start of what can be copied as it is
	for i := 0; i < len(s); i++ {
		c := s[i]
		if plain[c] {
			continue
		}
		if c >= utf8.RuneSelf {
			if !judged && !utf8.Valid(s[i:]) {
				s = bytes.ToValidUTF8(s, []byte("\uFFFD")) // same up to i
			}
			judged = true
			continue
		}
		dst = append(append(dst, s[run:i]...), escapes[c]...)
		run = i + 1
	}
	return append(append(dst, s[run:]...), '"')
}

// plain are the ASCII characters that stand for themselves, escapes what the others
// are written as.
var (
	plain   [256]bool
	escapes [utf8.RuneSelf]string
)

func init() {
	for c := range utf8.RuneSelf {
		plain[c] = c >= ' ' && c != '"' && c != '\\'
		escapes[c] = `\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15])
	}
	for i, c := range "\n\r\t\b\f\"\\" {
		escapes[c] = `\` + `nrtbf"\`[i:i+1]
	}
}
