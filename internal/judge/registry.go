package judge

import (
	"fmt"
	"math/bits"
	"slices"

	"mcpsnoop/internal/mcp"
)

// Registry is a set of clauses, checks and trackers, ready to be run. It does not change and
// can be used by several judges, at the same time too. Its checks and trackers are its own:
// they know the places of their states in its sessions.
type Registry struct {
	clauses  []*Clause // in the order of reports
	checks   []*Check
	trackers []*Tracker
	slots    int // of checks and trackers; the trackers' come first
	states   int // of those that have one
	before   table
	after    table
	byRev    [mcp.Latest + 1]table // of the checks that decide a clause there
	legacy   table                 // of those of any revision with a handshake
	all      table
	rows     [mcp.Latest + 1][]*Clause
	deciding [][mcp.Latest + 1][]*Clause // by check
	// By check: all revisions with a handshake have its clauses, of the same ids, levels and
	// signals, and without a gate. What it finds is certain before the revision is.
	common []bool
}

// table says whom to call for an event: by kind and side, and by method.
type table [kinds][2]calls

type calls struct {
	any      []call
	byMethod map[string][]call
}

type call struct {
	slot   int
	state  int
	check  *Check     // nil for a tracker
	create func() any // its state
	do     func(*Event)
}

// NewRegistry makes a registry. Clauses stand in the order in which reports list them.
// It fails on what no registry should hold: ids that stand twice, clauses without either
// checks or a reason, checks and trackers of another registry. Where it fails, it has
// taken none of them.
func NewRegistry(clauses []*Clause, trackers []*Tracker) (*Registry, error) {
	r := &Registry{clauses: clauses, trackers: trackers}
	if err := r.addTrackers(); err != nil {
		return nil, err
	}
	known := map[string]*Check{}
	for _, c := range clauses {
		if err := r.addClause(c, known); err != nil {
			return nil, err
		}
	}
	for _, t := range r.trackers {
		t.registry = r
	}
	for _, check := range r.checks {
		check.registry = r
	}
	r.bind()
	return r, nil
}

func (r *Registry) addTrackers() error {
	for i, t := range r.trackers {
		switch {
		case t.registry != nil:
			return fmt.Errorf("tracker %d belongs to another registry", i)
		case slices.Contains(r.trackers[:i], t):
			return fmt.Errorf("tracker %d stands twice", i)
		}
		t.slot, t.state = r.slots, r.states
		r.slots++
		r.states++
		to := &r.after
		if t.Before {
			to = &r.before
		}
		to.add(call{slot: t.slot, state: t.state, create: t.New}, t.On)
	}
	return nil
}

// addClause adds a clause, and of its checks those that are not known by their ids.
func (r *Registry) addClause(c *Clause, known map[string]*Check) error {
	if fault := c.fault(); fault != "" {
		return fmt.Errorf("clause %s %s", c.ID, fault)
	}
	for rev := mcp.Revision(1); rev <= mcp.Latest; rev++ {
		if !c.In.Has(rev) {
			continue
		}
		for _, other := range r.rows[rev] {
			if other.ID == c.ID {
				return fmt.Errorf("clause %s stands twice in %v", c.ID, rev)
			}
		}
		r.rows[rev] = append(r.rows[rev], c)
	}
	for _, check := range c.Checks {
		switch was := known[check.ID]; {
		case was == check:
			continue
		case was != nil:
			return fmt.Errorf("two checks are called %s", check.ID)
		case check.registry != nil:
			return fmt.Errorf("check %s belongs to another registry", check.ID)
		}
		known[check.ID] = check
		check.slot, check.state = r.slots, r.states
		r.slots++
		if check.New != nil {
			r.states++
		}
		r.checks = append(r.checks, check)
	}
	return nil
}

// fault says what a clause lacks, "" if nothing.
func (c *Clause) fault() string {
	switch {
	case len(c.Checks) == 0 && c.Unjudged == "":
		return "has neither checks nor a reason to have none"
	case len(c.Checks) > 0 && c.Unjudged != "":
		return "has checks and a reason to have none"
	case c.In == 0:
		return "is in force at no revision"
	case c.Level == 0:
		return "has no level"
	case c.Actor == 0:
		return "binds nobody"
	case c.Section == "":
		return "names no section"
	case c.Rule == "":
		return "has no rule"
	}
	return ""
}

