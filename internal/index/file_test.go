package index

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/statedir"
)

// indexed is a world with an index that holds.
func indexed(t *testing.T) (*world, string) {
	t.Helper()
	w := newWorld(t)
	w.put("a.jsonl", lines("a", 1, 3, true), false)
	w.put("b.jsonl", lines("b", 1, 2, false), false)
	w.later(time.Minute)
	w.judge(1)
	w.folds(0)
	text, err := os.ReadFile(w.o.Path)
	if err != nil {
		t.Fatal(err)
	}
	return w, string(text)
}

// A file that is damaged, foreign or of another version is as good as none.
func TestGarbled(t *testing.T) {
	w, text := indexed(t)
	for name, garbled := range map[string]string{
		"empty":           "",
		"only a head":     magic,
		"torn":            text[:len(text)-1],
		"torn early":      text[:len(magic)+4],
		"longer":          text + "x",
		"foreign":         "{\"version\":1}\n",
		"another version": strings.Replace(text, magic, "mcpsnoop index 999\n", 1),
		"a bit":           text[:len(text)/2] + string(text[len(text)/2]^1) + text[len(text)/2+1:],
		"another build":   string(encode("b2", w.dir, nil)),
		"another home":    string(encode("b1", w.dir+"x", nil)),
	} {
		t.Run(name, func(t *testing.T) {
			w.TB = t
			if err := os.WriteFile(w.o.Path, []byte(garbled), 0o600); err != nil {
				t.Fatal(err)
			}
			w.folds(2)
			w.folds(0)
		})
	}
	w.o.Build = "b2"
	w.folds(2)
	os.Remove(w.o.Path)
	if err := os.Mkdir(w.o.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if x := w.read(w.o); x.Folded != 2 || x.Write == nil {
		t.Errorf("with a directory in place of the file %d logs were folded: %v", x.Folded, x.Write)
	}
}

// What is wrong and has the right checksum may say anything, and does no harm.
func TestForged(t *testing.T) {
	w, text := indexed(t)
	at := len(magic) + crc32.Size
	for i := at; i < len(text); i++ {
		for _, b := range []byte{0, 0x7f, 0xff, text[i] + 1} {
			forged := []byte(text)
			forged[i] = b
			binary.LittleEndian.PutUint32(forged[len(magic):], crc32.Checksum(forged[at:], crcs))
			for _, r := range decode(string(forged), w.o.Build, w.dir) {
				r.complete()
			}
			if i%50 > 0 {
				continue
			}
			if err := os.WriteFile(w.o.Path, forged, 0o600); err != nil {
				t.Fatal(err)
			}
			w.read(w.o)
		}
	}
}

// Where nothing can be written, everything works.
func TestNoCache(t *testing.T) {
	w, _ := indexed(t)
	w.o.Path = filepath.Join(w.o.Path, "below", "a", "file")
	for range 2 {
		x := w.read(w.o)
		if x.Folded != 2 || x.Write == nil {
			t.Errorf("%d folded, %v", x.Folded, x.Write)
		}
		w.agrees(x)
	}
	w.o.Path = ""
	if x := w.read(w.o); x.Folded != 2 || x.Write != nil {
		t.Errorf("%d folded, %v", x.Folded, x.Write)
	}
	w.judge(1)
}

func TestPrivateAndPruned(t *testing.T) {
	w, _ := indexed(t)
	dir := filepath.Dir(w.o.Path)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(w.o.Path); err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for name, days := range map[string]int{"old" + fileExt: 31, "young" + fileExt: 29, "old.other": 31} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := w.now.Add(-24 * time.Hour * time.Duration(days))
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	w.o.Path = filepath.Join(dir, "other"+fileExt)
	w.read(w.o)
	for name, want := range map[string]bool{"old" + fileExt: false, "young" + fileExt: true, "old.other": true, "x" + fileExt: true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLocate(t *testing.T) {
	xdg, user := t.TempDir(), t.TempDir()
	env := func(value string) func(string) string {
		return func(name string) string { return map[string]string{"XDG_CACHE_HOME": value}[name] }
	}
	cache := func() (string, error) { return user, nil }
	dir := statedir.Dir("home")
	base := func(path string) string { return filepath.Dir(filepath.Dir(filepath.Dir(path))) }
	if got := Locate(dir, "1", env(xdg), cache); base(got) != xdg {
		t.Errorf("%q is not below %q", got, xdg)
	}
	if got := Locate(dir, "1", env("relative"), cache); base(got) != user {
		t.Errorf("%q is not below %q", got, user)
	}
	if got := Locate(dir, "1", env(""), func() (string, error) { return "", errors.New("none") }); got != "" {
		t.Errorf("%q without a cache directory", got)
	}
	seen := map[string]bool{}
	for _, dir := range []statedir.Dir{"a", "b"} {
		for _, build := range []string{"1", "2"} {
			seen[Locate(dir, build, env(xdg), cache)] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("directories and builds share a file: %v", seen)
	}
}
