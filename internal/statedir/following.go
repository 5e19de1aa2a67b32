package statedir

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"mcpsnoop/internal/capture"
)

// following is one run of a Follower.
type following struct {
	*Follower
	ctx     context.Context
	handle  func(*Event) error
	decoder func(path string) capture.LineDecoder
	logs    []*followed
	frame   capture.Frame
	probed  time.Time // when locks were probed last

	listing Listing
	dirTime time.Time // mtime of the directory then
	relist  time.Time // when it is listed again though nothing changed
	trouble string    // said last about the directory
}

// followed is one log that is followed.
type followed struct {
	Entry
	tail    *tail
	fixed   bool // one of Follower.Logs
	changed bool // it must be looked at in this turn
	due     time.Time
	swept   bool // the sweep under way handed something out
	fresh   bool // something was handed out since the last CaughtUp
	caught  bool // CaughtUp was said
	state   State
	why     error  // state is Unknown
	told    State  // said last
	became  bool   // anything was
	gone    bool   // Gone was said
	trouble string // said last
}

func (r *following) add(e *Entry, fixed bool) {
	f := &followed{Entry: *e, fixed: fixed, changed: true, tail: newTail(e.Paths, r.decoder)}
	r.logs = append(r.logs, f)
}

func (r *following) close() {
	for _, f := range r.logs {
		f.tail.close()
	}
}

// turn looks once at whatever is due, and returns how long to wait for the next.
func (r *following) turn(now time.Time) (time.Duration, error) {
	if err := r.list(now); err != nil {
		return 0, err
	}
	probe := now.Sub(r.probed) >= listPoll
	if probe {
		r.probed = now
	}
	wait := livePoll
	for _, f := range r.logs {
		watched := f.fixed || r.OnScreen != nil && r.OnScreen(&f.Entry)
		if f.changed || probe && (watched || f.state == Live) {
			f.probe()
		}
		if f.changed || watched || f.state == Live && !now.Before(f.due) {
			if err := r.read(f); err != nil {
				return 0, err
			}
			f.due = now.Add(livePoll)
			if !f.changed && !watched && f.state != Live {
				f.tail.drop()
			}
		}
		switch {
		case f.changed: // there is more
			wait = 0
		case watched:
			wait = min(wait, screenPoll)
		}
	}
	r.logs = slices.DeleteFunc(r.logs, func(f *followed) bool { return f.gone && !f.fixed })
	return wait, nil
}

// list lists the directory if it changed, or was listed long ago.
func (r *following) list(now time.Time) error {
	if r.Dir == "" {
		return nil
	}
	var dirTime time.Time
	if info, err := os.Stat(r.Dir.Sessions()); err == nil {
		dirTime = info.ModTime()
	}
	first := r.relist.IsZero()
	if now.Before(r.relist) && dirTime.Equal(r.dirTime) {
		return nil
	}
	r.dirTime = dirTime
	listing, err := r.Dir.List()
	r.relist = now.Add(max(listPoll, listShare*time.Since(now)))
	if err != nil {
		return r.sayTrouble(&r.trouble, nil, err)
	}
	r.trouble = ""
	same := !first && r.listing.equal(&listing)
	r.listing = listing
	r.reconcile()
	if same {
		return nil
	}
	return r.handle(&Event{Kind: Listed, Listing: &r.listing})
}

// reconcile follows what the listing holds and is wanted. A log that is not listed
// any more is looked at: it is gone, or it was emptied.
func (r *following) reconcile() {
	listed := map[string]*Entry{}
	for i := range r.listing.Logs {
		listed[r.listing.Logs[i].ID] = &r.listing.Logs[i]
	}
	wanted := func(e *Entry) bool { return !e.Packed() && (r.Want == nil || r.Want(e)) }
	r.logs = slices.DeleteFunc(r.logs, func(f *followed) bool {
		e := listed[f.ID]
		if f.fixed && e != nil && e.Paths[0] == f.Paths[0] {
			delete(listed, f.ID) // once is enough
		}
		if f.fixed {
			return false
		}
		if e == nil {
			f.changed = true
			return false
		}
		delete(listed, f.ID)
		if !wanted(e) {
			f.tail.close()
			return true
		}
		f.update(e)
		return false
	})
	for i := range r.listing.Logs {
		if e := &r.listing.Logs[i]; listed[e.ID] != nil && wanted(e) {
			r.add(e, false)
		}
	}
}

