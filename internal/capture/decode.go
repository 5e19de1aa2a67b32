package capture

import (
	"encoding/base64"
	"fmt"
	"strings"

	"mcpsnoop/internal/jsontree"
)

// LineDecoder reads frames from lines of a log. Lines have no newline; on an error
// the frame is not to be used.
type LineDecoder interface {
	Decode(line []byte, f *Frame) error
}

// Decoder decodes the lines that [AppendFrame] and upstream mcpsnoop write. It
// judges the JSON as it goes, uses its memory again, and is not for several
// goroutines. The zero Decoder is ready to use.
type Decoder struct {
	scan jsontree.Scanner
	tree jsontree.Tree // of members that are objects
	http httpDecoder
	has  has
	text []byte // unescaped or decoded payload

	tap, label, conn, session string // as last read: they seldom change
	words                     words
}

// has notes which members that must or may stand there did.
type has uint8

const (
	hasTap has = 1 << iota
	hasSeq
	hasDirection
	hasTransport
	hasKind
)

// Decode decodes one line. Members it does not know pass, and so do unknown kinds
// (as Other); a member it knows must be what docs/format.md says.
func (d *Decoder) Decode(line []byte, f *Frame) error {
	*f = Frame{Mono: NoMono}
	d.has = 0
	d.http.reset()
	if cap(d.text) > 1<<20 {
		d.text = nil // one huge payload must not be paid for ever after
	}
	for d.scan.Reset(line); d.scan.Next(); {
		if d.scan.Kind() == jsontree.Null && string(d.scan.Name()) != "raw" {
			continue // as good as absent
		}
		if err := d.member(f); err != nil {
			return inside(d.scan.Name(), err)
		}
	}
	if err := d.scan.Err(); err != nil {
		return err
	}
	for i, name := range [...]string{"session_id", "seq", "direction", "transport"} {
		if d.has&(1<<i) == 0 {
			return fmt.Errorf("member %q is missing", name)
		}
	}
	if f.Dir == Meta && d.has&hasKind == 0 {
		f.Kind = Start // upstream's only meta frame
	}
	if f.Form == Raw && f.Flags&Truncated != 0 {
		f.Form = Text // a fragment, whatever it looks like
	}
	d.http.finish(f)
	return nil
}

// member reads the member at which the scanner stands.
func (d *Decoder) member(f *Frame) (err error) {
	switch s := &d.scan; string(s.Name()) {
	case "session_id":
		d.has |= hasTap
		if f.Tap, err = d.string(&d.tap); err == nil && f.Tap == "" {
			err = mustBe("a string that is not empty")
		}
	case "server_label":
		f.Label, err = d.string(&d.label)
	case "seq":
		d.has |= hasSeq
		err = d.integer(&f.Seq)
	case "ts":
		err = d.time(f)
	case "direction":
		d.has |= hasDirection
		f.Dir, err = oneOf[Dir](s, directionWords[:])
	case "transport":
		d.has |= hasTransport
		f.Transport, err = oneOf[Transport](s, transportWords[:])
	case "kind":
		d.has |= hasKind
		if f.Kind, err = oneOf[Kind](s, kindWords[:]); err != nil && s.Kind() == jsontree.String {
			f.Kind, err = Other, nil // of a later version
		}
	case "mono_us":
		var us uint64
		if err = d.integer(&us); err == nil {
			err = micros(int64(min(us, 1<<63-1)), &f.Mono)
		}
	case "conn_id":
		f.Conn, err = d.string(&d.conn)
	case "exchange":
		err = d.integer(&f.Exchange)
	case "mcp_session":
		f.MCPSession, err = d.string(&d.session)
	case "size":
		var n uint64
		if err = d.integer(&n); n > 1<<63-1 {
			err = mustBe("a whole number in range")
		}
		f.Size = int64(n)
	case "eol":
		f.EOL, err = oneOf[EOL](s, eolWords[:])
	case "batch":
		err = d.flag(f, Batch)
	case "truncated":
		err = d.flag(f, Truncated)
	case "redacted":
		err = d.flag(f, Redacted)
	case "sparse":
		err = d.flag(f, Sparse)
	case "raw", "text", "bytes":
		err = d.payload(f)
	case "http":
		d.http.seen = true
		if err = d.index(); err == nil {
			err = members(d.tree.Root(), d.http.member)
		}
	case "mcp_method":
		err = d.header(methodHeader)
	case "mcp_name":
		err = d.header(nameHeader)
	case "mcp_protocol_version":
		err = d.header(versionHeader)
	case "mcp_param_headers":
		if err = d.index(); err == nil {
			err = elements(d.tree.Root(), d.http.paramHeader)
		}
	case "status":
		err = d.status()
	case "auth_challenge":
		err = d.header(challengeHeader)
	}
	return err
}