// MustRegistry is [NewRegistry] for tables that tests have seen: it panics where that fails.
func MustRegistry(clauses []*Clause, trackers []*Tracker) *Registry {
	r, err := NewRegistry(clauses, trackers)
	if err != nil {
		panic(err)
	}
	return r
}

// bind makes the tables.
func (r *Registry) bind() {
	r.common = make([]bool, r.slots)
	r.deciding = make([][mcp.Latest + 1][]*Clause, r.slots)
	for _, check := range r.checks {
		one := call{slot: check.slot, state: check.state, check: check, create: check.New}
		var in mcp.Revisions
		for rev := mcp.Revision(1); rev <= mcp.Latest; rev++ {
			for _, c := range r.rows[rev] {
				for _, by := range c.Checks {
					if by == check {
						r.deciding[check.slot][rev] = append(r.deciding[check.slot][rev], c)
					}
				}
			}
			if len(r.deciding[check.slot][rev]) > 0 {
				in |= 1 << rev
				r.byRev[rev].add(one, check.On)
			}
		}
		if in&mcp.Legacy != 0 {
			r.legacy.add(one, check.On)
		}
		r.all.add(one, check.On)
		r.common[check.slot] = r.isCommon(check)
	}
}

// isCommon reports what Registry.common holds of a check.
func (r *Registry) isCommon(check *Check) bool {
	first := []*Clause(nil)
	for rev := mcp.Revision(1); rev <= mcp.Latest; rev++ {
		if !mcp.HasHandshake(rev) {
			continue
		}
		here := r.deciding[check.slot][rev]
		if first == nil {
			first = here
		}
		if len(here) == 0 || len(here) != len(first) {
			return false
		}
		for i, c := range here {
			if c.ID != first[i].ID || c.Level != first[i].Level || c.Signal != first[i].Signal || c.Gate != "" {
				return false
			}
		}
	}
	return first != nil
}

// Clauses returns all clauses, in order.
func (r *Registry) Clauses() []*Clause { return r.clauses }

// Checks returns all checks, in the order in which clauses name them first.
func (r *Registry) Checks() []*Check { return r.checks }

// In returns the clauses in force at a revision, in order.
func (r *Registry) In(rev mcp.Revision) []*Clause { return r.rows[rev] }

// of returns the clauses of a revision that a check decides.
func (r *Registry) of(check *Check, rev mcp.Revision) []*Clause { return r.deciding[check.slot][rev] }

// place returns the place of a check among the counts of a session.
func (r *Registry) place(slot int) int { return slot - len(r.trackers) }

// always reports whether a check decides a clause at every revision: what it convicts of, no
// revision allows.
func (r *Registry) always(check *Check) bool {
	for _, rev := range mcp.Known() {
		if len(r.of(check, rev)) == 0 {
			return false
		}
	}
	return true
}

// add binds functions to what they ask for.
func (t *table) add(one call, list []On) {
	for _, on := range list {
		from := on.From
		if from == 0 {
			from = Both
		}
		for k := on.Kind; k != 0; k &= k - 1 {
			for side := range 2 {
				if from&(1<<side) == 0 {
					continue
				}
				one.do = on.Do
				t[bits.TrailingZeros16(uint16(k))][side].add(one, on.Methods)
			}
		}
	}
}

func (c *calls) add(one call, methods []string) {
	if methods == nil {
		c.any = append(c.any, one)
		return
	}
	if c.byMethod == nil {
		c.byMethod = map[string][]call{}
	}
	for _, m := range methods {
		c.byMethod[m] = append(c.byMethod[m], one)
	}
}

// of returns whom to call for an event.
func (t *table) of(e *Event) *calls {
	return &t[bits.TrailingZeros16(uint16(e.Kind))][e.From>>1&1]
}
