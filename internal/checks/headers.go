package checks

import (
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// mirrored is one header of a POST beside what it repeats.
type mirrored struct {
	name  string // of the header, as people spell it
	key   string // as captures do
	value string
	param bool
	how   fit
	plain bool   // the body's value cannot be a header as it is, and is one
	body  string // its value, cut; "" where they are alike
}

// there reports whether the header is.
func (m *mirrored) there() bool { return m.how < fitAbsent }

// wrong reports whether it is there and is not what the body says.
func (m *mirrored) wrong() bool { return m.how == fitMisspelt || m.how == fitDiffers }

// posted is what is known of the headers of the request that is being judged.
type posted struct {
	post    *judge.Post // nil if there is nothing to compare
	mirrors []mirrored
}

// owed is what a server has to refuse of a request, or may not refuse; kept until it
// answers.
type owed struct {
	missing []string // headers that are not there
	wrong   []string // what is not what the body says, in words
	unfit   []string // headers that hold what no header can
	// All is there and alike, if only
	decoded bool // once decoded
	number  bool // by number
}

var owes judge.Slot[*owed]

// postedHeaders compares the headers of each request of the newest revisions with its
// body, once for all checks.
var postedHeaders = &judge.Tracker{
	New:    func() any { return new(posted) },
	Before: true,
	On: []judge.On{{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
		p := judge.State[*posted](e)
		p.post, p.mirrors = nil, p.mirrors[:0]
		if e.Post == nil || string(e.Msg.ID) == "null" || !ownsRevision(e, e.Request) {
			return
		}
		p.post = e.Post
		p.compare(e)
		if o := p.owed(e); o != nil {
			owes.Put(e.Request, o)
		}
	}}},
}

// ownsRevision reports whether a request is itself evidence of a revision whose requests
// carry their version, which says what its headers must be.
func ownsRevision(e *judge.Event, r *judge.Req) bool {
	if !mcp.PerRequest(r.Revision) {
		return false
	}
	if e.Pinned() {
		return true
	}
	if r.Post != nil && mcp.PerRequest(mcp.ParseRevision(r.Post.Header[mcp.VersionHeader])) {
		return true
	}
	named := mcp.ParseRevision(r.Version)
	return r.Versions && (named == mcp.NoRevision || mcp.PerRequest(named))
}

// nameSource returns what Mcp-Name repeats.
func nameSource(e *judge.Event) jsontree.Node {
	switch e.Method {
	case "tools/call", "prompts/get":
		return e.Msg.Params.Get("name")
	case "resources/read":
		return e.Msg.Params.Get("uri")
	}
	return jsontree.Node{}
}

func (p *posted) compare(e *judge.Event) {
	p.text(mirrored{name: "Mcp-Method", key: mcp.MethodHeader}, []byte(e.Method))
	if name, ok := nameSource(e).StrBytes(); ok {
		p.text(mirrored{name: "Mcp-Name", key: mcp.NameHeader}, name)
	}
	if e.Method != "tools/call" {
		return
	}
	tool := designatedFor(e)
	if tool == nil {
		return
	}
	args := e.Msg.Params.Get("arguments")
	for i := range tool.params {
		param := &tool.params[i]
		p.argument(mirrored{name: param.name, key: param.key, param: true}, args.Path(param.path...))
	}
}

// text compares a header with text.
func (p *posted) text(m mirrored, body []byte) {
	if !p.find(&m) {
		return
	}
	if m.there() {
		m.how = fits(m.value, body)
		if _, encoded := sentinel(m.value); !encoded && m.how != fitMisspelt {
			m.plain = !headerSafe(string(body))
		}
	}
	if m.wrong() {
		m.body = string(body[:min(len(body), maxQuoted+1)])
	}
	p.mirrors = append(p.mirrors, m)
}

// find looks for the header; false means that nothing can be said of it.
func (p *posted) find(m *mirrored) bool {
	var ok bool
	if m.value, ok = p.post.Head(m.key); !ok {
		m.how = fitAbsent
		return p.post.Complete
	}
	return m.value != capture.Redaction
}

// argument compares a header with an argument that a tool wants repeated.
func (p *posted) argument(m mirrored, arg jsontree.Node) {
	switch arg.Kind() {
	case jsontree.String:
		body, _ := arg.StrBytes()
		p.text(m, body)
		return
	case jsontree.True, jsontree.False:
		p.text(m, arg.Text())
		return
	case jsontree.Number:
		if n, ok := arg.Int(); ok && p.find(&m) {
			if m.there() {
				m.how = fitsNumber(m.value, n)
			}
			if m.wrong() {
				m.body = strconv.FormatInt(n, 10)
			}
			p.mirrors = append(p.mirrors, m)
		}
		return
	case jsontree.Object, jsontree.Array:
		return // which no header can repeat
	}
	if p.find(&m) {
		if m.there() {
			m.how = fitNeedless
		} else {
			m.how = fitNone
		}
		p.mirrors = append(p.mirrors, m)
	}
}

// of returns the comparison of a header, nil if there is none.
func (p *posted) of(key string) *mirrored {
	for i := range p.mirrors {
		if p.mirrors[i].key == key && p.mirrors[i].there() {
			return &p.mirrors[i]
		}
	}
	return nil
}

// owed says what the answer depends on; nil is the usual case.
func (p *posted) owed(e *judge.Event) *owed {
	if !slices.ContainsFunc(p.mirrors, mirrored.matters) {
		return nil
	}
	o := new(owed)
	odd := 0 // headers for which one may refuse it
	for i := range p.mirrors {
		m := &p.mirrors[i]
		switch {
		case m.how == fitAbsent:
			o.missing = append(o.missing, m.name)
		case m.wrong():
			o.wrong = append(o.wrong, m.difference())
		case m.how == fitNeedless, m.how == fitRaw, m.plain:
			odd++
		}
		if m.param && (m.there() || m.how == fitNeedless) && unfitValue(m.value) {
			o.unfit = append(o.unfit, m.name)
		}
		o.decoded = o.decoded || m.how == fitDecoded
		o.number = o.number || m.how == fitNumber
	}
	if o.missing != nil || o.wrong != nil || o.unfit != nil {
		o.decoded, o.number = false, false
		return o
	}
	if !o.decoded && !o.number || odd > 0 || !p.post.Complete || p.post.Header[mcp.VersionHeader] != e.Request.Version || p.more(e) {
		return nil
	}
	return o
}

// more reports whether a server may know of headers that were not compared.
func (p *posted) more(e *judge.Event) bool {
	if e.Method == "tools/call" && designatedFor(e) == nil {
		return true
	}
	for key := range p.post.Header {
		if strings.HasPrefix(key, mcp.ParamHeaders) && p.of(key) == nil {
			return true
		}
	}
	return false
}

// unfitValue reports whether a value is neither encoded nor what a header can hold.
func unfitValue(value string) bool {
	_, encoded := sentinel(value)
	return !encoded && !headerSafe(value)
}

func (m mirrored) matters() bool { return m.how != fitAsIs && m.how != fitNone || m.plain }

// difference says how the header and the body differ.
func (m *mirrored) difference() string {
	text := m.name + " " + quote(m.value) + " is not the body's " + quote(m.body)
	if strings.EqualFold(m.value, m.body) {
		text += ": values keep their case"
	}
	return text
}

// headerName spells a header as people do.
func headerName(key string) string { return textproto.CanonicalMIMEHeaderKey(key) }
