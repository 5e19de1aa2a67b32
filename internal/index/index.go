// Package index is one derived file that says what each log of a state directory
// holds, so that finding something among thousands of sessions reads a file and not
// the logs.
//
// A record holds as long as the files of its log keep their stamps; a log that
// changed, a live one for example, is folded again from its start. Whoever reads the
// index brings it up to date and puts a new file in place of the old one, with a
// rename: readers and writers need not know of each other, and the worst that can
// happen is that something is folded once more. The file decides nothing but how long
// that takes: without it, with one that is damaged or of another version, and where
// none can be written, everything works and is slower. What stands in it is never
// opened, only compared with what the directory holds.
package index

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/run"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
)

// Options say where the index lies and who reads it. The zero value is no file, so
// that every log is folded.
type Options struct {
	Path  string           // of the file, see Locate; "" for none
	Build string           // what folds and judges: the file of another build is not read
	Now   func() time.Time // nil for time.Now
	// Decoder decodes the lines of a log by its name, nil: our own format.
	Decoder func(path string) capture.LineDecoder
	// Progress, if set, is told how many bytes of the logs that have to be folded are.
	// It is called by several goroutines at once.
	Progress func(done, total int64)
	Rebuild  bool // take nothing from the file
}

func (o *Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// Log is one log and what it holds.
type Log struct {
	statedir.Entry
	Live     bool
	Sessions []session.Header // without texts that may be long: instructions, capabilities, command lines and the like
	Findings []int            // of each session; nil where nobody has judged the log as it is
	Err      error            // why it could not be read
}

// Runs returns what grouping needs to know of the sessions.
func (l *Log) Runs() []run.Session {
	list := make([]run.Session, len(l.Sessions))
	for i := range l.Sessions {
		list[i] = run.Of(&l.Sessions[i])
		if l.Findings != nil {
			list[i].Findings = &l.Findings[i]
		}
	}
	return list
}

// Index is what a state directory holds.
type Index struct {
	Logs     []Log   // last written first
	Problems []error // as in statedir.Listing
	Folded   int     // how many logs had to be
	Write    error   // why no file could be written, which does no harm
}

// Read returns what is in each log of the directory, and brings the index up to date.
func Read(dir statedir.Dir, o Options) (*Index, error) {
	now := o.now() // before anything is looked at
	loading := make(chan *file, 1)
	go func() {
		f := o.load(dir)
		for name, held := range f.records {
			if !held.complete() {
				delete(f.records, name)
			}
		}
		loading <- f
	}()
	listing, err := dir.List()
	f := <-loading
	if err != nil {
		return nil, err
	}
	r := &reading{
		o: &o, dir: dir, file: f, now: now,
		index: &Index{Problems: listing.Problems, Logs: make([]Log, len(listing.Logs))},
		held:  make([]*record, len(listing.Logs)),
	}
	var stale []int
	for i := range listing.Logs {
		r.index.Logs[i].Entry = listing.Logs[i]
		if !r.holds(i) {
			stale = append(stale, i)
		}
	}
	r.index.Folded = len(stale)
	r.foldAll(stale)
	r.save()
	return r.index, nil
}

// reading is one call of Read.
type reading struct {
	o     *Options
	dir   statedir.Dir
	file  *file
	now   time.Time
	index *Index
	held  []*record // of each log of the index; nil if unknown so far or not to be kept
}

// holds takes what the file says of log i, and reports whether that holds.
func (r *reading) holds(i int) bool {
	log := &r.index.Logs[i]
	held := r.file.of(r.dir, &log.Entry)
	if held == nil {
		return false
	}
	if !held.idle {
		state, _ := log.State()
		log.Live = state == statedir.Live
		if state == statedir.Idle {
			again := *held
			again.idle, again.raw = true, ""
			held = &again
		}
	}
	r.held[i] = held
	log.take(held)
	return true
}

// take fills a log with what its record says.
func (l *Log) take(r *record) {
	l.Sessions, l.Findings = r.sessions, r.findings
	if r.none != "" {
		l.Err = noCapture(r.none)
	}
}

// noCapture is a capture.ErrNoCapture as it was put when the log was read.
type noCapture string

func (e noCapture) Error() string        { return string(e) }
func (e noCapture) Is(target error) bool { return target == capture.ErrNoCapture }

// save writes the file, if it would say something else.
func (r *reading) save() {
	if r.o.Path == "" {
		return
	}
	same := 0
	for _, held := range r.held {
		switch {
		case held == nil:
		case r.file.records[held.name()] == held:
			same++
		default:
			same = -len(r.held)
		}
	}
	if same != len(r.file.records) {
		r.index.Write = r.file.replace(r.o, r.held)
	}
}

// Judgement is how many findings each session of a log has.
type Judgement struct {
	Log      statedir.Entry // as it was before it was opened
	Sessions []session.Header
	Findings []int
}

// Judge adds judgements to the index. Those of a log that has changed since are as good
// as none; one that does not lie in the directory gets none.
func Judge(dir statedir.Dir, o Options, list []Judgement) error {
	if o.Path == "" {
		return nil
	}
	now := o.now()
	f := o.load(dir)
	var records []*record
	for _, j := range list {
		log := &j.Log
		if !lies(dir, log) || !settled(log, now) || len(j.Sessions) != len(j.Findings) {
			continue
		}
		judged, held := newRecord(dir, log), f.of(dir, log)
		if held != nil {
			if slices.Equal(held.findings, j.Findings) {
				continue
			}
			judged.idle = held.idle
		}
		judged.sessions, judged.findings = j.Sessions, j.Findings
		records = append(records, judged)
		delete(f.records, judged.name())
	}
	if len(records) == 0 {
		return nil
	}
	return f.replace(&o, slices.AppendSeq(records, maps.Values(f.records)))
}

// lies reports whether a log lies in the state directory.
func lies(dir statedir.Dir, log *statedir.Entry) bool {
	return len(log.Paths) > 0 && filepath.Dir(log.Paths[0]) == dir.Sessions()
}

// settled reports whether a log that was looked at when it was now cannot change but
// with its stamps.
func settled(log *statedir.Entry, now time.Time) bool {
	return !slices.ContainsFunc(log.Stamps, func(s statedir.Stamp) bool { return !s.Settled(now) })
}

// newRecord returns an empty record of a log.
func newRecord(dir statedir.Dir, log *statedir.Entry) *record {
	r := &record{parts: make([]part, len(log.Paths))}
	for i, path := range log.Paths {
		r.parts[i] = part{relative(dir, path), log.Stamps[i]}
	}
	return r
}

// fold reads a log from its start.
func (o *Options) fold(log *statedir.Entry, read func(bytes int64)) ([]session.Header, error) {
	in, err := capture.OpenLog(capture.Options{Decoder: o.Decoder}, log.Paths...)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := session.New(session.Options{})
	if err := session.Fold(in, r, func(_ *capture.Frame, ref capture.Ref, _ session.Step) error {
		read(int64(ref.Len))
		return nil
	}); err != nil {
		return nil, err
	}
	headers := make([]session.Header, r.Len())
	for i := range headers {
		headers[i] = r.Header(i)
	}
	return headers, nil
}

// none is the text of an error that depends on what the log holds and on nothing else.
func none(err error) string {
	const most = 4 << 10
	if !errors.Is(err, capture.ErrNoCapture) || len(err.Error()) > most {
		return ""
	}
	return err.Error()
}