// oneOf returns the index of the word at which the scanner stands.
func oneOf[T ~uint8](s *jsontree.Scanner, known []string) (T, error) {
	if s.Kind() == jsontree.String {
		word := s.StrBytes()
		for i, w := range known {
			if w != "" && string(word) == w {
				return T(i), nil
			}
		}
	}
	return 0, mustBe("one of " + strings.Join(strings.Fields(strings.Join(known, " ")), ", "))
}

// string returns the string at which the scanner stands; most often it is last again.
func (d *Decoder) string(last *string) (string, error) {
	if d.scan.Kind() != jsontree.String {
		return "", mustBe("a string")
	}
	if b := d.scan.StrBytes(); string(b) != *last {
		*last = d.words.get(b)
	}
	return *last, nil
}

func (d *Decoder) integer(dst *uint64) error {
	if d.scan.Kind() != jsontree.Number {
		return mustBe("a whole number")
	}
	return integer(d.scan.Text(), dst)
}

func (d *Decoder) flag(f *Frame, flag Flags) error {
	switch d.scan.Kind() {
	case jsontree.True:
		f.Flags |= flag
	case jsontree.False:
		f.Flags &^= flag
	default:
		return mustBe("true or false")
	}
	return nil
}

func (d *Decoder) time(f *Frame) error {
	if d.scan.Kind() == jsontree.String && f.Time.UnmarshalText(d.scan.StrBytes()) == nil {
		if f.Time = f.Time.UTC(); f.Time.Year() >= 0 && f.Time.Year() <= 9999 {
			return nil
		}
	}
	return mustBe("a time as RFC 3339 has it")
}

// payload reads raw, text or bytes; if several stand there, the first of these counts.
func (d *Decoder) payload(f *Frame) (err error) {
	s := &d.scan
	name := s.Name()[0]
	switch {
	case name == 'r':
		// Spaces around it belong to it: that is how the peer sent it. Deeper than we
		// would have written it, it is no Raw, but not lost either.
		f.Form, f.Payload = Raw, s.Spaced()
		if jsontree.Deep(f.Payload) {
			f.Form = Text
		}
	case s.Kind() != jsontree.String:
		return mustBe("a string")
	case f.Form == Raw || f.Form == Text && name == 'b':
	case name == 't':
		f.Form = Text
		if !s.Escaped() {
			f.Payload = s.StrBytes()
			break
		}
		d.text = s.AppendStr(d.text[:0])
		f.Payload = d.text
	default:
		f.Form = Bytes
		if d.text, err = base64.StdEncoding.AppendDecode(d.text[:0], s.StrBytes()); err != nil {
			return mustBe("base64")
		}
		f.Payload = d.text
	}
	return nil
}

// words keeps one copy of each short string that came up, so that a log in which
// they repeat costs no memory. It forgets all when there are too many.
type words struct{ known map[string]string }

func (w *words) get(b []byte) string {
	if s, ok := w.known[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(s) > 256 {
		return s
	}
	if w.known == nil || len(w.known) >= 4096 {
		w.known = make(map[string]string)
	}
	w.known[s] = s
	return s
}

// lower returns a header name as frames have it: in lower case.
func (w *words) lower(name []byte) string {
	var buf [64]byte
	lower := append(buf[:0], name...)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c - 'A' + 'a'
		}
	}
	return w.get(lower)
}
