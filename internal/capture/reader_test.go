package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// line returns a small frame as a line without its newline.
func line(seq uint64) string {
	return strings.TrimSuffix(string(AppendFrame(nil, &Frame{Tap: "t", Label: "l", Seq: seq, Mono: NoMono, Dir: C2S, Transport: Stdio, Form: Text, Payload: fmt.Append(nil, "line ", seq)})), "\n")
}

// read reads all there is: frames as "line:seq", errors as "line:!cause".
func read(t *testing.T, next func(*Frame) (Ref, error)) (got []string) {
	t.Helper()
	var f Frame
	for {
		ref, err := next(&f)
		var bad *LineError
		switch {
		case err == io.EOF:
			return got
		case errors.As(err, &bad):
			what := "bad"
			for cause, name := range map[error]string{ErrNUL: "nul", ErrLong: "long"} {
				if errors.Is(err, cause) {
					what = name
				}
			}
			if bad.Torn {
				what += " torn"
			}
			got = append(got, fmt.Sprintf("%d:!%s", bad.Line, what))
		case err != nil:
			return append(got, err.Error())
		default:
			if want := fmt.Sprint("line ", f.Seq); string(f.Payload) != want || ref.Seq != f.Seq {
				t.Errorf("frame %d at %+v holds %q", f.Seq, ref, f.Payload)
			}
			got = append(got, fmt.Sprintf("%d:%d", ref.Line, f.Seq))
		}
	}
}

func TestReader(t *testing.T) {
	deep := `{"x":` + strings.Repeat("[", 1000)
	for _, c := range []struct {
		name, log string
		want      string
	}{
		{"empty", "", ""},
		{"one", line(1) + "\n", "1:1"},
		{"no newline at the end", line(1) + "\n" + line(2), "1:1 2:2"},
		{"blank lines count", "\n \r\n\t\n" + line(1) + "\n\n" + line(2) + "\n\n", "4:1 6:2"},
		{"CRLF", line(1) + "\r\n" + line(2) + "\r\n", "1:1 2:2"},
		{"BOM", "\uFEFF" + line(1) + "\n\uFEFF" + line(2) + "\n", "1:1 2:!bad"},
		{"garbled in the middle", line(1) + "\nnonsense\n" + line(2) + "\n" + line(3)[:40] + "\n" + line(4) + "\n", "1:1 2:!bad 3:2 4:!bad 5:4"},
		{"torn", line(1) + "\n" + line(2)[:30], "1:1 2:!bad torn"},
		{"torn at a space", line(1) + "\n ", "1:1"},
		{"NUL line", line(1) + "\n\x00\x00\x00\n" + line(2) + "\n", "1:1 2:!nul 3:2"},
		{"NUL at the end", line(1) + "\n\x00\x00\x00", "1:1 2:!nul torn"},
		{"NUL before a frame", line(1) + "\n\x00\x00" + line(2) + "\n" + line(3) + "\n", "1:1 2:!nul 2:2 3:3"},
		{"NUL before garbage", "\x00\x00x\n" + line(3) + "\n", "1:!nul 1:!bad 2:3"},
		{"NUL inside", line(1)[:20] + "\x00" + line(1)[20:] + "\n" + line(2) + "\n", "1:!bad 2:2"},
		{"deep", deep + "\n" + line(2) + "\n", "1:!bad 2:2"},
		{"too long", line(1) + "\n" + strings.Repeat("x", 200<<10) + "\n" + line(2) + "\n", "1:1 2:!long 3:2"},
		{"a little too long", strings.Repeat("x", 1025) + "\n" + strings.Repeat("x", 1024) + "\n" + line(2), "1:!long 2:!bad 3:2"},
		{"too long and torn", line(1) + "\n" + strings.Repeat("x", 200<<10), "1:1 2:!long torn"},
		{"other JSON", "[]\n1\n{}\n" + line(2), "1:!bad 2:!bad 3:!bad 4:2"},
	} {
		for name, src := range map[string]io.Reader{
			"whole": strings.NewReader(c.log), "byte by byte": iotest.OneByteReader(strings.NewReader(c.log)), "halves": iotest.HalfReader(strings.NewReader(c.log)), "with EOF": iotest.DataErrReader(strings.NewReader(c.log)),
		} {
			if got := strings.Join(read(t, NewReader(src, ReaderOptions{MaxLine: 1024}).Next), " "); got != c.want {
				t.Errorf("%s, read %s\ngot  %s\nwant %s", c.name, name, got, c.want)
			}
		}
	}
}

