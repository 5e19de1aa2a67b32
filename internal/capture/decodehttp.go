package capture

import (
	"strconv"

	"mcpsnoop/internal/jsontree"
)

// httpDecoder gathers the facts of HTTP of one frame, in memory that it uses again.
// They stand in "http", or in members of upstream's, or in both.
type httpDecoder struct {
	facts             HTTPFacts
	sse               SSEEvent
	request, response map[string]string // from "http"
	upstream          map[string]string // headers in members of their own
	seen              bool              // any of it
	words             words
}

func (d *httpDecoder) reset() {
	if !d.seen {
		return
	}
	d.seen, d.facts, d.sse = false, HTTPFacts{}, SSEEvent{}
	clear(d.request)
	clear(d.response)
	clear(d.upstream)
}

// finish hands the facts over. Where both places name a header, "http" is right: it
// has all lines of it.
func (d *httpDecoder) finish(f *Frame) {
	if !d.seen {
		return
	}
	for name, value := range d.upstream {
		into := &d.request
		if name == challengeHeader {
			into = &d.response
		}
		if _, ok := (*into)[name]; !ok {
			set(into, name, value)
		}
	}
	if len(d.request) > 0 {
		d.facts.Request = d.request
	}
	if len(d.response) > 0 {
		d.facts.Response = d.response
	}
	f.HTTP = &d.facts
}

func set(m *map[string]string, name, value string) {
	if *m == nil {
		*m = make(map[string]string)
	}
	(*m)[name] = value
}

// member reads a member of "http".
func (d *httpDecoder) member(name []byte, v jsontree.Node) error {
	switch string(name) {
	case "verb":
		return d.string(v, &d.facts.Verb)
	case "path":
		return d.string(v, &d.facts.Path)
	case "query":
		return d.string(v, &d.facts.Query)
	case "request_headers":
		return d.headers(v, &d.request)
	case "status":
		if v.Kind() != jsontree.Number {
			return mustBe("an HTTP status")
		}
		return d.status(v.Text())
	case "response_headers":
		return d.headers(v, &d.response)
	case "sse":
		d.facts.SSE = &d.sse
		return members(v, d.sseMember)
	case "closed_by":
		return d.string(v, &d.facts.ClosedBy)
	case "error":
		return d.string(v, &d.facts.Error)
	}
	return nil
}

func (d *httpDecoder) status(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 16)
	if err != nil || n > maxStatus {
		return mustBe("an HTTP status")
	}
	d.seen, d.facts.Status = true, int(n)
	return nil
}

func (d *httpDecoder) sseMember(name []byte, v jsontree.Node) error {
	switch string(name) {
	case "id":
		return d.string(v, &d.sse.ID)
	case "event":
		return d.string(v, &d.sse.Event)
	case "retry":
		return intNode(v, &d.sse.Retry)
	case "data":
		return d.string(v, &d.sse.Data)
	case "comment":
		return d.string(v, &d.sse.Comment)
	case "rewritten":
		return d.string(v, &d.sse.Rewritten)
	}
	return nil
}

// headers reads an object of header names and values.
func (d *httpDecoder) headers(v jsontree.Node, into *map[string]string) error {
	return members(v, func(name []byte, v jsontree.Node) error {
		var value string
		if err := d.string(v, &value); err != nil {
			return err
		}
		set(into, d.words.lower(name), value)
		return nil
	})
}

func (d *httpDecoder) string(v jsontree.Node, dst *string) error {
	b, ok := v.StrBytes()
	if !ok {
		return mustBe("a string")
	}
	*dst = d.words.get(b)
	return nil
}

// paramHeader reads one of "mcp_param_headers".
func (d *httpDecoder) paramHeader(v jsontree.Node) error {
	var name, value string
	if err := members(v, func(member []byte, v jsontree.Node) error {
		switch string(member) {
		case "name":
			b, ok := v.StrBytes()
			if !ok {
				return mustBe("a string")
			}
			name = d.words.lower(b)
			return nil
		case "value":
			return d.string(v, &value)
		}
		return nil
	}); err != nil {
		return err
	}
	if before, ok := d.upstream[name]; ok {
		value = before + ", " + value
	}
	set(&d.upstream, name, value)
	d.seen = true
	return nil
}

// The members beside "http" that upstream has.

func (d *Decoder) header(name string) error {
	if d.scan.Kind() != jsontree.String {
		return mustBe("a string")
	}
	set(&d.http.upstream, name, d.http.words.get(d.scan.StrBytes()))
	d.http.seen = true
	return nil
}

func (d *Decoder) status() error {
	before := d.http.facts.Status
	if d.scan.Kind() != jsontree.Number {
		return mustBe("an HTTP status")
	}
	err := d.http.status(d.scan.Text())
	if before != 0 {
		d.http.facts.Status = before // "http" said it
	}
	return err
}

// index indexes the member at which the scanner stands, which the scanner judged.
func (d *Decoder) index() error { return d.tree.Index(d.scan.Text()) }
