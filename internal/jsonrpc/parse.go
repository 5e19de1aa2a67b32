package jsonrpc

import (
	"iter"

	"mcpsnoop/internal/jsontree"
)

// MaxBatch is how many elements of a batch become messages of their own. One more
// stands for all the rest, see [Parser.Rest]: a frame of many million elements is an attack.
const MaxBatch = 1 << 14

// Bounds of the memory that a Parser keeps, whatever it is fed.
const (
	maxMethods   = 256 // method names that are remembered
	maxMethodLen = 128
	keepMessages = 64 // of a batch
)

// Parser parses messages into memory that it uses again. The zero Parser is ready
// to use.
type Parser struct {
	tree     jsontree.Tree
	messages []Message
	methods  map[string]string
}

// Parse reads a text that [jsontree.Check] has accepted; it must not be called with
// any other. An array is a batch and gives a message for each element, an empty
// one a single message with [EmptyBatch]; whether there are batches is for the
// revision to say. Any other value gives one message.
//
// The messages hold until the next Parse.
func (p *Parser) Parse(raw []byte) []Message {
	if cap(p.messages) > keepMessages {
		p.messages = nil
	}
	p.messages = p.messages[:0]
	if err := p.tree.Index(raw); err != nil {
		return append(p.messages, Message{Element: -1}) // 2 GiB: no frame is that large
	}
	root := p.tree.Root()
	if root.Kind() != jsontree.Array {
		p.read(root, -1, 0)
		return p.messages
	}
	count := 0
	for element := range root.Elements() {
		if count == MaxBatch {
			p.messages = append(p.messages, Message{Root: root, Element: count, Defects: InBatch | RestOfBatch})
			return p.messages
		}
		p.read(element, count, InBatch)
		count++
	}
	if count == 0 {
		p.messages = append(p.messages, Message{Root: root, Element: -1, Defects: EmptyBatch})
	}
	return p.messages
}

// Rest yields the elements of a batch beyond the first [MaxBatch], one at a time: each
// holds until the next. There are none unless the last Parse gave a message with
// [RestOfBatch].
func (p *Parser) Rest() iter.Seq[*Message] {
	return func(yield func(*Message) bool) {
		n := len(p.messages)
		if n == 0 || !p.messages[n-1].Defects.Has(RestOfBatch) {
			return
		}
		count := 0
		for element := range p.messages[n-1].Root.Elements() {
			if count++; count <= MaxBatch {
				continue
			}
			p.read(element, count-1, InBatch)
			more := yield(&p.messages[n])
			p.messages = p.messages[:n]
			if !more {
				return
			}
		}
	}
}

// read appends the message that root is.
func (p *Parser) read(root jsontree.Node, element int, defects Defects) {
	p.messages = append(p.messages, Message{Root: root, Element: element, Defects: defects})
	m := &p.messages[len(p.messages)-1]
	if root.Kind() != jsontree.Object {
		m.Defects |= NotObject
		return
	}
	var version, id, method jsontree.Node
	for name, value := range root.Members() {
		switch string(name.Bytes()) {
		case "jsonrpc":
			version = value
		case "id":
			id = value
		case "method":
			method = value
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			m.Error = value
		}
	}
	if _, twice := root.AnyRepeated(); twice {
		m.Defects |= DuplicateKeys
	}
	if !isVersion2(version) {
		m.Defects |= BadVersion
	}
	if id.Exists() {
		m.ID = id.Text()
		m.Defects |= idDefects(id)
	}
	if text, ok := method.StrBytes(); ok {
		m.Method = p.intern(text)
	}
	m.Defects |= m.memberDefects(method)
	m.Kind = m.kind(version, method)
	if id.Exists() && !method.Exists() && !m.Result.Exists() && !says(m.Error) {
		m.Defects |= NoOutcome
	}
}

// kind decides what an object is, as the package documentation says.
func (m *Message) kind(version, method jsontree.Node) Kind {
	switch {
	case method.Kind() == jsontree.String && m.ID != nil:
		return Request
	case method.Kind() == jsontree.String:
		return Notification
	case m.Result.Exists(), m.Error.Kind() == jsontree.Object:
		return Response
	case says(m.Error) && (m.ID != nil || !m.Defects.Has(BadVersion)):
		return Response
	case says(method), says(m.Error):
		return Invalid
	case version.Exists(), m.ID != nil:
		return Odd
	}
	return Invalid
}

// says reports whether a member is there and not null.
func says(n jsontree.Node) bool { return n.Exists() && n.Kind() != jsontree.Null }

// memberDefects judges all members but jsonrpc and id.
func (m *Message) memberDefects(method jsontree.Node) (d Defects) {
	switch m.Params.Kind() {
	case jsontree.None, jsontree.Object:
	case jsontree.Array:
		d |= ArrayParams
	default:
		d |= BadParams
	}
	named := method.Kind() == jsontree.String
	switch {
	case named:
		if says(m.Result) || says(m.Error) {
			d |= Mixed
		}
	case method.Kind() == jsontree.Null && (m.Result.Exists() || says(m.Error)):
		d |= NullTwin
	case method.Exists():
		d |= BadMethod
	}
	if m.Result.Kind() == jsontree.Null && (named || says(m.Error)) {
		d |= NullTwin
	}
	switch {
	case says(m.Error):
		if says(m.Result) {
			d |= BothResults
		}
		d |= errorDefects(m.Error)
	case m.Error.Exists() && (named || m.Result.Exists()):
		d |= NullTwin
	case m.Error.Exists():
		d |= BadError
	}
	return d
}

func errorDefects(e jsontree.Node) (d Defects) {
	code := e.Get("code")
	if !code.Exists() || e.Get("message").Kind() != jsontree.String {
		d |= BadError
	}
	if code.Exists() && !code.IsInt() {
		d |= BadCode
	}
	return d
}

func isVersion2(version jsontree.Node) bool {
	if string(version.Text()) == `"2.0"` {
		return true
	}
	text, _ := version.StrBytes()
	return string(text) == "2.0"
}

// intern returns text as a string, the same one each time for names in use. A peer
// that invents names makes it forget all, not grow.
func (p *Parser) intern(text []byte) string {
	if known, ok := p.methods[string(text)]; ok {
		return known
	}
	name := string(text)
	if len(name) > maxMethodLen {
		return name
	}
	if p.methods == nil {
		p.methods = make(map[string]string)
	} else if len(p.methods) >= maxMethods {
		clear(p.methods)
	}
	p.methods[name] = name
	return name
}
