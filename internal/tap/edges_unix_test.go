//go:build unix

package tap

import (
	"fmt"
	"strings"
	"testing"
)

// TestBlockEdges: lines that end just before, at and after the end of a block are
// whole, with either line end.
func TestBlockEdges(t *testing.T) {
	var in strings.Builder
	var want []string
	for n := blockSize - 3; n <= blockSize+3; n++ {
		for _, eol := range []string{"\n", "\r\n"} {
			pad := n - in.Len()%blockSize // its end is near the end of a block of the whole
			for pad < len(`{"n":""}`)+len(eol) {
				pad += blockSize
			}
			line := fmt.Sprintf(`{"n":"%s"}`, strings.Repeat("x", pad-len(`{"n":""}`)-len(eol)))
			in.WriteString(line + eol)
			want = append(want, line+map[string]string{"\n": "", "\r\n": "crlf"}[eol])
		}
	}
	tp := run(t, helperCommand("echo"), nil)
	out := collect(tp.out)
	if _, err := tp.in.WriteString(in.String()); err != nil {
		t.Fatal(err)
	}
	tp.in.Close()
	if r := tp.wait(t); r.ExitCode != 0 || r.Lost != 0 {
		t.Errorf("result %+v", r)
	}
	if string(<-out) != in.String() {
		t.Error("the client got other bytes")
	}
	frames := decode(t, tp.log.text())
	checkOrder(t, frames)
	for _, direction := range []string{"c2s", "s2c"} {
		list := of(direction, frames)
		if len(list) != len(want) {
			t.Fatalf("%s: %d frames, want %d", direction, len(list), len(want))
		}
		for i, f := range list {
			if f.Raw == nil || f.payload()+f.EOL != want[i] {
				t.Errorf("%s: frame %d has %d bytes, eol %q", direction, i, len(f.payload()), f.EOL)
			}
		}
	}
}

// TestCutCopies: of a line beyond the limit the copy is cut at the limit and not a
// byte earlier; the next line is whole, whatever the cut one was.
func TestCutCopies(t *testing.T) {
	const limit = 100
	for n := limit - 2; n <= limit+2; n++ {
		for _, eol := range []string{"\n", "\r\n"} {
			tp := run(t, helperCommand("echo"), func(c *Stdio) { c.Limits.MessageBytes = limit })
			out := collect(tp.out)
			in := strings.Repeat("7", n) + eol + "{}" + eol + strings.Repeat("y", n)
			tp.in.WriteString(in)
			tp.in.Close()
			tp.wait(t)
			if got := string(<-out); got != in {
				t.Errorf("client got %q, want %q", got, in)
			}
			var got []string
			for _, f := range of("s2c", decode(t, tp.log.text())) {
				got = append(got, fmt.Sprintf("%d %v %v %d", len(f.payload()), f.Truncated, f.Raw != nil, f.Size))
			}
			want := []string{
				fmt.Sprintf("%d %v %v %d", min(n, limit), n > limit, n <= limit, n+len(eol)),
				fmt.Sprintf("2 false true %d", 2+len(eol)),
				fmt.Sprintf("%d %v false %d", min(n, limit), n > limit, n),
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d bytes and %q: got %q, want %q", n, eol, got, want)
			}
		}
	}
}
