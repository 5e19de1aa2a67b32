package judge

import (
	"iter"
	"maps"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/session"
)

// Phase is how far the handshake of a revision that has one has come.
type Phase uint8

// The phases. Only the first initialize counts, or the first after one that was refused.
const (
	BeforeInitialize Phase = iota
	Initializing           // initialize was sent
	Refused                // and answered with an error, or refused by an HTTP status
	Initialized            // and answered with a result
	Ready                  // and notifications/initialized came
)

// Facts is what is known of a session from its handshakes.
type Facts struct {
	Phase      Phase
	Initialize uint64 // seq of the initialize request that counts
	Result     uint64 // seq of its result, 0 if there is none
	ResultAt   session.Instant
	Asked      string // protocolVersion of the request, "" if that is no string; cut at 512 bytes
	Version    string // protocolVersion of the result, likewise
	ClientCaps *Caps  // of the request
	ServerCaps *Caps  // of the result

	// Of the first server/discover that was answered with a result:
	Discovered   bool
	DiscoverCaps *Caps
	Supported    []string // versions it names

	SessionID string // the first Mcp-Session-Id, "" if there is none
	Messages  int    // so far, of both sides
}

// Caps is a set of declared capabilities.
type Caps struct {
	known bool
	part  bool // more may have been declared than is remembered
	paths map[string]bool
	hash  uint64 // of the text
}

// What is declared where nothing was, and where too much was to remember it.
var (
	noCaps  = &Caps{}
	anyCaps = &Caps{known: true, part: true}
)

// Known reports whether there was a capabilities object at all.
func (c *Caps) Known() bool { return c.known }

// Has reports whether a capability is declared, given names from the capabilities object
// down, joined by dots: it is there and neither false nor null.
func (c *Caps) Has(path string) bool { return c.paths[path] }

// Lacks reports whether it is certain that a capability is not declared.
func (c *Caps) Lacks(path string) bool { return !c.part && !c.paths[path] }

// Paths returns all that is declared, in no order, and whether that is all: more may have
// been declared than is remembered.
func (c *Caps) Paths() (paths iter.Seq[string], all bool) { return maps.Keys(c.paths), !c.part }

// Limits of what is read of declared capabilities.
const (
	maxCapDepth = 4
	maxCapPaths = 256
	maxCapPath  = 256 // bytes
	maxCapText  = 64 << 10
	maxCaps     = 1 << 10 // of one session that differ
)

// declarations are the capabilities that were declared lately: they come again with every
// request.
type declarations struct {
	list [8]*Caps
	made int
}

// of returns the capabilities that an object declares.
func (d *declarations) of(node jsontree.Node) *Caps {
	if !node.Exists() {
		return noCaps
	}
	hash := Hash(node.Text())
	for _, known := range d.list {
		if known != nil && known.hash == hash {
			return known
		}
	}
	if d.made >= maxCaps {
		return anyCaps
	}
	c := capsOf(node)
	c.hash = hash
	d.list[d.made%len(d.list)] = c
	d.made++
	return c
}

// capsOf reads a capabilities object.
func capsOf(node jsontree.Node) *Caps {
	if !node.Exists() {
		return noCaps
	}
	c := &Caps{known: node.Kind() == jsontree.Object, paths: map[string]bool{}}
	if len(node.Text()) > maxCapText {
		c.part = true
	} else {
		c.read("", node, 1)
	}
	return c
}

func (c *Caps) read(prefix string, node jsontree.Node, depth int) {
	if node.Kind() != jsontree.Object || depth > maxCapDepth {
		return
	}
	for name, value := range node.Members() {
		path := prefix + name.String()
		if on, isBool := value.Bool(); value.Kind() == jsontree.Null || isBool && !on {
			delete(c.paths, path)
			continue
		}
		if len(c.paths) >= maxCapPaths || len(path) > maxCapPath {
			c.part = true
			return
		}
		c.paths[path] = true
		c.read(path+".", value, depth+1)
	}
}

// capsIn reads the capabilities that an event declares in its params or result.
func capsIn(e *Event, in jsontree.Node) *Caps {
	c := capsOf(in.Get("capabilities"))
	if e.Frame.Flags&(capture.Truncated|capture.Redacted) != 0 {
		some := *c
		some.part = true
		return &some
	}
	return c
}

// learn takes what an event says of the handshakes, after the checks saw it.
func (s *conv) learn(e *Event) {
	f := &s.facts
	if e.Kind&Message != 0 {
		f.Messages++
	}
	switch {
	case e.Kind == Request && e.From == Client && e.Method == "initialize":
		if f.Phase < Initialized { // one that was refused, or never answered, is asked again
			f.Phase, f.Initialize = Initializing, e.Seq
			f.Asked = short(e.Msg.Params.Get("protocolVersion"))
			f.ClientCaps = capsIn(e, e.Msg.Params)
			s.proposed(f.Asked)
		}
	case e.Kind&Answer != 0 && e.From == Server && e.Method == "initialize" && e.Request != nil && (f.Phase == Initializing || f.Phase == Refused && e.Kind == Result):
		if e.Kind == Error {
			f.Phase = Refused
			return
		}
		f.Phase, f.Result, f.ResultAt = Initialized, e.Seq, e.At
		f.Version = short(e.Msg.Result.Get("protocolVersion"))
		f.ServerCaps = capsIn(e, e.Msg.Result)
		s.negotiated(f.Version)
	case e.Kind == Notification && e.From == Client && e.Method == "notifications/initialized":
		if f.Phase == Initialized || f.Phase == Initializing && (s.gapped() || s.partial) {
			f.Phase = Ready // the answer may be what is missing
		}
	case e.Kind == Result && e.From == Server && e.Method == "server/discover" && e.Request != nil && !f.Discovered:
		f.Discovered = true
		f.DiscoverCaps = capsIn(e, e.Msg.Result)
		for v := range e.Msg.Result.Get("supportedVersions").Elements() {
			if v.Kind() == jsontree.String && len(f.Supported) < maxSupported {
				f.Supported = append(f.Supported, short(v))
			}
		}
	}
}

const maxSupported = 64

// short returns a string, cut; "" if it is none.
func short(n jsontree.Node) string {
	text, _ := n.StrBytes()
	return string(text[:min(len(text), maxTarget)])
}
