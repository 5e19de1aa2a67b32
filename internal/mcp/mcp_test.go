package mcp

import (
	"slices"
	"strings"
	"testing"
)

func TestRevisions(t *testing.T) {
	last := ""
	for i, r := range Known() {
		name := r.String()
		if int(r) != i+1 || name <= last || ParseRevision(name) != r {
			t.Errorf("%q is out of order or does not parse", name)
		}
		if !AllRevisions.Has(r) || HasHandshake(r) == PerRequest(r) {
			t.Errorf("%q is of no era, or of two", name)
		}
		last = name
	}
	if last != Latest.String() || len(Known()) != len(revisionNames)-1 {
		t.Errorf("the newest known revision is %q", last)
	}
	for _, name := range []string{"", "2025-11-26", "draft", "2025-11-25 ", "NoRevision"} {
		if r := ParseRevision(name); r != NoRevision {
			t.Errorf("%q parses as %v", name, r)
		}
	}
	for set, newest := range map[Revisions]Revision{0: NoRevision, AllRevisions: Latest, Modern: Latest, Legacy: V2025_11_25, only2024Nov: V2024_11_05} {
		if set.Newest() != newest {
			t.Errorf("the newest of %b is %v", set, set.Newest())
		}
	}
	if NoRevision.String() != "" || Revision(99).String() != "" || AllRevisions.Has(NoRevision) || AllRevisions.Has(Revision(99)) {
		t.Error("what is no revision is one")
	}
}

func TestPredicates(t *testing.T) {
	for name, c := range map[string]struct {
		has  func(Revision) bool
		want string // a letter for each known revision
	}{
		"HasHandshake":  {HasHandshake, "YYYY-"},
		"PerRequest":    {PerRequest, "----Y"},
		"HasBatch":      {HasBatch, "-Y---"},
		"HasSessionIDs": {HasSessionIDs, "-YYY-"},
	} {
		got := ""
		for _, r := range Known() {
			if c.has(r) {
				got += "Y"
			} else {
				got += "-"
			}
		}
		if got != c.want || c.has(NoRevision) {
			t.Errorf("%s: %s, want %s; for no revision %v", name, got, c.want, c.has(NoRevision))
		}
	}
}

// unbroken reports whether a set is of revisions in a row.
func unbroken(s Revisions) bool {
	s >>= 1
	for s != 0 && s&1 == 0 {
		s >>= 1
	}
	return s&(s+1) == 0
}

