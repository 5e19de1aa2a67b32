package judge

import (
	"errors"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
)

// Group is what several rows say of one frame for one reason: one thing that was found.
type Group struct {
	*Finding     // of the first of the rows
	Rows     int // that say it
}

// Grouped returns the findings of a report, in the order of its rows. more counts those
// that it does not list, a clause for each check.
func (r *Report) Grouped() (list []Group, more map[*Clause]int) {
	type same struct {
		check  *Check
		seq    uint64
		detail string
	}
	known, counted := map[same]int{}, map[*Check]bool{}
	more = map[*Clause]int{}
	for _, rows := range append([]Rows{r.Rows}, r.Also...) {
		for i := range rows.List {
			row := &rows.List[i]
			if row.More > 0 && !counted[row.Clause.Checks[0]] {
				counted[row.Clause.Checks[0]] = true
				more[row.Clause] += row.More
			}
			for j := range row.Findings {
				f := &row.Findings[j]
				key := same{f.Check, f.Seq, f.Detail}
				if at, ok := known[key]; ok {
					list[at].Rows++
					continue
				}
				known[key] = len(list)
				list = append(list, Group{f, 1})
			}
		}
	}
	return list, more
}

// Fold is [session.Fold] with a judge beside the reducer, which may be nil. do may be nil.
func Fold(src session.Source, r *session.Reducer, j *Judge, do func(*capture.Frame, capture.Ref, session.Step) error) error {
	if j == nil {
		return session.Fold(src, r, do)
	}
	err := session.Fold(&watchedSource{src, j}, r, func(f *capture.Frame, ref capture.Ref, st session.Step) error {
		j.Step(f, st)
		if do == nil {
			return nil
		}
		return do(f, ref, st)
	})
	if err == nil {
		j.Finish()
	}
	return err
}

// watchedSource tells the judge what of a log cannot be read.
type watchedSource struct {
	session.Source
	judge *Judge
}

func (s *watchedSource) Next(f *capture.Frame) (capture.Ref, error) {
	ref, err := s.Source.Next(f)
	var bad *capture.LineError
	if errors.As(err, &bad) {
		s.judge.Skip()
	}
	return ref, err
}
