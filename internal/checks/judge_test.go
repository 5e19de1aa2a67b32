package checks

import (
	"errors"
	"flag"
	"io"
	"os"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/capture/foreign"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// only narrows what the tests of whole captures tell to checks of some areas.
var only = flag.String("area", "", "comma-separated areas of checks")

// judged folds a log and judges it. found, if set, is given findings as they appear.
func judged(t testing.TB, src session.Source, o judge.Options) (*judge.Judge, *session.Reducer) {
	t.Helper()
	o.Registry = Registry()
	if o.Broken == nil {
		o.Broken = func(_ int, check string, reason any) { t.Errorf("%s panicked: %v", check, reason) }
	}
	j, r, f := judge.New(o), session.New(session.Options{}), new(capture.Frame)
	for {
		ref, err := src.Next(f)
		var bad *capture.LineError
		switch {
		case err == io.EOF:
			r.Finish()
			j.Finish()
			return j, r
		case errors.As(err, &bad):
			r.Skip(bad)
			j.Skip()
		case err != nil:
			t.Fatal(err)
		default:
			j.Step(f, r.Apply(f, ref))
		}
	}
}

// openLog opens a capture for judged.
func openLog(t testing.TB, path string) *capture.Log {
	t.Helper()
	log, err := capture.OpenLog(capture.Options{Decoder: foreign.NewDecoder}, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}

// shared returns the path of a part of the shared facts, or skips the test where they
// are not at hand.
func shared(t testing.TB, name string) string {
	t.Helper()
	path := "../../../shared/" + name
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s here: %v", name, err)
	}
	return path
}

func revisionsOf(c *judge.Check) (in mcp.Revisions) {
	for _, clause := range Registry().Clauses() {
		for _, by := range clause.Checks {
			if by == c {
				in |= clause.In
			}
		}
	}
	return in
}
