package view

import (
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
)

func TestPieces(t *testing.T) {
	var p Pieces
	look := func(form capture.Form, payload string) {
		p.Look(&capture.Frame{Form: form, Payload: []byte(payload)})
	}
	text := func(place int32) string { return string(p.At(place).Text()) }
	byID := func(id string) string { return string(p.WithID([]byte(id)).Text()) }

	look(capture.Raw, `[{"id":1}, {"id":"1"},{"id":1,"x":2},7]`)
	if !p.Several() || text(0) != `{"id":1}` || text(3) != "7" || text(4) != "" || text(-1) != `[{"id":1}, {"id":"1"},{"id":1,"x":2},7]` {
		t.Errorf("batch: %q %q %q", text(0), text(3), text(4))
	}
	if byID("1") != `{"id":1}` || byID(`"1"`) != `{"id":"1"}` || byID("2") != "" {
		t.Errorf("by id: %q %q %q", byID("1"), byID(`"1"`), byID("2"))
	}
	look(capture.Raw, `{"id":3}`)
	if p.Several() || text(-1) != `{"id":3}` || text(5) != `{"id":3}` || byID("9") != `{"id":3}` {
		t.Errorf("one message: %q %q", text(-1), byID("9"))
	}
	for _, form := range []capture.Form{capture.NoPayload, capture.Text, capture.Raw} {
		if look(form, `[1`); p.Several() || text(0) != "" || byID("1") != "" {
			t.Errorf("form %d of no JSON: %q", form, text(0))
		}
	}
	many := make([]byte, 0, 4*jsonrpc.MaxBatch)
	for range 2 * jsonrpc.MaxBatch {
		many = append(many, ",1"...)
	}
	many[0] = '['
	look(capture.Raw, string(append(many, ']')))
	if text(jsonrpc.MaxBatch) != "1" || text(jsonrpc.MaxBatch+1) != "" {
		t.Errorf("a batch has pieces beyond those that are messages")
	}
	if look(capture.Raw, "1"); cap(p.elements) > keepElements {
		t.Errorf("room for %d elements is kept", cap(p.elements))
	}
}
