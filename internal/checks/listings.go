package checks

import (
	"math/bits"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
)

// listKind is one of the lists that servers have.
type listKind int

const (
	toolList listKind = iota
	promptList
	resourceList
	templateList
	listKinds
)

// listDef says how a list is asked for.
type listDef struct{ method, member, name string }

var listDefs = [listKinds]listDef{
	toolList:     {"tools/list", "tools", "name"},
	promptList:   {"prompts/list", "prompts", "name"},
	resourceList: {"resources/list", "resources", "uri"},
	templateList: {"resources/templates/list", "resourceTemplates", "uriTemplate"},
}

var listMethods = []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"}

// listOf returns the list that a method is about; it must be one of listMethods.
func listOf(method string) listKind {
	k := toolList
	for listDefs[k].method != method {
		k++
	}
	return k
}

// Limits of what is remembered of a session's lists.
const (
	maxCursors = 1 << 12 // beyond, all are forgotten, and nothing follows from absence
	maxListed  = 1 << 14 // names of one listing; beyond, nothing follows from absence
)

// digest stands for a sequence of names.
type digest struct {
	ordered, set uint64
	n            int
}

func (d *digest) add(name uint64) {
	d.ordered = mixed(d.ordered+1, name)
	d.set += mixed(name, 1)
	d.n++
}

// mixed makes one hash of two.
func mixed(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd6e8feb86659fd93)
	return high ^ low ^ bits.RotateLeft64(a, 23)
}

// chain is a listing in the making: the page that was asked for without a cursor, and those
// that its cursors led to.
type chain struct {
	asked    uint64            // seq of the request of the first page
	names    map[uint64]uint16 // hash of a name, and the page that had it first; nil once forgotten
	compared bool              // one of its pages was compared with an earlier one
}

// issue is a cursor that a server gave out.
type issue struct {
	scopes uint8 // of the first pages of the listings that it continues
	chain  *chain
	before digest // of the pages so far
	pages  uint16
}

// listing is one that came to its end.
type listing struct {
	seq, asked uint64
	digest     digest
	names      map[uint64]uint16
}

// page is the page that a result holds.
type page struct {
	ok        bool // it is one
	key       uint64
	continues bool // it was asked for with a cursor
	more      bool // it has a cursor itself
	follows   bool // with one that the server gave out
	known     bool // all pages before it are
	scope     uint8
	scopes    uint8 // of the first pages that it may belong to
	names     digest
	chain     *chain
	index     uint16
	whole     bool // with it the listing is complete
	listing   listing
	last      listing // the complete one before that, seq 0 if there was none
}

type listed struct {
	asked   uint64 // seq of the last request for it
	changed uint64 // seq of the last notice that it changed
	open    int    // requests for it that were not answered
	current *chain
	last    listing
}

// lists is what is known of a server's lists.
type lists struct {
	of     [listKinds]listed
	issued map[uint64]*issue
	forgot bool
	page   page // of the result that is being judged
	buffer []byte
}

var listings = &judge.Tracker{
	New:    func() any { return &lists{issued: map[uint64]*issue{}} },
	Before: true,
	On: []judge.On{
		{Kind: judge.Request, From: judge.Client, Methods: listMethods, Do: func(e *judge.Event) {
			l := judge.State[*lists](e)
			at := &l.of[listOf(e.Method)]
			at.asked = e.Seq
			at.open++
			if cursor := e.Msg.Params.Get("cursor"); cursor.Exists() {
				cursorOf.Put(e.Request, l.key(listOf(e.Method), cursor))
			}
		}},
		{Kind: judge.Error, From: judge.Server, Methods: listMethods, Do: func(e *judge.Event) {
			judge.State[*lists](e).of[listOf(e.Method)].answered()
		}},
		{Kind: judge.Result, From: judge.Server, Methods: listMethods, Do: func(e *judge.Event) {
			l := judge.State[*lists](e)
			l.of[listOf(e.Method)].answered()
			l.take(e, listOf(e.Method))
		}},
		changes("notifications/tools/list_changed", toolList),
		changes("notifications/prompts/list_changed", promptList),
		changes("notifications/resources/list_changed", resourceList, templateList),
	},
}

