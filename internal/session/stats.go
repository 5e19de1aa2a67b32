package session

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"mcpsnoop/internal/capture"
)

// stats sums up the client's calls as they end: eight bytes for each answered one.
// A nil stats sums up nothing.
type stats struct {
	tools   map[string]*toolStats
	others  durations // calls that are of no tool, or of one too many
	more    int
	slowest []Call // slowest first
	answers int
	ready   *Stats // as last given out, nil after a change
}

type toolStats struct {
	calls, errors, pending int
	durations              durations
	bytes, most            int64
}

const (
	maxTools   = 4096
	maxSlowest = 5
)

func newStats() *stats { return &stats{tools: map[string]*toolStats{}} }

// tool returns the sums of a call's tool, nil if it calls none.
func (t *stats) tool(c *call) *toolStats {
	if t == nil || c.Method != methodCall || c.Dir != capture.C2S {
		return nil
	}
	t.ready = nil
	return t.tools[c.Target]
}

func (t *stats) began(c *call) {
	if t == nil || c.Method != methodCall || c.Dir != capture.C2S {
		return
	}
	t.ready = nil
	tool := t.tools[c.Target]
	if tool == nil {
		if len(t.tools) >= maxTools {
			t.more++
			return
		}
		tool = new(toolStats)
		t.tools[c.Target] = tool
	}
	tool.calls++
	tool.pending++
}

func (t *stats) pending(c *call, d int) {
	if tool := t.tool(c); tool != nil {
		tool.pending += d
	}
}

func (t *stats) errors(c *call, d int) {
	if tool := t.tool(c); tool != nil {
		tool.errors += d
	}
}

// result takes the size of a result that came after its call was answered.
func (t *stats) result(c *call) {
	if tool := t.tool(c); tool != nil {
		tool.bytes += int64(c.ResultLen)
		tool.most = max(tool.most, int64(c.ResultLen))
	}
}

// answered takes a call that has come to its answer.
func (t *stats) answered(c *call) {
	if t == nil || c.Dir != capture.C2S || c.Expected || c.Call.Stream != nil {
		return
	}
	t.ready = nil
	t.answers++
	took := c.End.Sub(c.Start)
	tool := t.tool(c)
	if tool == nil {
		t.others.add(took)
	} else {
		tool.durations.add(took)
		if c.ResultLen > 0 {
			t.result(c)
		}
	}
	if c.Method == methodCall {
		t.slow(c, took)
	}
}

// slow keeps a call if it is among the slowest.
func (t *stats) slow(c *call, took time.Duration) {
	n := len(t.slowest)
	if n == maxSlowest {
		if last := &t.slowest[n-1]; took <= last.End.Sub(last.Start) {
			return
		}
		t.slowest = t.slowest[:n-1]
	}
	at := sort.Search(len(t.slowest), func(i int) bool {
		return t.slowest[i].End.Sub(t.slowest[i].Start) < took
	})
	t.slowest = slices.Insert(t.slowest, at, c.Clone())
}

// sums returns the statistics as they stand.
func (t *stats) sums() Stats {
	if t == nil {
		return Stats{}
	}
	if t.ready != nil {
		return *t.ready
	}
	sum := Stats{Answered: t.answers, MoreTools: t.more, Slowest: slices.Clone(t.slowest)}
	lists := [][]time.Duration{t.others.sorted()}
	for name, tool := range t.tools {
		list := tool.durations.sorted()
		lists = append(lists, list)
		sum.Tools = append(sum.Tools, ToolStat{
			Name: name, Calls: tool.calls, Errors: tool.errors, Pending: tool.pending,
			P50: rank([][]time.Duration{list}, 50), P95: rank([][]time.Duration{list}, 95), P99: rank([][]time.Duration{list}, 99),
			Bytes: tool.bytes, MaxBytes: tool.most,
		})
	}
	slices.SortFunc(sum.Tools, func(a, b ToolStat) int { return cmp.Compare(a.Name, b.Name) })
	sum.P50, sum.P95, sum.P99 = rank(lists, 50), rank(lists, 95), rank(lists, 99)
	t.ready = &sum
	return sum
}

// durations is a list that is sorted when asked for: a sorted part, and what came since.
type durations struct {
	all  []time.Duration
	upto int // all[:upto] is sorted
}

func (d *durations) add(v time.Duration) { d.all = append(d.all, v) }

// sorted merges what came since into the sorted part.
func (d *durations) sorted() []time.Duration {
	fresh := d.all[d.upto:]
	if len(fresh) == 0 {
		return d.all
	}
	slices.Sort(fresh)
	if d.upto > 0 && fresh[0] < d.all[d.upto-1] {
		if len(fresh) > d.upto/8 {
			slices.Sort(d.all)
		} else {
			d.merge(slices.Clone(fresh))
		}
	}
	d.upto = len(d.all)
	return d.all
}

func (d *durations) merge(fresh []time.Duration) {
	i, j := d.upto-1, len(fresh)-1
	for to := len(d.all) - 1; j >= 0; to-- {
		if i >= 0 && d.all[i] > fresh[j] {
			d.all[to] = d.all[i]
			i--
		} else {
			d.all[to] = fresh[j]
			j--
		}
	}
}

// rank returns the value of nearest rank at a percentile of the union of sorted
// lists, 0 if they are empty.
func rank(lists [][]time.Duration, percent int) time.Duration {
	n, low, high := 0, time.Duration(0), time.Duration(0)
	for _, list := range lists {
		if len(list) > 0 {
			n += len(list)
			high = max(high, list[len(list)-1])
		}
	}
	if n == 0 {
		return 0
	}
	want := (n*percent + 99) / 100
	if len(lists) == 1 {
		return lists[0][want-1]
	}
	// The smallest value that want of all values do not exceed.
	for low < high {
		middle := low + (high-low)/2
		count := 0
		for _, list := range lists {
			at, _ := slices.BinarySearch(list, middle+1)
			count += at
		}
		if count >= want {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
