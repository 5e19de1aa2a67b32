package sse

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// decodeIn decodes a stream in pieces of the sizes that next gives.
func decodeIn(stream string, max int64, next func(left int) int) (events []Event) {
	d := New(max)
	keep := func(e *Event) {
		c := *e
		c.Data = append([]byte(nil), e.Data...)
		events = append(events, c)
	}
	for p := []byte(stream); len(p) > 0; {
		n := next(len(p))
		piece := append([]byte(nil), p[:n]...)
		d.Feed(piece, keep)
		clear(piece) // the decoder must not hold on to it
		p = p[n:]
	}
	d.End(keep)
	return events
}

func whole(left int) int { return left }
func single(int) int     { return 1 }

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []Event
	}{
		{"one event", "data: x\n\n", []Event{{Data: []byte("x"), Size: 9}}},
		{"no space after the colon", "data:x\n\n", []Event{{Data: []byte("x"), Size: 8}}},
		{"only one space goes", "data:  x\n\n", []Event{{Data: []byte(" x"), Size: 10}}},
		{"carriage returns", "data: x\r\rdata: y\r\r", []Event{{Data: []byte("x"), Size: 9}, {Data: []byte("y"), Size: 9}}},
		{"both", "data: x\r\n\r\ndata: y\r\n\r\n", []Event{{Data: []byte("x"), Size: 11}, {Data: []byte("y"), Size: 11}}},
		{"mixed", "data: x\r\n\ndata: y\r\n\r", []Event{{Data: []byte("x"), Size: 10}, {Data: []byte("y"), Size: 10}}},
		{"byte order mark", "\xEF\xBB\xBFdata: x\n\n", []Event{{Data: []byte("x"), Size: 12}}},
		{"half a byte order mark is a field nobody knows", "\xEF\xBBdata: x\n\ndata: y\n\n", []Event{{Data: []byte("y"), Size: 20}}},
		{"byte order mark later", "data: x\n\n\xEF\xBB\xBFdata: y\n\n", []Event{{Data: []byte("x"), Size: 9}}},
		{"several lines", "data: x\ndata\ndata: y\n\n", []Event{{Data: []byte("x\n\ny"), Size: 22}}},
		{"all fields", "event: message\nid: 7\nretry: 100\ndata: {}\n\n", []Event{{Name: "message", ID: "7", Retry: 100, Data: []byte("{}"), Size: 42}}},
		{"id without data", "id: 7\ndata:\n\n", []Event{{ID: "7", Size: 13}}},
		{"the last one counts", "id: 1\nid: 2\nevent: a\nevent: b\n\n", []Event{{ID: "2", Name: "b", Size: 31}}},
		{"an id with NUL is none", "id: a\x00b\nid\n\n", []Event{{Size: 12}}},
		{"retry must be digits", "retry: 1s\nretry:\nretry: -1\nretry: 99999999999999999999\n\n", []Event{{Retry: maxRetry, Size: 56}}},
		{"comments", ": one\n:two\ndata: x\n\n: alone\n\n", []Event{{Comment: "one\ntwo", Data: []byte("x"), Size: 20}, {Comment: "alone", Size: 9}}},
		{"unknown fields", "dataa: x\nfoo\nDATA: y\n data: z\n\n", nil},
		{"blank lines", "\n\r\n\r\rdata: x\n\n\n\n", []Event{{Data: []byte("x"), Size: 14}}},
		{"end inside an event", "data: x\n", []Event{{Data: []byte("x"), Size: 8, Broken: true}}},
		{"end inside a line", "data: x\n\ndata: y", []Event{{Data: []byte("x"), Size: 9}, {Data: []byte("y"), Size: 7, Broken: true}}},
		{"end inside a name", "data: x\n\ndat", []Event{{Data: []byte("x"), Size: 9}}},
		{"colons in data", "data: a:b: c\n\n", []Event{{Data: []byte("a:b: c"), Size: 14}}},
	} {
		for name, next := range map[string]func(int) int{"whole": whole, "byte by byte": single} {
			got := decodeIn(c.stream, 1<<20, next)
			for i := range got {
				if len(got[i].Data) == 0 {
					got[i].Data = nil
				}
			}
			if name == "byte by byte" { // the feed of a CRLF may count for what follows
				want := 0
				for i, e := range got {
					want += int(e.Size)
					if i < len(c.want) {
						got[i].Size = c.want[i].Size
					}
				}
				if want > len(c.stream) {
					t.Errorf("%s, %s: sizes make %d of %d", c.name, name, want, len(c.stream))
				}
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s, %s:\n got %+v\nwant %+v", c.name, name, got, c.want)
			}
		}
	}
}

