package cli

import (
	"io"
	"sync/atomic"
	"time"
)

// stallable writes to something that may not take it. Whoever writes waits; others can
// see that it does.
type stallable struct {
	w     io.Writer
	since atomic.Int64 // when the write that goes on began, in nanoseconds; 0 while none does
}

func (s *stallable) Write(p []byte) (int, error) {
	s.since.Store(time.Now().UnixNano())
	defer s.since.Store(0)
	return s.w.Write(p)
}

// wait waits for what done brings, but not if a write takes longer than patience. No
// patience means all there is.
func (s *stallable) wait(done <-chan error, patience time.Duration) (err error, ok bool) {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			return err, true
		case now := <-look.C:
			if since := s.since.Load(); patience > 0 && since > 0 && now.UnixNano()-since > int64(patience) {
				return nil, false
			}
		}
	}
}
