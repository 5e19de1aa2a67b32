package index

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"mcpsnoop/internal/statedir"
)

// saveEvery is how often a long build is saved, for whoever interrupts it.
const saveEvery = 10 * time.Second

// progressEvery is after how many bytes of one log progress is told.
const progressEvery = 256 << 10

// foldAll folds logs, one a core, and puts what they hold where it belongs.
func (r *reading) foldAll(stale []int) {
	if len(stale) == 0 {
		return
	}
	// A long log that came last would keep one core busy and leave the others idle.
	slices.SortFunc(stale, func(a, b int) int { return cmp.Compare(r.index.Logs[b].Size, r.index.Logs[a].Size) })
	p := &progress{tell: r.o.Progress}
	for _, i := range stale {
		p.total += r.index.Logs[i].Size
	}
	var next atomic.Int64
	done := make(chan folded, len(stale)) // nobody is left waiting when what follows panics
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(stale)) {
		workers.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(stale) {
					return
				}
				done <- r.foldOne(stale[n], p)
			}
		})
	}
	go func() { workers.Wait(); close(done) }()
	saved := time.Now()
	for d := range done {
		if d.panicked != "" {
			panic(d.panicked) // here, where it can be caught
		}
		r.held[d.log] = d.record
		if now := time.Now(); now.Sub(saved) > saveEvery {
			r.save()
			saved = now
		}
	}
}

// folded is what became of a log.
type folded struct {
	log      int
	record   *record
	panicked string
}

// foldOne folds log i of the index.
func (r *reading) foldOne(i int, p *progress) (d folded) {
	d.log = i
	defer func() {
		if why := recover(); why != nil {
			d.panicked = fmt.Sprintf("fold log %q: %v\n%s", r.index.Logs[i].Paths[0], why, debug.Stack())
		}
	}()
	log := &r.index.Logs[i]
	// Asked first: a log that is idle now and keeps its stamps was so all the time.
	state, _ := log.State()
	log.Live = state == statedir.Live
	var unsaid, said int64
	fresh := newRecord(r.dir, &log.Entry)
	fresh.idle = state == statedir.Idle
	fresh.sessions, log.Err = r.o.fold(&log.Entry, func(bytes int64) {
		if unsaid += bytes; unsaid >= progressEvery {
			p.add(unsaid)
			unsaid, said = 0, said+unsaid
		}
	})
	p.add(log.Size - said)
	fresh.none = none(log.Err)
	// Written and read again, what was folded looks as if it came from the file.
	written := fresh.write()
	log.Sessions = fresh.sessions
	if written && settled(&log.Entry, r.now) && (log.Err == nil || fresh.none != "") {
		d.record = fresh
	}
	return d
}

// progress counts the bytes of all logs being folded.
type progress struct {
	tell  func(done, total int64)
	done  atomic.Int64
	total int64
}

func (p *progress) add(bytes int64) {
	if done := p.done.Add(bytes); p.tell != nil {
		p.tell(min(done, p.total), p.total)
	}
}
