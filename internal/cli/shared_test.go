package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sharedParts is where captures lie that belong to others.
const sharedParts = "../../../shared"

// command runs one command in this process and returns what it wrote.
func command(t *testing.T, args ...string) (code int, stdout, stderr []byte) {
	t.Helper()
	dir := t.TempDir()
	open := func(name string) *os.File {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	in, out, errs := open("in"), open("out"), open("err")
	code = Main(&Env{
		Stdin: in, Stdout: out, Stderr: errs, Now: time.Now, Version: "test",
		Getenv: func(name string) string {
			if name == "MCPSNOOP_HOME" {
				return dir
			}
			return ""
		},
	}, args)
	read := func(f *os.File) []byte {
		defer f.Close()
		f.Seek(0, io.SeekStart)
		b, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	in.Close()
	return code, read(out), read(errs)
}

// TestRealLogs opens every capture there is with check, export and show: a frame for
// each line that is not the recorder's own.
func TestRealLogs(t *testing.T) {
	if _, err := os.Stat(sharedParts); err != nil {
		t.Skipf("captures of others are not here: %v", err)
	}
	for _, kind := range []string{"real-logs", "corpus", "cases"} {
		filepath.WalkDir(filepath.Join(sharedParts, kind), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(path, ".jsonl") {
				t.Run(kind+"/"+d.Name(), func(t *testing.T) { openEverywhere(t, path) })
			}
			return nil
		})
	}
}

func openEverywhere(t *testing.T, path string) {
	lines, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	var seqs []uint64
	for line := range bytes.Lines(lines) {
		var f struct {
			Seq       uint64
			Direction string
		}
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, f.Seq)
		if f.Direction != "meta" {
			want++
		}
	}
	code, stdout, stderr := command(t, "check", path)
	if code != exitYes && code != exitNo || len(stderr) > 0 {
		t.Errorf("check exits with %d: %s", code, stderr)
	}
	if !bytes.HasPrefix(stdout, []byte("session ")) {
		t.Errorf("check says %q", stdout)
	}
	code, stdout, stderr = command(t, "export", path)
	var doc struct {
		Version  int
		Session  struct{ Frames int }
		Sessions []struct{ Session struct{ Frames int } }
		Events   []json.RawMessage
	}
	if err := json.Unmarshal(stdout, &doc); err != nil || code != exitYes || doc.Version != 1 {
		t.Fatalf("export exits with %d, %v: %s", code, err, stderr)
	}
	frames := doc.Session.Frames
	for _, s := range doc.Sessions {
		frames += s.Session.Frames
	}
	if frames != want {
		t.Errorf("%d frames, want the %d lines that are not meta", frames, want)
	}
	if len(doc.Events) < want { // a batch in one line gives more
		t.Errorf("%d events of %d lines", len(doc.Events), want)
	}
	if code, _, stderr := command(t, "export", "-T", "text", path); code != exitYes {
		t.Errorf("export as text exits with %d: %s", code, stderr)
	}
	for _, seq := range []uint64{seqs[0], seqs[len(seqs)/2], seqs[len(seqs)-1]} {
		if code, stdout, stderr := command(t, "show", path, strconv.FormatUint(seq, 10)); code != exitYes || len(stdout) == 0 {
			t.Errorf("show %d exits with %d: %s", seq, code, stderr)
		}
	}
}
