package tap

import (
	"fmt"
	"strings"
)

// totals is what became of the frames of a tap.
type totals struct {
	frames  uint64 // written to the log, the tap's own included
	lost    uint64 // passed and not written
	removed uint64 // written to a log that was removed meanwhile
	why     []loss
}

type loss struct {
	reason string
	frames uint64
}

func (t *totals) lose(frames uint64, reason string) {
	if frames == 0 {
		return
	}
	t.lost += frames
	for i := range t.why {
		if t.why[i].reason == reason {
			t.why[i].frames += frames
			return
		}
	}
	t.why = append(t.why, loss{reason, frames})
}

// line says what was lost and why, "" if nothing was.
func (t *totals) line() string {
	var parts []string
	if t.lost > 0 {
		var why []string
		for _, l := range t.why {
			why = append(why, fmt.Sprintf("%s: %d", l.reason, l.frames))
		}
		parts = append(parts, fmt.Sprintf("%s not recorded (%s)", frames(t.lost), strings.Join(why, "; ")))
	}
	if t.removed > 0 {
		parts = append(parts, fmt.Sprintf("%s gone with a log that was removed", frames(t.removed)))
	}
	if parts == nil {
		return ""
	}
	return "mcpsnoop: warning: " + strings.Join(parts, ", ")
}

func frames(n uint64) string {
	if n == 1 {
		return "1 frame"
	}
	return fmt.Sprintf("%d frames", n)
}
