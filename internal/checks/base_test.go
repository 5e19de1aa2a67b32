package checks

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// writeTrace writes a trace of payloads, each led by the sender, c or s.
func writeTrace(t *testing.T, payloads ...string) string {
	t.Helper()
	var text bytes.Buffer
	for i, p := range payloads {
		dir := "client-to-server"
		if p[0] == 's' {
			dir = "server-to-client"
		}
		fmt.Fprintf(&text, `{"seq":%d,"direction":"%s","transport":"stdio","kind":"message","payload":%s}`+"\n", i, dir, p[1:])
	}
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// findingsOf judges a trace and returns what a check found.
func findingsOf(t *testing.T, path string, check *judge.Check, rev mcp.Revision) []string {
	t.Helper()
	j, _ := judged(t, openLog(t, path), judge.Options{Revision: rev})
	_, list := j.Tally(0, check, rev)
	var told []string
	for _, f := range list {
		told = append(told, fmt.Sprintf("%d %s", f.Seq, f.Detail))
	}
	return told
}

// An array of more elements than are read may hold a request for any answer.
func TestRestOfABatchConvictsNobody(t *testing.T) {
	element := `{"jsonrpc":"2.0","id":%d,"method":"ping"}`
	list := make([]string, jsonrpc.MaxBatch)
	for i := range list {
		list[i] = fmt.Sprintf(element, i)
	}
	answer := fmt.Sprintf(`s{"jsonrpc":"2.0","id":%d,"result":{}}`, len(list))
	all := "c[" + strings.Join(list, ",") + "]"
	if got := findingsOf(t, writeTrace(t, all, answer), baseResultIDMatches, mcp.V2025_03_26); len(got) != 1 {
		t.Errorf("an answer to nothing: %q", got)
	}
	all = strings.TrimSuffix(all, "]") + "," + fmt.Sprintf(element, len(list)) + "]"
	path := writeTrace(t, all, answer)
	for _, check := range []*judge.Check{baseResultIDMatches, baseJSONRPCVersion} {
		if got := findingsOf(t, path, check, mcp.V2025_03_26); len(got) != 0 {
			t.Errorf("%s: %q", check.ID, got)
		}
	}
}

// Ids beyond the bound are forgotten, and nothing is concluded from that.
func TestIDsAreBounded(t *testing.T) {
	book := &idBook{ids: map[uint64]idUse{}}
	for i := range uint64(maxIDs) {
		book.put(i, idUse{})
	}
	if book.forgot || len(book.ids) != maxIDs {
		t.Errorf("%d ids, forgot %v", len(book.ids), book.forgot)
	}
	if book.put(maxIDs, idUse{}); !book.forgot || len(book.ids) != 1 {
		t.Errorf("%d ids, forgot %v", len(book.ids), book.forgot)
	}
}
