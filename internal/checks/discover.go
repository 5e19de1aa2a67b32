package checks

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var discoverImplemented = &judge.Check{
	ID:       "discover.implemented",
	Title:    "server/discover",
	Why:      "Clients ask it for versions and features, and take a server that does not know it for one of an older version.",
	Fix:      "Answer server/discover with supportedVersions and capabilities.",
	Convicts: "server/discover answered with method not found",
	Exempts:  "requests that do not declare a version which has the method; other errors",
	On: []judge.On{{Kind: judge.Answer, From: judge.Server, Methods: []string{"server/discover"}, Do: func(e *judge.Event) {
		if !mcp.PerRequest(mcp.ParseRevision(e.Request.Version)) {
			return
		}
		if code, _ := e.Msg.Error.Get("code").Int(); code == mcp.MethodNotFound {
			e.Bad("the server does not know server/discover")
			return
		}
		e.OK()
	}}},
}

// bothEras is what discover.dual-era-probe-first knows of a client.
type bothEras struct {
	first      uint64 // seq of its first request
	method     string // of that
	seen       bool   // there was one
	initialize bool
	modern     bool // it sent a request that declares its version
}

var discoverDualEraProbeFirst = &judge.Check{
	ID:       "discover.dual-era-probe-first",
	Title:    "first request of a client of both eras",
	Why:      "A probe is harmless to any server; an initialize or a modern request may confuse one of the other era.",
	Fix:      "Over stdio, send server/discover first and decide by its answer.",
	Convicts: "a client that sends both initialize and requests which declare their version, and opened with something else than server/discover, where the revision to judge at was given",
	Exempts:  "HTTP, where the status of the first request tells; clients that may know the era from an earlier run are told of in a note",
	New:      func() any { return new(bothEras) },
	On: []judge.On{{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
		s := judge.State[*bothEras](e)
		if s.initialize && s.modern || e.Transport != capture.Stdio {
			return
		}
		if !s.seen {
			if !e.FromStart() {
				s.initialize, s.modern = true, true // nobody will know
				return
			}
			s.seen, s.first, s.method = true, e.Seq, e.Method
		}
		s.initialize = s.initialize || e.Method == "initialize"
		s.modern = s.modern || e.Request.Versions
		switch {
		case !s.initialize || !s.modern:
		case s.method == "server/discover":
			e.OK()
		case !e.Pinned():
			e.Notef("the client speaks both eras, and opened with %s instead of server/discover", quote(s.method))
		default:
			e.BadAtf(s.first, "the client speaks both eras, and opened with %s instead of server/discover", quote(s.method))
		}
	}}},
}