func TestReaderDeep(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	log := `{"x":` + nested(20000) + "}\n" + strings.Replace(line(2), `"text"`, `"x":`+nested(5000)+`,"text"`, 1) + "\n" + line(3)
	if got := strings.Join(read(t, NewReader(strings.NewReader(log), ReaderOptions{}).Next), " "); got != "1:!bad 2:2 3:3" {
		t.Error(got)
	}
}

func TestLineError(t *testing.T) {
	r := NewReader(strings.NewReader(line(1)+"\nabc\n"+line(2)[:9]), ReaderOptions{Name: "x.jsonl"})
	var f Frame
	r.Next(&f)
	_, err := r.Next(&f)
	want := &LineError{File: "x.jsonl", Line: 2, Offset: int64(len(line(1)) + 1), Len: 3}
	var got *LineError
	if !errors.As(err, &got) || got.Err == nil {
		t.Fatal(err)
	}
	want.Err = got.Err
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if text := err.Error(); !strings.HasPrefix(text, `read log "x.jsonl": line 2: not one JSON value`) {
		t.Error(text)
	}
	if _, err = r.Next(&f); !errors.Is(err, ErrTorn) || !strings.HasPrefix(err.Error(), `read log "x.jsonl": line 3: cut off: `) {
		t.Error(err)
	}
}

func TestReaderFails(t *testing.T) {
	broken := errors.New("device on fire")
	r := NewReader(io.MultiReader(strings.NewReader(line(1)+"\n"+line(2)), iotest.ErrReader(broken)), ReaderOptions{Name: "x"})
	for range 2 { // and again: it does not turn into an end
		if got := read(t, r.Next); !strings.HasSuffix(strings.Join(got, " "), `read log "x": device on fire`) {
			t.Error(got)
		}
	}
	stuck := NewReader(stuckReader{}, ReaderOptions{})
	if _, err := stuck.Next(new(Frame)); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

func TestFollow(t *testing.T) {
	var log bytes.Buffer // gives io.EOF whenever it is empty
	r := NewReader(&log, ReaderOptions{Follow: true, MaxLine: 1024})
	step := func(write, want string, offset, rest int) {
		t.Helper()
		log.WriteString(write)
		if got := strings.Join(read(t, r.Next), " "); got != want {
			t.Errorf("after %.20q: %s, want %s", write, got, want)
		}
		if o, n := r.Rest(); int(o) != offset || int(n) != rest {
			t.Errorf("after %.20q: rest %d at %d, want %d at %d", write, n, o, rest, offset)
		}
	}
	one, two := line(1)+"\n", line(2)+"\n"
	step("", "", 0, 0)
	step(one, "1:1", len(one), 0)
	step(two[:10], "", len(one), 10)
	step(two[10:len(two)-1], "", len(one), len(two)-1)
	at := len(one) + len(two)
	step("\n", "2:2", at, 0)
	long := strings.Repeat("x", 2000)
	step(long, "", at, 2000)
	step(long, "", at, 4000)
	step(long+"\n"+one+two[:5], "3:!long 4:1", at+6001+len(one), 5)
	r.End()
	at += 6001 + len(one)
	step(two[5:len(two)-1], "5:2", at+len(two)-1, 0)
}

// TestReaderMemory reads a huge line among small ones: the buffer grows for it and
// shrinks again; a line beyond the limit is never held.
func TestReaderMemory(t *testing.T) {
	huge := func(n int) io.Reader { return io.LimitReader(repeat('x'), int64(n)) }
	small := strings.Repeat(line(1)+"\n", 2000)
	src := io.MultiReader(strings.NewReader(small), huge(32<<20), strings.NewReader("\n"+strings.Repeat(small, 30)), strings.NewReader(small))
	r := NewReader(src, ReaderOptions{})
	var f Frame
	largest := 0
	for {
		_, err := r.Next(&f)
		largest = max(largest, len(r.buf))
		if err == io.EOF {
			break
		}
	}
	if largest < 32<<20 || largest > 80<<20 || len(r.buf) > bufferSize {
		t.Errorf("the buffer was %d at its largest and is %d at the end", largest, len(r.buf))
	}

	r = NewReader(io.MultiReader(huge(MaxLine+64<<20), strings.NewReader("\n"+line(7)+"\n")), ReaderOptions{MaxLine: 1 << 20})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := strings.Join(read(t, r.Next), " ")
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; got != "1:!long 2:7" || n > 8<<20 {
		t.Errorf("%s after allocating %d bytes", got, n)
	}
}

type repeat byte

func (r repeat) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r)
	}
	return len(b), nil
}