func changes(method string, kinds ...listKind) judge.On {
	return judge.On{Kind: judge.Notification, From: judge.Server, Methods: []string{method}, Do: func(e *judge.Event) {
		for _, k := range kinds {
			judge.State[*lists](e).of[k].changed = e.Seq
		}
	}}
}

// cursorOf keeps with a request for a page which one was asked for.
var cursorOf judge.Slot[uint64]

func listsOf(e *judge.Event) *lists { return judge.Of[*lists](e, listings) }

func (l *listed) answered() { l.open = max(l.open-1, 0) }

// fresh reports whether the whole list is known, and did not change since.
func (l *listed) fresh() bool { return l.last.seq != 0 && l.changed < l.last.asked }

// key hashes a cursor of a list. Numbers and the like are none, but clients may send back
// what they were given.
func (l *lists) key(k listKind, cursor jsontree.Node) uint64 {
	l.buffer = append(l.buffer[:0], byte(k), byte(cursor.Kind()))
	if text, ok := cursor.StrBytes(); ok {
		l.buffer = append(l.buffer, text...)
	} else {
		l.buffer = append(l.buffer, cursor.Text()...)
	}
	return judge.Hash(l.buffer)
}

// wasIssued reports whether a cursor that was sent is one that the server gave out.
func (l *lists) wasIssued(r *judge.Req) bool {
	key, _ := cursorOf.Get(r)
	return l.issued[key] != nil
}

// take takes a page.
func (l *lists) take(e *judge.Event, k listKind) {
	items := e.Msg.Result.Get(listDefs[k].member)
	l.page = page{ok: items.Kind() == jsontree.Array && e.Request != nil, scope: scopeBit(e.Msg.Result.Get("cacheScope"))}
	if !l.page.ok {
		return
	}
	p, at := &l.page, &l.of[k]
	var sum digest
	switch p.key, p.continues = cursorOf.Get(e.Request); {
	case !p.continues:
		if at.current != nil {
			at.current.names = nil
		}
		p.known, p.scopes = true, p.scope
		p.chain = &chain{asked: e.Request.Seq, names: map[uint64]uint16{}}
		at.current = p.chain
	case l.issued[p.key] != nil:
		from := l.issued[p.key]
		p.follows, p.known, p.scopes, p.chain, p.index, sum = true, from.chain.names != nil, from.scopes, from.chain, from.pages, from.before
	default:
		p.scopes = p.scope
	}
	p.read(items, listDefs[k].name, &sum)
	next := e.Msg.Result.Get("nextCursor")
	if p.more = next.Exists() && next.Kind() != jsontree.Null; p.more {
		l.issue(l.key(k, next), p, sum)
	}
	if p.whole = p.known && !p.more && p.chain.names != nil; p.whole {
		p.last = at.last
		p.listing = listing{seq: e.Seq, asked: p.chain.asked, digest: sum, names: p.chain.names}
		at.last = p.listing
	}
}

// read takes the names of a page.
func (p *page) read(items jsontree.Node, member string, sum *digest) {
	for item := range items.Elements() {
		name, ok := item.Get(member).StrBytes()
		if !ok {
			continue
		}
		h := judge.Hash(name)
		p.names.add(h)
		sum.add(h)
		if p.chain == nil || p.chain.names == nil {
			continue
		}
		if _, ok := p.chain.names[h]; !ok {
			p.chain.names[h] = p.index
		}
		if len(p.chain.names) > maxListed {
			p.chain.names = nil
		}
	}
}

// issue takes the cursor that a page ends with.
func (l *lists) issue(key uint64, p *page, sum digest) {
	if makeRoom(l.issued, maxCursors) {
		l.forgot = true
	}
	next := issue{scopes: p.scopes, chain: p.chain, before: sum, pages: p.index + 1}
	if next.chain == nil {
		next.chain = &chain{}
	}
	if old := l.issued[key]; old != nil {
		next.scopes |= old.scopes
	}
	l.issued[key] = &next
}

// scopeBit makes a set of one of a cacheScope.
func scopeBit(n jsontree.Node) uint8 {
	text, _ := n.StrBytes()
	switch {
	case !n.Exists():
		return 1
	case string(text) == "public":
		return 2
	case string(text) == "private":
		return 4
	}
	return 8
}
