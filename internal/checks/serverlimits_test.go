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

// testLog writes a log of ours, a message a line.
type testLog struct {
	strings.Builder
	seq int
}

func (l *testLog) add(dir, raw string, args ...any) {
	l.seq++
	fmt.Fprintf(l, `{"session_id":"quay-5-0a0b0c0d0e0f","server_label":"quay","seq":%d,"direction":%q,"transport":"stdio","mono_us":%d,"raw":%s}`+"\n",
		l.seq, dir, l.seq, fmt.Sprintf(raw, args...))
}

func (l *testLog) start(rev mcp.Revision) {
	l.add("meta", `{"command":["quay"],"cwd":"/"}`)
	if rev == mcp.V2026_07_28 {
		l.exchange("server/discover", "", `"supportedVersions":["2026-07-28"],"capabilities":{}`)
		return
	}
	l.add("c2s", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"c"}}}`, rev)
	l.add("s2c", `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":%q,"capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"s"}}}`, rev)
}

// exchange adds a request at 2026-07-28 with members of its params, and its result.
func (l *testLog) exchange(method, params, result string) {
	l.add("c2s", `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"}}}}`, l.seq, method, params)
	l.add("s2c", `{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete",%s}}`, l.seq-1, result)
}

// old is exchange at a revision with a handshake.
func (l *testLog) old(method, params, result string) {
	l.add("c2s", `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, l.seq, method, params)
	l.add("s2c", `{"jsonrpc":"2.0","id":%d,"result":{%s}}`, l.seq-1, result)
}

// many joins n elements.
func many(n int, element string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, element, i)
	}
	return b.String()
}

// TestForgetting: what would be told of in a session of usual size is not where more was
// seen than is remembered.
func TestForgetting(t *testing.T) {
	legacy, modern := mcp.V2025_11_25, mcp.V2026_07_28
	for _, test := range []struct {
		check *judge.Check
		rev   mcp.Revision
		most  int
		write func(l *testLog, n int)
	}{
		{toolsNameUnique, legacy, maxListed, func(l *testLog, n int) {
			l.old("tools/list", "", `"tools":[`+many(n, `{"name":"t%d"}`)+`],"nextCursor":"a"`)
			l.old("tools/list", `"cursor":"a"`, `"tools":[{"name":"t0"}]`)
		}},
		{paginationCursorOpacity, legacy, maxCursors, func(l *testLog, n int) {
			for i := range n {
				l.old("tools/list", "", fmt.Sprintf(`"tools":[],"nextCursor":"%d"`, i))
			}
			l.old("tools/list", `"cursor":"other"`, `"tools":[]`)
		}},
		{promptsArgumentsValidated, legacy, maxPrompts, func(l *testLog, n int) {
			l.old("prompts/list", "", `"prompts":[`+many(n, `{"name":"p%d","arguments":[{"name":"a","required":true}]}`)+`]`)
			l.old("prompts/get", `"name":"p0"`, `"messages":[]`)
		}},
		{toolsOutputSchemaStructuredResult, legacy, maxOutputs, func(l *testLog, n int) {
			l.old("tools/list", "", `"tools":[`+many(n, `{"name":"t%d","outputSchema":{}}`)+`]`)
			l.old("tools/call", `"name":"t0"`, `"content":[]`)
		}},
		{toolsDeterministicOrder, modern, maxPositions, func(l *testLog, n int) {
			l.exchange("tools/list", "", `"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"x"`)
			for i := range n {
				l.exchange("tools/list", fmt.Sprintf(`"cursor":"%d",`, i), `"tools":[]`)
			}
			l.exchange("tools/list", "", `"tools":[{"name":"b"},{"name":"a"}],"nextCursor":"x"`)
		}},
		{resourcesReadContentsNonEmpty, modern, maxMentioned, func(l *testLog, n int) {
			l.exchange("resources/list", "", `"resources":[]`)
			l.exchange("resources/templates/list", "", `"resourceTemplates":[]`)
			l.exchange("tools/call", `"name":"t",`, `"content":[`+many(n+1, `{"type":"resource_link","uri":"log:%d"}`)+`]`)
			l.exchange("resources/read", `"uri":"log:x",`, `"contents":[]`)
		}},
	} {
		for _, n := range []int{3, test.most + 1} {
			l := new(testLog)
			l.start(test.rev)
			test.write(l, n)
			path := filepath.Join(t.TempDir(), "log.jsonl")
			if err := os.WriteFile(path, []byte(l.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			j, _ := judged(t, openLog(t, path), judge.Options{})
			_, found := j.Tally(0, test.check, test.rev)
			told := len(found)
			if test.check == toolsNameUnique {
				for _, note := range j.End(0).Notes {
					if note.Check == test.check {
						told++
					}
				}
			}
			if want := n <= test.most; told > 0 != want {
				t.Errorf("%s with %d: told of %d things, want any: %v", test.check.ID, n, told, want)
			}
		}
	}
}
