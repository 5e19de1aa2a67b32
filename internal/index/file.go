package index

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcpsnoop/internal/statedir"
)

// Limits of what is written, and believed when it is read.
const (
	maxFile   = 1 << 30
	maxRecord = 16 << 20
)

// keepOld is how long the file of another build lies about untouched before it is
// deleted.
const keepOld = 30 * 24 * time.Hour

const fileExt = ".index"

var (
	magic = fmt.Sprintf("mcpsnoop index %d\n", formatVersion)
	crcs  = crc32.MakeTable(crc32.Castagnoli)
)

// Locate returns the path of the index of a state directory for a build of the
// program: below XDG_CACHE_HOME, else below the user's cache directory; "" if there is
// none.
func Locate(dir statedir.Dir, build string, getenv func(string) string, userCache func() (string, error)) string {
	base := getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(base) {
		var err error
		if base, err = userCache(); err != nil || !filepath.IsAbs(base) {
			return ""
		}
	}
	name := fmt.Sprintf("%s-v%d-%s%s", short(string(dir), 8), formatVersion, short(build, 4), fileExt)
	return filepath.Join(base, "mcpsnoop", "index", name)
}

func short(text string, bytes int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:bytes])
}

// file is an index as it was read.
type file struct {
	dir     statedir.Dir
	seen    statedir.Stamp     // zero if there was none
	records map[string]*record // by name
}

// load reads the file; whatever is wrong with it, it is as if there were none.
// Sessions are read by record.complete.
func (o *Options) load(dir statedir.Dir) *file {
	f := &file{dir: dir}
	if o.Path == "" {
		return f
	}
	info, err := os.Stat(o.Path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return f
	}
	f.seen = statedir.StampOf(info)
	if o.Rebuild {
		return f
	}
	in, err := os.Open(o.Path)
	if err != nil {
		return f
	}
	defer in.Close()
	var text strings.Builder
	text.Grow(int(info.Size()))
	if _, err := io.Copy(&text, io.LimitReader(in, maxFile)); err != nil {
		return f
	}
	f.records = decode(text.String(), o.Build, dir)
	return f
}

// decode reads the text of an index, nil if it is none or that of others.
func decode(text, build string, dir statedir.Dir) map[string]*record {
	rest, ours := strings.CutPrefix(text, magic)
	if !ours || len(rest) < crc32.Size {
		return nil
	}
	sum, rest := rest[:crc32.Size], rest[crc32.Size:]
	if binary.LittleEndian.Uint32([]byte(sum)) != checksum(rest) {
		return nil
	}
	c := &codec{in: rest}
	var by, of string
	c.text(&by)
	c.text(&of)
	if by != build || of != string(dir) {
		return nil
	}
	records := map[string]*record{}
	for c.in != "" {
		var raw string
		if c.text(&raw); c.bad {
			return nil
		}
		r := readRecord(raw)
		if r == nil || len(r.parts) == 0 {
			return nil
		}
		records[r.name()] = r
	}
	if c.bad {
		return nil
	}
	return records
}

// checksum of a text that is long, without copying it whole.
func checksum(text string) (sum uint32) {
	var block [16 << 10]byte
	for len(text) > 0 {
		n := copy(block[:], text)
		sum = crc32.Update(sum, crcs, block[:n])
		text = text[n:]
	}
	return sum
}

// of returns the record of a log if it is of the log as it is, nil otherwise.
func (f *file) of(dir statedir.Dir, log *statedir.Entry) *record {
	if len(log.Paths) == 0 || len(f.records) == 0 {
		return nil
	}
	r := f.records[relative(dir, log.Paths[0])]
	if r == nil || len(r.parts) != len(log.Paths) {
		return nil
	}
	for i, p := range r.parts {
		if p.stamp != log.Stamps[i] || i > 0 && p.path != relative(dir, log.Paths[i]) {
			return nil
		}
	}
	return r
}

// relative names a file of the directory independently of where that is.
func relative(dir statedir.Dir, path string) string {
	rest, ok := strings.CutPrefix(path, string(dir))
	if !ok {
		return path
	}
	return strings.TrimPrefix(filepath.ToSlash(rest), "/")
}

// replace writes a file of these records, nil ones apart, and puts it in the place of
// the one that was read. Findings that somebody else added meanwhile are kept.
func (f *file) replace(o *Options, records []*record) error {
	dir := filepath.Dir(o.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create cache directory: %w", err)
	}
	if info, err := os.Stat(o.Path); err == nil && statedir.StampOf(info) != f.seen {
		again := *o
		again.Rebuild = false
		records = again.load(f.dir).judged(records)
	}
	if err := writeFile(o.Path, encode(o.Build, f.dir, records)); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	if f.seen == (statedir.Stamp{}) {
		prune(dir, o.now())
	}
	if info, err := os.Stat(o.Path); err == nil {
		f.seen = statedir.StampOf(info)
	}
	return nil
}

// judged returns records with the findings that f has of them and they lack.
func (f *file) judged(records []*record) []*record {
	records = slices.Clone(records)
	for i, r := range records {
		if r == nil || r.findings != nil {
			continue
		}
		other := f.records[r.name()]
		if other != nil && other.findings != nil && slices.Equal(other.parts, r.parts) {
			records[i] = other
		}
	}
	return records
}

func encode(build string, dir statedir.Dir, records []*record) []byte {
	size := 4 << 10
	for _, r := range records {
		if r != nil {
			size += len(r.raw) + binary.MaxVarintLen32
		}
	}
	c := &codec{writing: true, out: make([]byte, 0, size)}
	c.out = append(append(c.out, magic...), 0, 0, 0, 0)
	home := string(dir)
	c.text(&build)
	c.text(&home)
	for _, r := range records {
		if r != nil && (r.raw != "" || r.write()) && len(r.raw) <= maxRecord && len(c.out)+len(r.raw) < maxFile {
			c.text(&r.raw)
		}
	}
	at := len(magic)
	binary.LittleEndian.PutUint32(c.out[at:], crc32.Checksum(c.out[at+crc32.Size:], crcs))
	return c.out
}

// writeFile puts a file at path, whole or not at all.
func writeFile(path string, content []byte) error {
	// What a process that was killed left behind looks like an old index.
	temp, err := os.CreateTemp(filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), fileExt)+"-*"+fileExt) // mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}

// prune deletes files that nobody has written to for long: those of earlier builds,
// and of state directories that are no more. Whoever needs one makes it again.
func prune(dir string, now time.Time) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, name := range names {
		info, err := name.Info()
		if err == nil && info.Mode().IsRegular() && filepath.Ext(name.Name()) == fileExt && now.Sub(info.ModTime()) > keepOld {
			os.Remove(filepath.Join(dir, name.Name()))
		}
	}
}
