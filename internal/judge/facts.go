package judge

import (
	"bytes"
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
	Refused                // and answered with an error
	Initialized            // and answered with a result
	Ready                  // and notifications/initialized came
)

// Facts is what is known of a session from its handshakes.
type Facts struct {
	Phase      Phase
	Initialize uint64 // seq of the initialize request that counts
	Result     uint64 // seq of its result, 0 if there is none
	ResultAt   session.Instant
	Asked      string // protocolVersion of the request, "" if that is no string
	Version    string // protocolVersion of the result, "" if that is no string
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
	text  []byte
}

// noCaps is what is declared where nothing was.
var noCaps = &Caps{}

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
	maxCapText  = 64 << 10
)

// capsOf reads a capabilities object. last is what was read before: declarations repeat.
func capsOf(node jsontree.Node, last *Caps) *Caps {
	if !node.Exists() {
		return noCaps
	}
	text := node.Text()
	if last != nil && last.known && bytes.Equal(text, last.text) {
		return last
	}
	c := &Caps{known: node.Kind() == jsontree.Object, paths: map[string]bool{}}
	if len(text) <= maxCapText {
		c.text = bytes.Clone(text)
		c.read("", node, 1)
	} else {
		c.part = true
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
		if len(c.paths) >= maxCapPaths {
			c.part = true
			return
		}
		c.paths[path] = true
		c.read(path+".", value, depth+1)
	}
}

// capsIn reads the capabilities that an event declares in its params or result.
func capsIn(e *Event, in jsontree.Node) *Caps {
	c := capsOf(in.Get("capabilities"), nil)
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
		if f.Phase == BeforeInitialize || f.Phase == Refused {
			f.Phase, f.Initialize = Initializing, e.Seq
			f.Asked, _ = e.Msg.Params.Get("protocolVersion").Str()
			f.ClientCaps = capsIn(e, e.Msg.Params)
			s.proposed(f.Asked)
		}
	case e.Kind&Answer != 0 && e.From == Server && e.Method == "initialize" && e.Request != nil && e.Request.Seq == f.Initialize && f.Phase == Initializing:
		if e.Kind == Error {
			f.Phase = Refused
			return
		}
		f.Phase, f.Result, f.ResultAt = Initialized, e.Seq, e.At
		f.Version, _ = e.Msg.Result.Get("protocolVersion").Str()
		f.ServerCaps = capsIn(e, e.Msg.Result)
		s.negotiated(f.Version)
	case e.Kind == Notification && e.From == Client && e.Method == "notifications/initialized":
		if f.Phase == Initialized {
			f.Phase = Ready
		}
	case e.Kind == Result && e.From == Server && e.Method == "server/discover" && e.Request != nil && !f.Discovered:
		f.Discovered = true
		f.DiscoverCaps = capsIn(e, e.Msg.Result)
		for v := range e.Msg.Result.Get("supportedVersions").Elements() {
			if text, ok := v.Str(); ok && len(f.Supported) < maxSupported {
				f.Supported = append(f.Supported, text)
			}
		}
	}
}

const maxSupported = 64
