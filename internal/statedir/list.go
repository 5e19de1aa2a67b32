package statedir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Entry is one log, all its parts together. Its ID is what its file is named, and
// is hostile where the file was not named by us: it stands in no path unless
// [ParseID] accepts it, and in no terminal unescaped.
type Entry struct {
	ID      string
	Label   string    // "" if the id is none of ours
	PID     int       // of the tap, 0 if the id is none of ours
	Paths   []string  // of the parts, in order
	Stamps  []Stamp   // of the parts
	Size    int64     // of all parts
	ModTime time.Time // of the part written last
}

// State says whether anybody writes the log.
func (e *Entry) State() (State, error) { return e.state(LockState) }

// state asks probe of each part, the newest first: that is the one in use. Parts
// that were deleted do not count, unless all were.
func (e *Entry) state(probe func(string) (State, error)) (State, error) {
	idle := false
	var unknown, gone error
	for _, path := range slices.Backward(e.Paths) {
		switch s, err := probe(path); {
		case s == Live:
			return Live, nil
		case errors.Is(err, fs.ErrNotExist):
			gone = err
		case err != nil:
			unknown = err
		default:
			idle = true
		}
	}
	switch {
	case unknown != nil:
		return Unknown, unknown
	case idle:
		return Idle, nil
	}
	return Unknown, gone
}

// add makes the file at path, part n, one of the log's parts.
func (e *Entry) add(path string, info fs.FileInfo) {
	e.Paths = append(e.Paths, path)
	e.Stamps = append(e.Stamps, StampOf(info))
	e.Size += info.Size()
	if info.ModTime().After(e.ModTime) {
		e.ModTime = info.ModTime()
	}
}

// Packed reports whether any part is compressed. Such a log does not grow.
func (e *Entry) Packed() bool {
	return slices.ContainsFunc(e.Paths, func(path string) bool {
		return slices.Contains(packedExts, filepath.Ext(path))
	})
}

func newEntry(id string) *Entry {
	e := &Entry{ID: id}
	e.Label, e.PID, _ = ParseID(id)
	return e
}

// Listing is what a directory of logs holds.
type Listing struct {
	Logs     []Entry // last written first
	Problems []error // one for each file that looks like a log and cannot be read
}

// equal reports whether nothing happened to the directory between two listings.
func (l *Listing) equal(m *Listing) bool {
	return slices.EqualFunc(l.Logs, m.Logs, func(a, b Entry) bool {
		return a.ID == b.ID && a.Size == b.Size && a.ModTime.Equal(b.ModTime) && slices.Equal(a.Paths, b.Paths)
	}) && slices.EqualFunc(l.Problems, m.Problems, func(a, b error) bool {
		return a.Error() == b.Error()
	})
}

// packedExts are the endings of compressed logs, which are read but never written.
var packedExts = []string{".gz", ".zst"}

// logName returns the name of a log without its endings.
func logName(name string) (stem string, packed, ok bool) {
	for _, ext := range packedExts {
		if rest, found := strings.CutSuffix(name, ext); found {
			name, packed = rest, true
			break
		}
	}
	stem, ok = strings.CutSuffix(name, logExt)
	return stem, packed, ok && stem != ""
}

// List returns the logs of the directory, empty ones apart. A directory that does
// not exist holds none.
func (d Dir) List() (Listing, error) {
	names, err := os.ReadDir(d.Sessions())
	if errors.Is(err, fs.ErrNotExist) {
		return Listing{}, nil
	}
	if err != nil && len(names) == 0 {
		return Listing{}, fmt.Errorf("list logs in %w", pathCause(err))
	}
	var l Listing
	if err != nil {
		l.Problems = append(l.Problems, fmt.Errorf("list logs in %w", pathCause(err)))
	}
	parts, problems := d.parts(names)
	l.Problems = append(l.Problems, problems...)
	l.Logs = group(parts)
	return l, nil
}

// logPart is a file that holds a log or a part of one.
type logPart struct {
	id     string
	n      int
	packed bool
	path   string
	info   fs.FileInfo
}

