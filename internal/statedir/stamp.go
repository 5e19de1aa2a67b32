package statedir

import (
	"io/fs"
	"time"
)

// Stamp tells the file at a path from another that lay or will lie there, and from
// itself with other contents: as long as it is the same, so are they. See
// [Stamp.Settled] for what that takes.
type Stamp struct {
	Size    int64
	ModTime int64 // nanoseconds since 1970
	// What the system says besides, 0 where it says nothing without opening the file.
	Device, File uint64
	Changed      int64 // when contents, names or rights changed: no program can set it
}

// StampOf returns the stamp of a file as info saw it.
func StampOf(info fs.FileInfo) Stamp {
	s := Stamp{Size: info.Size(), ModTime: info.ModTime().UnixNano()}
	s.identify(info.Sys())
	return s
}

// How long after a file was written it may be written again and show the same time:
// clocks of file systems go in steps, those that know whole seconds in steps of two.
const (
	fineStep   = 100 * time.Millisecond
	coarseStep = 2 * time.Second
)

// Settled reports whether a file that was seen to have this stamp at now will have
// another one if it is ever written again, be it with as many bytes.
func (s Stamp) Settled(now time.Time) bool {
	step := fineStep
	if s.ModTime%int64(time.Second) == 0 {
		step = coarseStep
	}
	age := now.Sub(time.Unix(0, s.ModTime))
	return age > step || age < -step // a time to come was set, not written
}
