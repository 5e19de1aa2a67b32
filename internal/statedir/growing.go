package statedir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// errAgain says that what was read of a file is not what stands there now.
type errAgain struct{ why string }

func (e errAgain) Error() string { return e.why }

// growing reads a file that others append to. It is held open only while it is
// read, so that on every system it can be deleted. Read returns io.EOF at the end
// of what is there, and more another time.
type growing struct {
	path  string
	at    int64       // what Read returns next
	end   int64       // what was read at all lies before it
	seen  os.FileInfo // the file as looked at last
	known sample      // of what was read, to know the file again
	cut   bool        // at end stood no newline, and that was said
	f     *os.File
}

// look reports whether there is more to read. An errAgain means that the file was
// truncated or replaced: reading must begin anew.
func (g *growing) look() (bool, error) {
	info, err := os.Stat(g.path)
	if err != nil {
		return false, err
	}
	if g.seen != nil {
		if !os.SameFile(info, g.seen) {
			return false, errAgain{"replaced"}
		}
		if info.Size() < g.end {
			return false, errAgain{"truncated"}
		}
		if info.Size() == g.end && info.ModTime().Equal(g.seen.ModTime()) {
			return false, nil
		}
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%q: not a regular file", g.path)
	}
	if err := g.open(info); err != nil {
		return false, err
	}
	g.seen = info
	if info.Size() == g.end {
		g.close()
	}
	return g.f != nil, nil
}

// open opens the file that info is of, and makes sure that what was read of it is
// still there.
func (g *growing) open(info os.FileInfo) error {
	f, err := os.Open(g.path)
	if err != nil {
		return err
	}
	opened, err := f.Stat()
	switch {
	case err != nil:
	case !os.SameFile(opened, info):
		err = errAgain{"replaced"}
	default:
		err = g.recognize(f, info.Size())
	}
	if err != nil {
		f.Close()
		return err
	}
	g.close()
	g.f = f
	return nil
}

// recognize compares what the file holds with what is known of it.
func (g *growing) recognize(f *os.File, size int64) error {
	if err := g.known.compare(f, g.end); err != nil || !g.cut || size == g.end {
		return err
	}
	var next [1]byte
	if _, err := f.ReadAt(next[:], g.end); err != nil {
		return err
	}
	if next[0] != '\n' {
		return errAgain{"continued inside a line that had seemed cut off"}
	}
	return nil
}

func (g *growing) Read(p []byte) (int, error) {
	if g.f == nil {
		return 0, io.EOF
	}
	n, err := g.f.ReadAt(p, g.at)
	if beyond := g.at + int64(n) - g.end; beyond > 0 {
		g.remember(p[int64(n)-beyond : n])
	}
	g.at += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// remember takes note of what was read for the first time.
func (g *growing) remember(p []byte) {
	g.end += int64(len(p))
	g.cut = false
	g.known.add(p)
}

func (g *growing) close() {
	if g.f != nil {
		g.f.Close()
		g.f = nil
	}
}

// sample is the first and the last of a number of bytes: ids stand at the start of a
// log, times at its end.
type sample struct {
	head, tail       [64]byte
	headLen, tailLen int
}

func (s *sample) add(p []byte) {
	s.headLen += copy(s.head[s.headLen:], p)
	if len(p) >= len(s.tail) {
		s.tailLen = copy(s.tail[:], p[len(p)-len(s.tail):])
		return
	}
	keep := min(s.tailLen, len(s.tail)-len(p))
	copy(s.tail[:], s.tail[s.tailLen-keep:s.tailLen])
	s.tailLen = keep + copy(s.tail[keep:], p)
}

// compare says that f does not begin with the end bytes that the sample is of.
func (s *sample) compare(f *os.File, end int64) error {
	var there [len(s.head)]byte
	for _, known := range []struct {
		bytes []byte
		at    int64
	}{
		{s.head[:s.headLen], 0},
		{s.tail[:s.tailLen], end - int64(s.tailLen)},
	} {
		n, err := f.ReadAt(there[:len(known.bytes)], known.at)
		switch {
		case n < len(known.bytes) && errors.Is(err, io.EOF):
			return errAgain{"truncated"}
		case n < len(known.bytes):
			return err
		case !bytes.Equal(there[:n], known.bytes):
			return errAgain{"rewritten"}
		}
	}
	return nil
}
