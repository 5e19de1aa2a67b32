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

// TestManyDesignations: where more tools have arguments repeated than are remembered, those
// listed before are forgotten, and nothing is concluded from them.
func TestManyDesignations(t *testing.T) {
	for _, c := range []struct{ tools, findings int }{{maxDesignating, 1}, {maxDesignating + 1, 0}} {
		var list strings.Builder
		for i := range c.tools {
			fmt.Fprintf(&list, `{"name":"t%d","inputSchema":{"type":"object","properties":{"a":{"type":"integer","x-mcp-header":"A"}}}},`, i)
		}
		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
		log := fmt.Sprintf(`{"seq":1,"direction":"client-to-server","transport":"stdio","kind":"message","payload":{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{%s}}}
{"seq":2,"direction":"server-to-client","transport":"stdio","kind":"message","payload":{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[%s]}}}
{"seq":3,"direction":"client-to-server","transport":"stdio","kind":"message","payload":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t0","arguments":{"a":99999999999999999},%s}}}
`, meta, strings.TrimSuffix(list.String(), ","), meta)
		path := filepath.Join(t.TempDir(), "log.jsonl")
		if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		j, _ := judged(t, openLog(t, path), judge.Options{Revision: mcp.V2026_07_28})
		if _, list := j.Tally(0, toolsXMCPHeaderIntegerRange, mcp.V2026_07_28); len(list) != c.findings {
			t.Errorf("%d tools: %d findings, want %d", c.tools, len(list), c.findings)
		}
	}
}
