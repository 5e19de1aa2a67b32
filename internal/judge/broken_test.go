package judge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// TestBrokenCheck: a check that panics is told of once, and run no more in its session; what it
// found before stands, other checks see every message, and other sessions have it still.
func TestBrokenCheck(t *testing.T) {
	check := func(id string, do func(e *judge.Event)) *judge.Clause {
		return &judge.Clause{
			ID: id, In: mcp.Legacy, Level: judge.Must, Actor: judge.Server, Section: "x#y", Rule: "Be good.",
			Checks: []*judge.Check{{ID: "test." + id, On: []judge.On{{Kind: judge.Notification, From: judge.Server, Do: do}}}},
		}
	}
	bad := func(e *judge.Event) { e.Bad("seen") }
	reg, err := judge.NewRegistry([]*judge.Clause{check("A-1", bad), check("A-2", func(e *judge.Event) {
		e.Bad("before it fell")
		if e.Seq == 4 {
			panic("fell")
		}
	}), check("A-3", bad)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for tap := 1; tap <= 2; tap++ {
		for seq, line := range []string{
			`"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
			`"s2c","raw":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`,
			`"s2c","raw":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`,
			`"s2c","raw":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":2}}`,
			`"s2c","raw":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":3}}`,
		} {
			if tap == 2 {
				seq += 10
			}
			fmt.Fprintf(&log, `{"session_id":"s-%d-000000000001","server_label":"s","seq":%d,"ts":"2026-01-01T00:00:00Z","transport":"stdio","mono_us":%d,"direction":%s}`+"\n", tap, seq+1, seq, line)
		}
	}
	var broken, found []string
	j := judge.New(judge.Options{
		Registry: reg,
		Broken:   func(i int, check string, reason any) { broken = append(broken, fmt.Sprint(i, check, reason)) },
		Found:    func(i int, f *judge.Finding) { found = append(found, fmt.Sprint(i, f.Clause.ID, f.Seq)) },
	})
	src := capture.OpenStream(capture.Options{}, "test", strings.NewReader(log.String()))
	defer src.Close()
	if err := judge.Fold(src, session.New(session.Options{}), j, nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{"0test.A-2fell"}; !slices.Equal(broken, want) {
		t.Errorf("broken %q, want %q", broken, want)
	}
	want := []string{
		"0A-13", "0A-23", "0A-33", "0A-14", "0A-24", "0A-34", "0A-15", "0A-35",
		"1A-113", "1A-213", "1A-313", "1A-114", "1A-214", "1A-314", "1A-115", "1A-215", "1A-315",
	}
	for i, f := range found {
		found[i] = strings.ReplaceAll(f, " ", "")
	}
	if !slices.Equal(found, want) {
		t.Errorf("found\n%q, want\n%q", found, want)
	}
	for i, n := range []int{2, 3} {
		for _, row := range j.End(i).List {
			want := 3
			if row.Clause.ID == "A-2" {
				want = n
			}
			if len(row.Findings) != want || row.Outcome != judge.Fail {
				t.Errorf("session %d: %s has %d findings and outcome %v, want %d", i, row.Clause.ID, len(row.Findings), row.Outcome, want)
			}
		}
	}
}
