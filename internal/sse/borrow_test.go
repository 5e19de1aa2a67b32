package sse

import (
	"bytes"
	"testing"
)

// TestBorrow: large events of many streams share memory, small ones take none of it.
func TestBorrow(t *testing.T) {
	var spare []byte
	got, taken := 0, 0
	get := func() []byte {
		taken++
		b := spare[:0]
		spare = nil
		return b
	}
	put := func(b []byte) { spare = b }
	large := bytes.Repeat([]byte("0123456789abcdef"), 3*keptRoom/16)
	for range 5 {
		d := New(1 << 20)
		d.Borrow(get, put)
		for _, data := range [][]byte{[]byte("small"), large, large} {
			stream := append(append([]byte("data:"), data...), "\n\n"...)
			for len(stream) > 0 {
				n := min(len(stream), 10<<10)
				d.Feed(stream[:n], func(e *Event) {
					if got++; !bytes.Equal(e.Data, data) {
						t.Errorf("event of %d bytes, want %d", len(e.Data), len(data))
					}
				})
				stream = stream[n:]
			}
		}
	}
	if got != 15 || taken != 10 {
		t.Errorf("%d events, memory taken %d times", got, taken)
	}
	d := New(1 << 20)
	d.Borrow(get, put)
	want := &spare[:1][0]
	d.Feed(append([]byte("data:"), large...), nil)
	d.End(func(*Event) {})
	if spare == nil || &spare[:1][0] != want {
		t.Error("the memory of an event that was cut off did not come back")
	}
}