// TestCut: an event beyond the bound is cut, once, and the next is whole.
func TestCut(t *testing.T) {
	stream := "data: 12345\ndata: 6\n\ndata: 12345678\n\ndata: 12345\ndata\n\ndata: abc\n\n"
	for range 50 {
		got := decodeIn(stream, 5, func(left int) int { return 1 + rand.IntN(left) })
		want := []struct {
			data string
			cut  bool
		}{{"12345", true}, {"12345", true}, {"12345", true}, {"abc", false}}
		if len(got) != len(want) {
			t.Fatalf("%d events", len(got))
		}
		for i, w := range want {
			if string(got[i].Data) != w.data || got[i].Cut != w.cut {
				t.Errorf("event %d: %q, cut %v", i, got[i].Data, got[i].Cut)
			}
		}
	}
}

// TestBounded: no line makes the decoder hold more than it may.
func TestBounded(t *testing.T) {
	d := New(1000)
	for _, field := range []string{"data: ", "id: ", ": ", "event: ", "retry: ", "nobody knows this: ", ""} {
		d.Feed([]byte(field), func(*Event) {})
		for range 1000 {
			d.Feed(bytes.Repeat([]byte("x"), 1000), func(*Event) {})
		}
		d.Feed([]byte("\n"), func(*Event) {})
		if cap(d.data) > 1<<13 || cap(d.value) > 4*maxValue || len(d.event.ID)+len(d.event.Name) > 2*maxValue {
			t.Errorf("%q: %d of data, %d of a value held", field, cap(d.data), cap(d.value))
		}
	}
	for range 1000 {
		d.Feed([]byte(": "+strings.Repeat("x", 100)+"\n"), func(*Event) {})
	}
	if n := len(d.event.Comment); n > maxValue {
		t.Errorf("%d bytes of comments held", n)
	}
}

// TestLost: after a hole, decoding goes on at the next event.
func TestLost(t *testing.T) {
	var got []string
	keep := func(e *Event) { got = append(got, string(e.Data)) }
	d := New(100)
	d.Feed([]byte("data: one\n\ndata: tw"), keep)
	if !d.Lost() {
		t.Error("nothing was there of the event that is lost")
	}
	d.Feed([]byte("\ndata: rest\n\ndata: three\n\n"), keep)
	if d.Lost() {
		t.Error("something was there between two events")
	}
	d.Feed([]byte("data: part of one lost\n\ndata: four\n\n"), keep)
	if want := []string{"one", "three", "four"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	d.Lost()
	d.Feed([]byte("data: x"), keep)
	d.End(keep)
	if len(got) != 3 {
		t.Errorf("got %q after the end", got[3:])
	}
}

// FuzzDecode: however a stream is cut into pieces, it is decoded as a plain decoder
// that has it whole decodes it.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"data: x\n\n", "\xEF\xBB\xBFdata: x\r\rid: 1\r\n\r\n", ": c\ndata\ndata:\n\nretry: 5\n\n", "event: endpoint\ndata: /m\n\nda", "\xEFdata\n\n",
	} {
		f.Add(s, uint64(1))
	}
	f.Fuzz(func(t *testing.T, stream string, seed uint64) {
		want := plainDecode(stream)
		rng := rand.New(rand.NewPCG(seed, 1))
		for name, next := range map[string]func(int) int{
			"whole": whole, "single": single, "random": func(left int) int { return 1 + rng.IntN(left) },
		} {
			got := decodeIn(stream, 1<<20, next)
			for i := range got {
				got[i].Size = 0
				if len(got[i].Data) == 0 {
					got[i].Data = nil
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s of %q:\n got %+v\nwant %+v", name, stream, got, want)
			}
		}
	})
}

// plainDecode is the grammar, read off.
func plainDecode(stream string) (events []Event) {
	stream = strings.TrimPrefix(stream, "\xEF\xBB\xBF")
	var lines []string
	for stream != "" {
		i := strings.IndexAny(stream, "\r\n")
		if i < 0 {
			lines = append(lines, stream)
			break
		}
		n := i + 1
		if strings.HasPrefix(stream[i:], "\r\n") {
			n++
		}
		lines, stream = append(lines, stream[:i]), stream[n:]
	}
	var e Event
	any, datas := false, 0
	end := func() {
		if any {
			events = append(events, e)
		}
		e, any, datas = Event{}, false, 0
	}
	for _, line := range lines {
		if line == "" {
			end()
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		known := true
		switch name {
		case "":
			if e.Comment != "" {
				e.Comment += "\n"
			}
			e.Comment += value
		case "data":
			if datas++; datas > 1 {
				e.Data = append(e.Data, '\n')
			}
			e.Data = append(e.Data, value...)
		case "event":
			e.Name = value
		case "id":
			if !strings.Contains(value, "\x00") {
				e.ID = value
			}
		case "retry":
			if n, ok := digits([]byte(value)); ok {
				e.Retry = n
			}
		default:
			known = false
		}
		any = any || known
	}
	if any {
		e.Broken = true
		end()
	}
	return events
}