// listShareOf is how many files one of those who look at them looks at, at least: to
// share fewer costs more than it saves.
const listShareOf = 512

// parts looks at the files of these names. What takes long in a large directory is
// waiting for the system, so the cores share it.
func (d Dir) parts(names []fs.DirEntry) (parts []logPart, problems []error) {
	type look struct {
		part    logPart
		problem error
	}
	looks := make([]look, len(names))
	share := max(listShareOf, (len(names)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var others sync.WaitGroup
	for from := 0; from < len(names); from += share {
		upto := min(from+share, len(names))
		one := func() {
			for i := from; i < upto; i++ {
				looks[i].part, looks[i].problem = d.part(names[i])
			}
		}
		if upto == len(names) {
			one()
			break
		}
		others.Go(one)
	}
	others.Wait()
	for i := range looks {
		switch l := &looks[i]; {
		case l.problem != nil:
			problems = append(problems, l.problem)
		case l.part.path != "":
			parts = append(parts, l.part)
		}
	}
	return parts, problems
}

// part looks at a file; zero for one that is no log, or has nothing in it.
func (d Dir) part(name fs.DirEntry) (logPart, error) {
	stem, packed, ok := logName(name.Name())
	if !ok || name.IsDir() {
		return logPart{}, nil
	}
	path := filepath.Join(d.Sessions(), name.Name())
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() {
		if info.Size() == 0 {
			return logPart{}, nil
		}
		err = readable(path)
	}
	switch {
	case err != nil:
		return logPart{}, fmt.Errorf("read log %w", pathCause(err))
	case !info.Mode().IsRegular():
		return logPart{}, fmt.Errorf("read log %q: not a regular file", path)
	}
	id, n := splitPart(stem)
	return logPart{id, n, packed, path, info}, nil
}

// group makes logs of parts. Of a part and its compressed copy the part counts.
func group(parts []logPart) []Entry {
	slices.SortFunc(parts, func(a, b logPart) int {
		return cmp.Or(strings.Compare(a.id, b.id), cmp.Compare(a.n, b.n), compareBool(a.packed, b.packed))
	})
	var logs []Entry
	for i, p := range parts {
		if i == 0 || parts[i-1].id != p.id {
			logs = append(logs, *newEntry(p.id))
		} else if parts[i-1].n == p.n {
			continue
		}
		logs[len(logs)-1].add(p.path, p.info)
	}
	slices.SortFunc(logs, func(a, b Entry) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), strings.Compare(a.ID, b.ID))
	})
	return logs
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// At returns the log that a path names, with the parts that follow it. The path
// of a later part names that part alone.
func At(path string) (Entry, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Entry{}, fmt.Errorf("open log %w", pathCause(err))
	}
	if info.IsDir() {
		return Entry{}, fmt.Errorf("open log %q: is a directory", path)
	}
	id := filepath.Base(path)
	if stem, _, ok := logName(id); ok {
		id = stem
	}
	paths := []string{path}
	if info.Mode().IsRegular() {
		paths = append(paths, laterParts(path)...)
	}
	return measure(id, paths), nil
}

// measure returns the log that consists of the files at paths, as far as they exist.
func measure(id string, paths []string) Entry {
	e := newEntry(id)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			e.add(path, info)
		}
	}
	return *e
}

// laterParts returns the paths of the parts that follow the first part of a log, in
// order. A later part has none.
func laterParts(first string) []string {
	if head, _ := splitPart(first); head != first {
		return nil
	}
	names, err := os.ReadDir(filepath.Dir(first))
	if err != nil {
		return nil
	}
	dir, base := filepath.Split(first)
	found := map[int]string{}
	for _, name := range names {
		head, part := splitPart(name.Name())
		if head == base && part > 1 && name.Type().IsRegular() {
			found[part] = dir + name.Name()
		}
	}
	var paths []string
	for _, part := range slices.Sorted(maps.Keys(found)) {
		paths = append(paths, found[part])
	}
	return paths
}