// TestGarbage puts garbage between good lines: none of them is lost, and refs lead
// back to each.
func TestGarbage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var log bytes.Buffer
		for seq := uint64(1); seq <= 20; seq++ {
			if rnd.IntN(2) == 0 {
				garbage := make([]byte, rnd.IntN(300))
				for i := range garbage {
					garbage[i] = "\x00\x00{}[]\":,\\ \r\n\xff1e"[rnd.IntN(16)]
				}
				log.Write(garbage)
				log.WriteByte('\n')
			}
			log.WriteString(line(seq) + "\n")
		}
		checkAllFound(t, log.Bytes(), 20)
	}
}

func checkAllFound(t *testing.T, log []byte, n uint64) {
	t.Helper()
	r := NewReader(bytes.NewReader(log), ReaderOptions{})
	var f Frame
	next := uint64(1)
	for {
		ref, err := r.Next(&f)
		if err == io.EOF {
			break
		}
		var bad *LineError
		if errors.As(err, &bad) {
			if bad.Offset+int64(bad.Len) > int64(len(log)) || bytes.Count(log[:bad.Offset], []byte("\n")) != bad.Line-1 {
				t.Fatalf("no such place: %+v", bad)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if at := log[ref.Offset : ref.Offset+int64(ref.Len)]; bytes.Count(log[:ref.Offset], []byte("\n")) != int(ref.Line)-1 || bytes.IndexByte(at, '\n') >= 0 {
			t.Fatalf("no such line: %+v", ref)
		} else if string(at) == line(next) {
			next++
		}
	}
	if next != n+1 {
		t.Fatalf("frame %d was lost in\n%q", next, log)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("\x00\x00"), []byte("{"), false)
	f.Add([]byte("\n\n\r"), []byte("\uFEFF"), true)
	f.Add([]byte(line(9)[:50]), []byte(line(8)+" x"), true)
	f.Fuzz(func(t *testing.T, before, between []byte, torn bool) {
		var log bytes.Buffer
		for i, garbage := range [][]byte{before, between} {
			log.Write(garbage)
			log.WriteString("\n" + line(uint64(i)+1) + "\n")
		}
		if torn {
			log.Write(before)
		}
		checkAllFound(t, log.Bytes(), 2)
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(line(1)))
	f.Add(AppendFrame(nil, httpSample()))
	f.Add([]byte(`{"session_id":"s","seq":1,"direction":"meta","transport":"http","raw": [] ,"kind":"x","mono_us":9223372036854775,"ts":"0000-01-01T00:00:00-23:59","mcp_param_headers":[{"name":"A"}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var d Decoder
		var got, again Frame
		if d.Decode(line, &got) != nil {
			return
		}
		kept := got.Clone()
		written := AppendFrame(nil, kept)
		if err := d.Decode(written[:len(written)-1], &again); err != nil {
			t.Fatalf("%v\nin %q\nwritten for %q", err, written, line)
		}
		if d := diff(&again, kept); d != "" {
			t.Fatalf("%s\nin %q\nwritten for %q", d, written, line)
		}
	})
}
