package judge

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
)

// clients tells whether several clients may share a session.
type clients struct {
	first       uint64 // hash of the clientInfo that was seen first
	several     bool
	initializes int
}

// see notes who a request says sent it. An initialize that follows one that was refused, or
// never answered, is the same client's.
func (c *clients) see(e *Event) {
	if e.Kind != Request || e.From != Client {
		return
	}
	info := e.Meta().Get(mcp.MetaClientInfo)
	if e.Method == "initialize" {
		if c.initializes == 0 && e.Facts.SessionID == "" {
			e.s.j.anonymous++
		}
		if c.initializes == 0 || e.Facts.Phase >= Initialized {
			c.initializes++
		}
		info = e.Msg.Params.Get("clientInfo")
	}
	if !info.Exists() {
		return
	}
	name, _ := info.Get("name").StrBytes()
	h := Hash(name)
	switch c.first {
	case 0:
		c.first = h
	case h:
	default:
		c.several = true
	}
}

func (s *conv) oneClient() bool {
	return s.clients.initializes <= 1 && !s.clients.several && (s.clients.initializes == 1 || s.clients.first != 0)
}

// OneClient reports whether the session is one client's for certain, and the event part
// of it: among several sessions, a request that names none may be anybody's.
func (e *Event) OneClient() bool {
	id := e.s.facts.SessionID
	switch {
	case e.Transport == capture.Stdio:
		return true
	case id == "": // behind one gateway, clients without session ids cannot be told apart
		return e.s.oneClient() && e.s.j.anonymous <= 1
	case e.Post == nil || e.Post.Header[mcp.SessionHeader] == id || e.Frame.MCPSession == id:
		return true
	}
	return len(e.s.j.convs) == 1 && e.s.oneClient()
}

// AsOneClient reports whether the session may be judged as one client's: it is for certain,
// or the user said how to judge a trace, in which nothing says otherwise.
func (e *Event) AsOneClient() bool { return e.Pinned() || e.OneClient() }
