// Package jsonrpc reads JSON-RPC 2.0 leniently: any JSON value becomes a
// [Message] with its defects, never an error, because a recorder must show what
// peers really send.
//
// # What a value is
//
// Names match exactly; of a name that stands twice the last one counts. The first
// line that fits decides:
//
//	method a string, id there              Request (null ids too)
//	method a string                        Notification
//	result there, null included            Response
//	error an object                        Response
//	error another value, not null, and
//	  id there or jsonrpc "2.0"            Response: somebody was answered, if badly
//	method or error of a wrong type        Invalid (null is not: it says "none")
//	jsonrpc or id there                    Odd
//	anything else                          Invalid
//
// So the error pages of gateways ({"error":"unauthorized"}) are no messages, while a
// call whose answer has a string for an error does not stay open for ever.
package jsonrpc

import "mcpsnoop/internal/jsontree"

// Kind is what a value is by its members alone.
type Kind uint8

// The kinds of messages. A Response carries a result or an error, or both.
const (
	Invalid      Kind = iota // no JSON-RPC object at all
	Request                  // method and id, null included
	Notification             // method, no id
	Response                 // no method; a result or an error
	Odd                      // an object with some member of JSON-RPC, but none of the above
)

// String returns the kind in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

var kindNames = [...]string{"invalid", "request", "notification", "response", "odd"}

// Defects is a set of things that are wrong with a message.
type Defects uint32

// The defects. They say what is there, not whose fault it is; which of them breaks
// a rule depends on the revision.
const (
	BadVersion    Defects = 1 << iota // an object whose jsonrpc is absent or not "2.0"
	BadID                             // id a boolean, array or object
	NullID                            // id is null
	FracID                            // id is a number, but no integer: see [IsIntegerID]
	BadMethod                         // method is no string, see NullTwin
	BadParams                         // params neither object nor array
	ArrayParams                       // params an array: JSON-RPC, but not MCP
	BothResults                       // result and error, neither null
	NullTwin                          // method, result or error is null beside another of them that says more
	Mixed                             // a method, and a result or an error, none of them null
	BadError                          // error is no object, or has no code, or no message that is a string; see NullTwin
	BadCode                           // code of the error is there and no integer
	NoOutcome                         // id, but neither method, result nor error
	DuplicateKeys                     // a member name stands twice in one object, however deep
	InBatch                           // element of a batch
	EmptyBatch                        // a batch without elements
	RestOfBatch                       // stands for the elements beyond [MaxBatch]
	NotObject                         // a number, string, boolean, null, or an array inside a batch
)

// Has reports whether all of d are in the set.
func (s Defects) Has(d Defects) bool { return s&d == d }

// Message is one JSON-RPC message. Its nodes and byte slices view the parsed
// text: they hold until the next Parse of the same Parser. Params, Result and Error
// are what was sent, of whatever kind; absent members are absent nodes.
type Message struct {
	Kind    Kind
	Defects Defects
	ID      []byte // exact JSON text, see [IDKey]; nil if there is no id member
	Method  string // unescaped; "" if absent or no string
	Root    jsontree.Node
	Params  jsontree.Node
	Result  jsontree.Node
	Error   jsontree.Node
	Element int // position in a batch, -1 outside
}
