package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// outcomeOf judges lines of a trace, and returns what a check said at a revision.
func outcomeOf(t *testing.T, check *judge.Check, rev mcp.Revision, lines ...string) (subjects, findings int) {
	t.Helper()
	var text strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&text, "{\"seq\":%d,%s}\n", i+1, line)
	}
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	j, _ := judged(t, openLog(t, path), judge.Options{Revision: rev})
	n, list := j.Tally(0, check, rev)
	return n, len(list)
}

// TestForgottenSessionIDs: where more session ids were given out than are remembered,
// nobody is convicted of not sending one.
func TestForgottenSessionIDs(t *testing.T) {
	missing := func(ids int) int {
		lines := []string{`"direction":"client-to-server","transport":"streamable-http","kind":"message","payload":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`}
		for i := range ids {
			lines = append(lines, fmt.Sprintf(`"direction":"server-to-client","transport":"streamable-http","kind":"http","status":200,"headers":{"mcp-session-id":"berth-%d"}`, i))
		}
		lines = append(lines, `"direction":"client-to-server","transport":"streamable-http","kind":"http","method":"GET","headers":{"mcp-protocol-version":"2025-11-25"}`)
		_, findings := outcomeOf(t, transportSessionIDEchoed, mcp.V2025_11_25, lines...)
		return findings
	}
	if n := missing(maxSessions); n != 1 {
		t.Errorf("%d findings where all are remembered", n)
	}
	if n := missing(maxSessions + 1); n != 0 {
		t.Errorf("%d findings where some were forgotten", n)
	}
}

// TestForgottenTokens: progress of requests whose token was forgotten convicts nobody.
func TestForgottenTokens(t *testing.T) {
	late := func(cancelled int) int {
		stdio := func(from, at, payload string) string {
			return fmt.Sprintf(`"direction":%q,"transport":"stdio","kind":"message","ts":"2026-03-04T10:00:%sZ","payload":%s`, from, at, payload)
		}
		var lines []string
		for i := range cancelled {
			lines = append(lines,
				stdio("client-to-server", "00", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"moor","_meta":{"progressToken":"t%d"}}}`, i, i)),
				stdio("client-to-server", "01", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i)))
		}
		lines = append(lines, stdio("server-to-client", "30", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t0","progress":1}}`))
		_, findings := outcomeOf(t, transportNoMessagesAfterCancelNotification, mcp.V2026_07_28, lines...)
		return findings
	}
	if n := late(maxGivenUp); n != 1 {
		t.Errorf("%d findings where all are remembered", n)
	}
	if n := late(maxGivenUp + 1); n != 0 {
		t.Errorf("%d findings where some were forgotten", n)
	}
}

// TestManyBodies: what POSTs held is forgotten only once they were answered, while there
// is room.
func TestManyBodies(t *testing.T) {
	const head = `"direction":"client-to-server","transport":"streamable-http","kind":"http","headers":{}`
	const note = `"direction":"client-to-server","transport":"streamable-http","kind":"message","payload":{"jsonrpc":"2.0","method":"notifications/x"}`
	const status = `"direction":"server-to-client","transport":"streamable-http","kind":"http","status":%d`
	var lines []string
	for range maxBodies + 9 {
		lines = append(lines, head, note, fmt.Sprintf(status, 202))
	}
	lines = append(lines, head, note, fmt.Sprintf(status, 200))
	if subjects, findings := outcomeOf(t, transportAcceptedStatus, mcp.V2025_11_25, lines...); findings != 1 || subjects != maxBodies+10 {
		t.Errorf("%d subjects, %d findings", subjects, findings)
	}
}