// update takes over what was found out about a log by listing it.
func (f *followed) update(e *Entry) {
	if f.Size == e.Size && f.ModTime.Equal(e.ModTime) && len(f.Paths) >= len(e.Paths) {
		return
	}
	f.Size, f.ModTime, f.changed = e.Size, e.ModTime, true
	f.tail.extend(e.Paths)
	f.Paths = f.tail.paths()
}

// probe finds out whether anybody writes the log. One that seems ended may just have
// gone on in a next part.
func (f *followed) probe() {
	ask := LockState
	if f.state == Live {
		ask = stillLive
	}
	f.state, f.why = f.Entry.state(ask)
	if f.fixed || f.state != Live && f.hasNextPart() {
		e := measure(f.ID, append(f.Paths[:1:1], laterParts(f.Paths[0])...))
		known := len(f.Paths)
		if f.update(&e); len(f.Paths) > known {
			f.state, f.why = f.Entry.state(ask)
		}
	}
	f.changed = f.changed || f.state != f.told
}

func (f *followed) hasNextPart() bool {
	first, n := splitPart(f.Paths[len(f.Paths)-1])
	_, err := os.Stat(partPath(first, n+1))
	return err == nil
}

// read hands out what there is of a log, for one turn.
func (r *following) read(f *followed) error {
	f.changed = false
	for n := 0; n < turnFrames; n++ {
		if n%64 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		ref, err := f.tail.next(&r.frame)
		if err == io.EOF {
			if done, err := r.swept(f); done || err != nil {
				return err
			}
			continue
		}
		if err == errAllGone {
			return r.vanished(f)
		}
		var bad *capture.LineError
		var again *AgainError
		e := Event{Log: &f.Entry, Err: err}
		switch {
		case err == nil:
			e.Kind, e.Frame, e.Ref = Read, &r.frame, ref
		case errors.As(err, &bad):
			e.Kind, e.Ref = BadLine, ref
		case errors.As(err, &again):
			e.Kind = Again
			f.probe()
		default:
			return r.sayTrouble(&f.trouble, &f.Entry, err)
		}
		f.swept, f.fresh, f.gone, f.trouble = true, true, false, ""
		if err := r.handle(&e); err != nil {
			return err
		}
	}
	f.changed = true
	return nil
}

// swept is called when a sweep is over, and reports whether the log is done with for
// this turn. That somebody stopped writing is said after a sweep that found nothing
// more, and after the line that was left unfinished.
func (r *following) swept(f *followed) (done bool, err error) {
	empty := !f.swept
	f.swept = false
	news := !f.became || f.told != f.state
	if news && f.state != Live {
		if !empty {
			return false, nil
		}
		if f.state == Idle && f.tail.finish() {
			return false, nil
		}
	}
	if f.fresh || !f.caught {
		f.fresh, f.caught = false, true
		if err := r.handle(&Event{Kind: CaughtUp, Log: &f.Entry}); err != nil {
			return true, err
		}
	}
	if !news {
		return true, nil
	}
	f.told, f.became = f.state, true
	return true, r.handle(&Event{Kind: Became, Log: &f.Entry, State: f.state, Err: f.why})
}

func (r *following) vanished(f *followed) error {
	if f.gone {
		return nil
	}
	f.gone, f.caught, f.became = true, false, false
	return r.handle(&Event{Kind: Gone, Log: &f.Entry})
}

// sayTrouble says what is in the way, once.
func (r *following) sayTrouble(said *string, e *Entry, err error) error {
	if *said == err.Error() {
		return nil
	}
	*said = err.Error()
	return r.handle(&Event{Kind: Trouble, Log: e, Err: err})
}
