package view

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
)

// Pieces gives the messages of a frame one by one. It parses a frame once, however
// many elements of a batch are asked for, and not at all if none is.
type Pieces struct {
	frame    *capture.Frame
	parsed   bool
	tree     jsontree.Tree
	root     jsontree.Node
	elements []jsontree.Node  // of a batch
	byID     map[string]int32 // places of elements, once it is asked for
}

// Look turns to another frame, which must hold while it is asked about.
func (p *Pieces) Look(f *capture.Frame) {
	p.frame, p.parsed, p.root, p.byID = f, false, jsontree.Node{}, nil
	if cap(p.elements) > keepElements {
		p.elements = nil
	}
	p.elements = p.elements[:0]
}

// keepElements is the room that is kept for the elements of the next batch.
const keepElements = 1024

// At returns the element of a batch at that place, the whole of any other JSON; an
// absent node where there is none.
func (p *Pieces) At(place int32) jsontree.Node {
	p.parse()
	switch {
	case place < 0 || p.root.Kind() != jsontree.Array:
		return p.root
	case int(place) < len(p.elements):
		return p.elements[place]
	}
	return jsontree.Node{}
}

// WithID returns the first element of a batch that has that id, the whole of any
// other JSON.
func (p *Pieces) WithID(id []byte) jsontree.Node {
	p.parse()
	if p.root.Kind() != jsontree.Array {
		return p.root
	}
	if p.byID == nil {
		p.byID = make(map[string]int32, len(p.elements))
		for i, e := range p.elements {
			text := string(e.Get("id").Text())
			if _, known := p.byID[text]; !known {
				p.byID[text] = int32(i)
			}
		}
	}
	if at, ok := p.byID[string(id)]; ok {
		return p.elements[at]
	}
	return jsontree.Node{}
}

// Several reports whether the frame is a batch.
func (p *Pieces) Several() bool {
	p.parse()
	return p.root.Kind() == jsontree.Array
}

func (p *Pieces) parse() {
	if p.parsed {
		return
	}
	p.parsed = true
	if p.frame.Form != capture.Raw || p.tree.Parse(p.frame.Payload) != nil {
		return
	}
	p.root = p.tree.Root()
	if p.root.Kind() != jsontree.Array {
		return
	}
	for e := range p.root.Elements() {
		if len(p.elements) > jsonrpc.MaxBatch { // as many as are messages of their own, and the rest
			return
		}
		p.elements = append(p.elements, e)
	}
}
