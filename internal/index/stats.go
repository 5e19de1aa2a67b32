package index

import (
	"time"

	"mcpsnoop/internal/statedir"
)

// Stats says how an index stands.
type Stats struct {
	Size      int64     // of the file, 0 if there is none that is ours
	Written   time.Time // when it was
	Logs      int       // in the directory
	LogBytes  int64     // of those
	Held      int       // logs of which what the file says holds
	HeldBytes int64     // of those
	Sessions  int       // in those
	Judged    int       // of those, how many have been
}

// Inspect says how the index of a directory stands, and leaves it alone.
func Inspect(dir statedir.Dir, o Options) (Stats, error) {
	var s Stats
	listing, err := dir.List()
	if err != nil {
		return s, err
	}
	f := o.load(dir)
	if f.records != nil {
		s.Size, s.Written = f.seen.Size, time.Unix(0, f.seen.ModTime)
	}
	for i := range listing.Logs {
		log := &listing.Logs[i]
		s.Logs++
		s.LogBytes += log.Size
		if held := f.of(dir, log); held != nil {
			s.Held++
			s.HeldBytes += log.Size
			if held.complete() {
				s.Sessions += len(held.sessions)
			}
			s.Judged += len(held.findings)
		}
	}
	return s, nil
}
