package mcpsnoop_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mcpsnoop/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mcpsnoop": func() { os.Exit(cli.Main(cli.SystemEnv("test"), os.Args[1:])) },
		"npx":      npx,
	})
}

// npx stands in for the servers that the README starts: it answers whatever is asked.
func npx() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		result := map[string]string{
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"stand-in","version":"1"}}`,
			"tools/list": `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`,
			"tools/call": `{"content":[{"type":"text","text":"hello"}]}`,
		}[m.Method]
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// client is what is said to a server that the README starts.
const client = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"reader","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"},"_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}}
`

// elsewhere names, for each command that a test cannot run inside itself, the file
// that runs it in CI, word for word.
var elsewhere = map[string]string{"go test ./...": ".ci/run"}

var fences = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// TestReadme runs every command the README shows, in its order, in one state
// directory, as a reader would. One that cannot be run has to be in elsewhere.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	ran := 0
	for _, block := range fences.FindAllStringSubmatch(string(readme), -1) {
		switch kind, text := block[1], block[2]; kind {
		case "sh":
			for line := range strings.Lines(text) {
				ran += command(t, &script, line)
			}
		case "json":
			ran += configured(t, &script, text)
		default:
			t.Errorf("a block of %q: this test knows sh and json", kind)
		}
	}
	if ran < 8 {
		t.Errorf("only %d commands found in the README", ran)
	}
	dir := t.TempDir()
	fmt.Fprintf(&script, "-- client --\n%s", client)
	if err := os.WriteFile(filepath.Join(dir, "readme.txtar"), []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(e *testscript.Env) error {
			e.Setenv("MCPSNOOP_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, "cache"))
			return nil
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"recording": recording},
		RequireExplicitExec: true,
	})
}

// recording waits until something is recorded in a state directory.
func recording(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: recording DIRECTORY")
	}
	logs := filepath.Join(ts.MkAbs(args[0]), "sessions", "*.jsonl")
	for range 500 {
		if paths, _ := filepath.Glob(logs); len(paths) > 0 {
			if info, err := os.Stat(paths[0]); err == nil && info.Size() > 0 {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	ts.Fatalf("nothing is recorded in %s", logs)
}

// command adds one line of a shell block to the script and returns how many
// commands that were.
func command(t *testing.T, script *strings.Builder, line string) int {
	t.Helper()
	line, _, _ = strings.Cut(line, " #")
	line = strings.TrimSpace(line)
	if line == "" || strings.HasPrefix(line, "#") {
		return 0
	}
	if file, ok := elsewhere[line]; ok {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		} else if !slices.Contains(strings.Split(string(text), "\n"), line) {
			t.Errorf("README shows %q, which %s no longer runs", line, file)
		}
		return 1
	}
	if rest, ok := strings.CutPrefix(line, "go build -o mcpsnoop "); ok {
		out, err := exec.Command("go", "build", "-o", filepath.Join(t.TempDir(), "mcpsnoop"), rest).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		return 1
	}
	if rest, ok := strings.CutPrefix(line, "go run ./cmd/mcpsnoop"); ok {
		line = "mcpsnoop" + rest
	}
	if !strings.HasPrefix(line, "mcpsnoop ") || strings.ContainsAny(line, "|<>&;$`\"'") {
		t.Errorf("README shows %q, which this test cannot run: make it plain, or name in elsewhere who runs it", line)
		return 0
	}
	if strings.HasPrefix(line, "mcpsnoop http ") || strings.HasPrefix(line, "mcpsnoop watch http ") {
		// Any port, since the usual one may be taken, and a directory of its own: no
		// client comes, and the commands that follow take the newest session. Nothing
		// but a signal ends it.
		home := fmt.Sprintf("web%d", script.Len())
		fmt.Fprintf(script, "[unix] exec %s --listen 127.0.0.1:0 --home %s &%[2]s&\n"+
			"[unix] recording %[2]s\n[unix] kill -INT %[2]s\n[unix] wait %[2]s\n", line, home)
		return 1
	}
	if strings.Contains(line, " -- ") {
		script.WriteString("stdin client\n")
	}
	fmt.Fprintf(script, "exec %s\n", line)
	return 1
}

// configured adds the servers of a client's configuration to the script.
func configured(t *testing.T, script *strings.Builder, text string) int {
	t.Helper()
	var config struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(text), &config); err != nil || len(config.Servers) == 0 {
		t.Errorf("a configuration without servers: %v\n%s", err, text)
	}
	for _, server := range config.Servers {
		fmt.Fprintf(script, "stdin client\nexec %s %s\n", server.Command, strings.Join(server.Args, " "))
	}
	return len(config.Servers)
}

// TestLinks: every file that a page of ours links to is there.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
	for name := range files(t) {
		if filepath.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
		}
	}
}
