// Package foreign reads what others recorded, as frames: lines of upstream mcpsnoop,
// which are those of package capture, and trace events of mcp-conformance.
//
// Which of them a line is shows in the line itself, so that logs may be joined with cat.
package foreign

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
	"strings"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
)

// Decoder decodes lines of logs and of traces. It is not for several goroutines.
type Decoder struct {
	log   capture.Decoder
	stem  string
	scan  jsontree.Scanner
	tree  jsontree.Tree
	facts capture.HTTPFacts
}

// NewDecoder returns a decoder for a file of that name. A trace does not say which
// session it holds: its frames get the name of the file, without folder and extension.
func NewDecoder(name string) capture.LineDecoder {
	stem := path.Base(strings.ReplaceAll(name, `\`, "/"))
	for ext := path.Ext(stem); ext != "" && ext != stem; ext = path.Ext(stem) {
		stem = strings.TrimSuffix(stem, ext)
	}
	if stem == "" || stem == "." || stem == "-" || stem == "/" {
		stem = "trace"
	}
	return &Decoder{stem: stem}
}

// ourStart is how lines of logs begin, ours and upstream's.
var ourStart = []byte(`{"session_id"`)

// Decode decodes one line.
func (d *Decoder) Decode(line []byte, f *capture.Frame) error {
	if bytes.HasPrefix(line, ourStart) {
		return d.log.Decode(line, f)
	}
	ours, err := d.trace(line, f)
	if ours {
		return d.log.Decode(line, f)
	}
	return err
}

// event is what a line of a trace says, as far as it was read.
type event struct {
	fields    fields
	kind      string
	lifecycle string
	payload   []byte
	status    int
	headers   map[string]string
}

// fields is a set of members.
type fields uint8

const (
	hasSeq fields = 1 << iota
	hasDirection
	hasTransport
	hasKind
	hasPayload
	hasStatus
)

// trace decodes an event of a trace, unless the line turns out to be one of a log.
func (d *Decoder) trace(line []byte, f *capture.Frame) (isLog bool, err error) {
	*f = capture.Frame{Tap: d.stem, Label: d.stem, Mono: capture.NoMono, Flags: capture.Sparse}
	d.facts = capture.HTTPFacts{}
	var e event
	for d.scan.Reset(line); d.scan.Next(); {
		if string(d.scan.Name()) == "session_id" {
			return true, nil
		}
		if err == nil && (d.scan.Kind() != jsontree.Null || string(d.scan.Name()) == "payload") {
			err = d.member(&e, f) // of a trace, if this is one
		}
	}
	if d.scan.Err() != nil {
		return false, d.scan.Err()
	}
	if err != nil {
		return false, err
	}
	for i, name := range [...]string{"seq", "direction", "transport", "kind"} {
		if e.fields&(1<<i) == 0 {
			return false, fmt.Errorf(`neither a frame of a log, which has "session_id", nor an event of a trace: %q is missing`, name)
		}
	}
	return false, d.finish(&e, f)
}

// member reads the member at which the scanner stands.
func (d *Decoder) member(e *event, f *capture.Frame) (err error) {
	s := &d.scan
	switch string(s.Name()) {
	case "seq":
		e.fields |= hasSeq
		f.Seq, err = strconv.ParseUint(string(s.Text()), 10, 64)
	case "direction":
		e.fields |= hasDirection
		switch d.word() {
		case "client-to-server":
			f.Dir = capture.C2S
		case "server-to-client":
			f.Dir = capture.S2C
		default:
			err = strconv.ErrSyntax
		}
	case "transport":
		e.fields |= hasTransport
		switch d.word() {
		case "stdio":
			f.Transport = capture.Stdio
		case "streamable-http":
			f.Transport = capture.HTTP
		default:
			err = strconv.ErrSyntax
		}
	case "kind":
		e.fields |= hasKind
		e.kind = d.word()
	case "ts":
		if err = f.Time.UnmarshalText([]byte(d.word())); err == nil {
			f.Time = f.Time.UTC()
		}
	case "payload":
		e.fields |= hasPayload
		e.payload = s.Text()
	case "status":
		e.fields |= hasStatus
		var n uint64
		n, err = strconv.ParseUint(string(s.Text()), 10, 16)
		e.status = int(n)
	case "headers":
		e.headers, err = d.headers()
	case "method":
		d.facts.Verb = strings.ToUpper(d.word())
	case "event":
		e.lifecycle = d.word()
	}
	if err != nil {
		err = fmt.Errorf("member %q is not what a trace has there: %.60s", s.Name(), s.Text())
	}
	return err
}

// finish makes a frame of an event.
func (d *Decoder) finish(e *event, f *capture.Frame) error {
	switch e.kind {
	case "message":
		if e.fields&hasPayload == 0 {
			return fmt.Errorf("member %q is missing", "payload")
		}
		f.Form, f.Payload = capture.Raw, e.payload
		if jsontree.Deep(e.payload) {
			f.Form = capture.Text
		}
	case "http":
		f.Kind, f.HTTP = capture.HTTPHead, &d.facts
		if d.facts.Request = e.headers; e.fields&hasStatus != 0 || f.Dir == capture.S2C {
			d.facts.Status, d.facts.Request, d.facts.Response = e.status, nil, e.headers
		}
	case "lifecycle":
		f.Kind, f.HTTP = capture.Close, &d.facts
		switch e.lifecycle {
		case "transport-open":
			f.Kind, f.HTTP = capture.Open, nil
		case "transport-close":
			d.facts.ClosedBy = "client"
			if f.Dir == capture.S2C {
				d.facts.ClosedBy = "server"
			}
		case "transport-abort":
			d.facts.ClosedBy = "upstream"
		default:
			return fmt.Errorf("member %q is not what a trace has there: %q", "event", e.lifecycle)
		}
	default:
		f.Kind = capture.Other
	}
	return nil
}

// headers reads the headers at which the scanner stands. Names that differ in case
// alone are one: the last counts, as for the traces' own reader.
func (d *Decoder) headers() (map[string]string, error) {
	if err := d.tree.Index(d.scan.Text()); err != nil {
		return nil, err
	}
	root := d.tree.Root()
	if root.Kind() != jsontree.Object {
		return nil, strconv.ErrSyntax
	}
	headers := make(map[string]string, root.Len())
	for name, value := range root.Members() {
		text, ok := value.Str()
		if !ok {
			return nil, strconv.ErrSyntax
		}
		headers[strings.ToLower(name.String())] = text
	}
	return headers, nil
}

// word returns the string at which the scanner stands, "" for any other value.
func (d *Decoder) word() string {
	if d.scan.Kind() != jsontree.String {
		return ""
	}
	return string(d.scan.StrBytes())
}
