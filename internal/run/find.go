package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NotFoundError says that a text names no run.
type NotFoundError struct {
	Text string
	Near []string // ids like it, nearest first
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no run %q: no trace id and no client process of the recorded sessions begins so", e.Text)
}

// AmbiguousError says that the ids of several runs begin with a text.
type AmbiguousError struct {
	Text string
	IDs  []string // newest first
}

func (e *AmbiguousError) Error() string {
	const most = 8
	var b strings.Builder
	fmt.Fprintf(&b, "run %q is ambiguous, %d ids begin so: ", e.Text, len(e.IDs))
	for i, id := range e.IDs[:min(most, len(e.IDs))] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", id)
	}
	if len(e.IDs) > most {
		b.WriteString(", …")
	}
	return b.String()
}

// Find returns the run that a text names: by its id, by the beginning of just one, with
// the kind of key before it or without, or by the whole process id of its client. The
// error is a *NotFoundError or an *AmbiguousError.
func Find(runs []Run, text string) (*Run, error) {
	want := strings.TrimSpace(text)
	var begin, whole []*Run
	for i := range runs {
		r := &runs[i]
		full := r.full()
		switch {
		case want == r.ID || want == full || want == bare(full):
			return r, nil
		case want == "":
		case strings.HasPrefix(full, want) || strings.HasPrefix(bare(full), want):
			begin = append(begin, r)
			if pid, _, _ := strings.Cut(full, "@"); r.Kind == ByTrace || want == pid || want == bare(pid) {
				whole = append(whole, r)
			}
		}
	}
	if slices.ContainsFunc(whole, func(r *Run) bool { return r.Kind == ByClient }) {
		begin = whole // 970 is process 970 rather than 9701
	}
	switch len(begin) {
	case 0:
		return nil, &NotFoundError{text, near(runs, want)}
	case 1:
		return begin[0], nil
	}
	e := &AmbiguousError{Text: text}
	for _, r := range begin {
		e.IDs = append(e.IDs, r.ID)
	}
	return nil, e
}

// mostNear is how many suggestions are made.
const mostNear = 4

// near returns the ids that have most of a text in common: first those that begin like
// it, equals newest first.
func near(runs []Run, want string) (ids []string) {
	type scored struct {
		id    string
		score int
	}
	list := make([]scored, 0, len(runs))
	for i := range runs {
		full := runs[i].full()
		list = append(list, scored{runs[i].ID, max(common(full, want)-len(runs[i].Kind), common(bare(full), want))})
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	for _, s := range list[:min(mostNear, len(list))] {
		ids = append(ids, s.id)
	}
	return ids
}
