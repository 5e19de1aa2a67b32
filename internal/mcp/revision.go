package mcp

import "math/bits"

// Revision is a revision of the specification, oldest first; the zero value is
// "none declared or none we know".
type Revision uint8

// The revisions.
const (
	NoRevision Revision = iota
	V2024_11_05
	V2025_03_26
	V2025_06_18
	V2025_11_25
	V2026_07_28

	Latest = V2026_07_28
)

var revisionNames = [...]string{
	V2024_11_05: "2024-11-05",
	V2025_03_26: "2025-03-26",
	V2025_06_18: "2025-06-18",
	V2025_11_25: "2025-11-25",
	V2026_07_28: "2026-07-28",
}

// Known returns all revisions, oldest first.
func Known() []Revision {
	return []Revision{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28}
}

// String returns the revision as the protocol spells it, "" for [NoRevision].
func (r Revision) String() string {
	if int(r) < len(revisionNames) {
		return revisionNames[r]
	}
	return ""
}

// ParseRevision returns the revision of that name, [NoRevision] if there is none.
func ParseRevision(name string) Revision {
	switch name {
	case "2024-11-05":
		return V2024_11_05
	case "2025-03-26":
		return V2025_03_26
	case "2025-06-18":
		return V2025_06_18
	case "2025-11-25":
		return V2025_11_25
	case "2026-07-28":
		return V2026_07_28
	}
	return NoRevision
}

// Revisions is a set of revisions. [NoRevision] is in none.
type Revisions uint8

// The sets that tables are made of.
const (
	only2024Nov Revisions = 1 << V2024_11_05
	only2025Mar Revisions = 1 << V2025_03_26
	only2025Jun Revisions = 1 << V2025_06_18
	only2025Nov Revisions = 1 << V2025_11_25
	only2026Jul Revisions = 1 << V2026_07_28

	AllRevisions     = Legacy | Modern
	Legacy           = only2024Nov | only2025Mar | only2025Jun | only2025Nov // a session begins with initialize
	Modern           = only2026Jul                                           // each request declares its version
	since2025Mar     = AllRevisions &^ only2024Nov
	since2025Jun     = since2025Mar &^ only2025Mar
	since2025Nov     = since2025Jun &^ only2025Jun
	legacySince25Jun = Legacy & since2025Jun
)

// Has reports whether r is in the set.
func (s Revisions) Has(r Revision) bool { return r != NoRevision && s>>r&1 == 1 }

// Newest returns the newest revision of the set, [NoRevision] if it is empty.
func (s Revisions) Newest() Revision { return Revision(max(bits.Len8(uint8(s))-1, 0)) }

// The predicates below are false for NoRevision: nothing is known about it.

// HasHandshake reports whether a session begins with initialize, which settles the
// version and the capabilities for all that follows.
func HasHandshake(r Revision) bool { return Legacy.Has(r) }

// PerRequest reports whether each request declares its version and the client's
// capabilities in _meta, and nothing is remembered between requests.
func PerRequest(r Revision) bool { return Modern.Has(r) }

// ClosingCancels reports whether a client that closes the HTTP response to a request
// gives that request up; before, it may come back for the answer.
func ClosingCancels(r Revision) bool { return r == V2026_07_28 }

// HasBatch reports whether a JSON-RPC batch is legal.
func HasBatch(r Revision) bool { return r == V2025_03_26 }

// HasSessionIDs reports whether HTTP has the header Mcp-Session-Id.
func HasSessionIDs(r Revision) bool { return (Legacy &^ only2024Nov).Has(r) }
