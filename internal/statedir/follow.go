package statedir

import (
	"context"
	"fmt"
	"time"

	"mcpsnoop/internal/capture"
)

// How often following looks: at logs on screen, at others that are live, and at
// everything else. The directory is listed at once when it changed; where it holds so
// much that listing takes long, it is listed less often otherwise.
const (
	screenPoll = 50 * time.Millisecond
	livePoll   = 250 * time.Millisecond
	listPoll   = time.Second
	listShare  = 200 // listing takes at most one part of the time in so many
)

// turnFrames is how many frames of one log are handed out before others have their
// turn.
const turnFrames = 4096

// EventKind says what an Event is about.
type EventKind uint8

// The kinds of events.
const (
	Listed   EventKind = iota // Listing: the directory holds other logs, or more of them, than before
	Read                      // Frame, Ref: the next frame of Log
	BadLine                   // Err, a *capture.LineError: a line of Log that is no frame
	Again                     // Err, an *AgainError: what was read of Log is void, it is read from its start
	CaughtUp                  // all there is of Log was handed out
	Became                    // State: whether anybody writes Log; said first when it was caught up with
	Gone                      // Log was deleted
	Trouble                   // Err: Log, or the directory if it is nil, cannot be read now
	Turned                    // every log that was due has been looked at once; said if Turns asks for it
)

// Event is one thing that happened to the logs that are followed. It and all it
// points to hold until the handler returns.
type Event struct {
	Kind    EventKind
	Log     *Entry
	Frame   *capture.Frame
	Ref     capture.Ref
	State   State
	Err     error
	Listing *Listing
}

// Follower reads logs while they grow, by looking at them again and again. A line is
// handed out when its newline is there, or when nobody writes the log any more.
// Compressed logs are listed and not followed: they do not grow.
type Follower struct {
	Dir  Dir     // whose logs are listed and followed; "" for none
	Logs []Entry // followed besides, as if on screen
	// Want says which logs of Dir are read; nil: all. It is asked anew whenever the
	// directory was listed. A log wanted again is read from its start.
	Want func(*Entry) bool
	// OnScreen says which logs of Dir somebody is looking at.
	OnScreen func(*Entry) bool
	// Decoder returns what decodes the lines of a file; nil: our own format.
	Decoder func(path string) capture.LineDecoder
	// Turns asks for Turned, which puts together what several logs brought.
	Turns bool
	// Wake, if set, makes it look at once: whoever writes a log says so on it.
	Wake <-chan struct{}
	// Done, if set, is closed when nothing will be written any more: Run hands out what
	// there is and returns nil.
	Done <-chan struct{}

	run *following // what has been run so far
}

// Run follows until ctx ends or handle returns an error, and returns that error. It
// calls handle from the calling goroutine and starts no other. Called again, it goes on
// behind the event that was handled last.
func (w *Follower) Run(ctx context.Context, handle func(*Event) error) error {
	if w.run == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	r := w.run
	r.handle, r.ctx = handle, ctx
	defer r.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	last := false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.Done:
			if !last {
				r.probed = time.Time{} // the log may have gone on in a part nobody has seen
			}
			last = true
		case <-w.Wake:
		case <-timer.C:
		}
		wait, err := r.turn(time.Now())
		if err == nil && w.Turns {
			err = handle(&Event{Kind: Turned})
		}
		if err != nil || last && wait > 0 {
			return err
		}
		timer.Reset(wait)
	}
}

func (w *Follower) begin() error {
	r := &following{Follower: w, decoder: w.Decoder}
	if r.decoder == nil {
		own := new(capture.Decoder)
		r.decoder = func(string) capture.LineDecoder { return own }
	}
	for i := range w.Logs {
		switch e := &w.Logs[i]; {
		case len(e.Paths) == 0:
			return fmt.Errorf("follow log %q: it has no files", e.ID)
		case e.Packed():
			return fmt.Errorf("follow log %q: it is compressed", e.ID)
		default:
			r.add(e, true)
		}
	}
	w.run = r
	return nil
}
