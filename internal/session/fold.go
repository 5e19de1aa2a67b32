package session

import (
	"errors"
	"io"

	"mcpsnoop/internal/capture"
)

// Source is a log being read, such as a [capture.Log]: its Next returns io.EOF at
// the end, and a *capture.LineError for a line that cannot be read, after which
// reading goes on.
type Source interface {
	Next(*capture.Frame) (capture.Ref, error)
}

// Fold feeds all of a log to r, lines that cannot be read included, and tells it
// that nothing follows. Each frame is given to do, if there is one, with what it
// did; neither may be kept. Fold returns the first error of do or of reading.
func Fold(src Source, r *Reducer, do func(*capture.Frame, capture.Ref, Step) error) error {
	f := new(capture.Frame)
	for {
		ref, err := src.Next(f)
		var bad *capture.LineError
		switch {
		case err == io.EOF:
			r.Finish()
			return nil
		case errors.As(err, &bad):
			r.Skip(bad)
			continue
		case err != nil:
			return err
		}
		step := r.Apply(f, ref)
		if do == nil {
			continue
		}
		if err := do(f, ref, step); err != nil {
			return err
		}
	}
}