func TestMethods(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Methods() {
		if seen[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name] = true
		if got := Lookup(m.Name); got == nil || got.Name != m.Name {
			t.Errorf("Lookup does not find %s", m.Name)
		}
		if m.In() == 0 || !unbroken(m.In()) || !unbroken(m.FromClient) || !unbroken(m.FromServer) {
			t.Errorf("%s has no direction, or comes, goes and comes again", m.Name)
		}
		if (m.In()|m.Nested)&^AllRevisions != 0 || !unbroken(m.In()|m.Nested) || m.In()&m.Nested != 0 {
			t.Errorf("%s: revisions %b, nested %b", m.Name, m.In(), m.Nested)
		}
		if m.Extension&^m.In() != 0 {
			t.Errorf("%s is an extension where it is not", m.Name)
		}
		if m.Notification != strings.HasPrefix(m.Name, "notifications/") {
			t.Errorf("%s: notification is %v", m.Name, m.Notification)
		}
		if m.Notification && (m.List != "" || m.Cacheable || m.AsksInput || m.Nested != 0) {
			t.Errorf("%s is a notification and has a result", m.Name)
		}
		if want := strings.HasSuffix(m.Name, "/list") && m.Name != "roots/list"; want != (m.List != "") {
			t.Errorf("%s: list is %q", m.Name, m.List)
		}
		if got := TargetParam(m.Name); got != m.Target {
			t.Errorf("TargetParam(%s) is %q", m.Name, got)
		}
		for _, r := range Known() {
			if (m.From(Client, r) || m.From(Server, r)) != m.In().Has(r) {
				t.Errorf("%s in %v: nobody sends it", m.Name, r)
			}
			if m.From(Server, r) && !m.Notification && !Legacy.Has(r) {
				t.Errorf("%s: a server's request in %v", m.Name, r)
			}
		}
		if m.From(Side(0), Latest) {
			t.Errorf("%s: no side sends it", m.Name)
		}
	}
	if Lookup("tools/Call") != nil || Lookup("") != nil || TargetParam("nothing") != "" {
		t.Error("Lookup finds what is not there")
	}
	for name, want := range map[string]string{
		"tools/call": "name", "prompts/get": "name", "resources/read": "uri", "resources/subscribe": "uri", "resources/unsubscribe": "uri",
		"tasks/get": "taskId", "tasks/result": "taskId", "tasks/cancel": "taskId", "tasks/update": "taskId", "tasks/list": "", "ping": "",
	} {
		if got := TargetParam(name); got != want {
			t.Errorf("TargetParam(%s) is %q, want %q", name, got, want)
		}
	}
	// What a caller does to the table is its own affair.
	Methods()[0].Name = "changed"
	if Methods()[0].Name == "changed" {
		t.Error("Methods lends out its table")
	}
	if n := testing.AllocsPerRun(100, func() { Lookup("tools/call"); TargetParam("x/y") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// In these revisions the methods below are new or gone; protocol.md section 2.
func TestMethodsCameAndWent(t *testing.T) {
	for name, want := range map[string]string{
		"initialize": "YYYY-", "ping": "YYYY-", "server/discover": "----Y", "tools/call": "YYYYY", "elicitation/create": "--YYn", "roots/list": "YYYYn",
		"sampling/createMessage": "YYYYn", "tasks/result": "---Y-", "tasks/get": "---Ye", "tasks/update": "----e", "logging/setLevel": "YYYY-",
		"notifications/progress": "YYYYY", "notifications/elicitation/complete": "---Y-", "subscriptions/listen": "----Y",
	} {
		m, got := Lookup(name), ""
		for _, r := range Known() {
			switch {
			case m.Nested.Has(r):
				got += "n"
			case m.Extension.Has(r):
				got += "e"
			case m.In().Has(r):
				got += "Y"
			default:
				got += "-"
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	progress := Lookup("notifications/progress")
	if progress.From(Client, V2026_07_28) || !progress.From(Client, V2025_11_25) || !progress.From(Server, V2026_07_28) {
		t.Error("in 2026-07-28 progress comes from servers only")
	}
}

func TestCapabilities(t *testing.T) {
	for _, side := range []Side{Client, Server} {
		all := Capabilities(side, NoRevision)
		var paths []string
		for _, c := range all {
			if slices.Contains(paths, c.Path) {
				t.Errorf("%v: %s is there twice", side, c.Path)
			}
			paths = append(paths, c.Path)
			if c.Side != side || c.In == 0 || !unbroken(c.In) || c.Deprecated&^c.In != 0 {
				t.Errorf("%v: %s: side %v, in %b, deprecated %b", side, c.Path, c.Side, c.In, c.Deprecated)
			}
			top, _, nested := strings.Cut(c.Path, ".")
			for _, parent := range all {
				if nested && parent.Path == top && c.In&^parent.In != 0 {
					t.Errorf("%v: %s outlives %s", side, c.Path, top)
				}
			}
			if nested && !slices.Contains(paths, top) {
				t.Errorf("%v: %s comes before %s", side, c.Path, top)
			}
			for _, gate := range c.Gates {
				if m := Lookup(gate); m == nil || (m.In()|m.Nested)&c.In == 0 {
					t.Errorf("%v: %s gates %s", side, c.Path, gate)
				}
			}
		}
		for _, r := range Known() {
			for _, c := range Capabilities(side, r) {
				if !c.In.Has(r) {
					t.Errorf("%v has %s in %v", side, c.Path, r)
				}
			}
		}
	}
	if Client.String() != "client" || Server.String() != "server" || Side(0).String() != "" {
		t.Error("names of sides")
	}
}

func TestCodeNames(t *testing.T) {
	for code, want := range map[int64]string{
		ParseError: "parse error", InvalidRequest: "invalid request", MethodNotFound: "method not found", InvalidParams: "invalid params",
		InternalError: "internal error", HeaderMismatch: "header mismatch", MissingClientCapability: "missing required client capability",
		UnsupportedVersion: "unsupported protocol version", ResourceNotFound: "resource not found", URLElicitationRequired: "URL elicitation required",
		0: "", 1: "", UserRejected: "", DraftHeaderMismatch: "", DraftMissingCapability: "", DraftUnsupportedVersion: "", -32000: "", 32700: "",
	} {
		if got := CodeName(code); got != want {
			t.Errorf("code %d is called %q, want %q", code, got, want)
		}
	}
}
