package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// asked is what a peer of the tests looks at in a message.
type asked struct {
	ID     json.RawMessage
	Method string
}

// toolAnswer is what a proper server, but for the names of its tools, answers. The
// method "broken" is answered in a version of JSON-RPC that is not MCP's.
func toolAnswer(m asked, tools []string) string {
	result, version := "{}", "2.0"
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"s","version":"1"}}`
	case "tools/list":
		var list []map[string]any
		for _, name := range tools {
			list = append(list, map[string]any{"name": name, "inputSchema": map[string]string{"type": "object"}})
		}
		text, _ := json.Marshal(list)
		result = fmt.Sprintf(`{"tools":%s}`, text)
	case "broken":
		version = "1.0"
	}
	return fmt.Sprintf(`{"jsonrpc":%q,"id":%s,"result":%s}`, version, m.ID, result)
}

// toolServer is a stdio server whose tools have the names of its arguments. It does
// what some methods say: "exit/N", "stray/TEXT", and "pace/N" for N notifications 2 ms
// apart.
func toolServer() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m asked
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		word, arg, _ := strings.Cut(m.Method, "/")
		n, _ := strconv.Atoi(arg)
		switch word {
		case "stray":
			fmt.Println(arg)
		case "pace":
			for i := range n {
				fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`+"\n", i)
				time.Sleep(2 * time.Millisecond)
			}
		}
		fmt.Println(toolAnswer(m, os.Args[1:]))
		if word == "exit" {
			os.Exit(n)
		}
	}
}

// toolSite is the same over HTTP, on the address that comes first. Sessions are called
// S1, S2 and so on.
func toolSite() {
	var mu sync.Mutex
	sessions := 0
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		var m asked
		body, _ := io.ReadAll(r.Body)
		json.Unmarshal(body, &m)
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if m.Method == "initialize" {
			mu.Lock()
			sessions++
			w.Header().Set("Mcp-Session-Id", "S"+strconv.Itoa(sessions))
			mu.Unlock()
		}
		io.WriteString(w, toolAnswer(m, os.Args[2:]))
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[1], nil))
	os.Exit(1)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// siteClients is "siteclients URL N METHOD...": N clients that shake hands, and then in
// turn ask for each method.
func siteClients() {
	n, _ := strconv.Atoi(os.Args[2])
	sessions := make([]string, n)
	send := func(i int, body string) {
		r, _ := http.NewRequest(http.MethodPost, os.Args[1], strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if sessions[i] != "" {
			r.Header.Set("Mcp-Session-Id", sessions[i])
			r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		io.Copy(os.Stdout, answer.Body)
		answer.Body.Close()
		if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
			sessions[i] = id
		}
	}
	for i := range n {
		send(i, initialize)
		send(i, initialized)
	}
	for k, method := range os.Args[3:] {
		for i := range n {
			send(i, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, k+2, method))
		}
	}
}

// watchedOut is stderr of a program, which can be waited for.
type watchedOut struct {
	mu   sync.Mutex
	text bytes.Buffer
	to   io.Writer
}

func (w *watchedOut) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	return w.to.Write(p)
}

func (w *watchedOut) has(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(w.text.String(), text)
}

// client is "client STEP... -- COMMAND...": it shakes hands with a stdio server, asks
// for the method of each step and waits for the answer. "await:TEXT" waits for stderr
// to say TEXT, "line:TEXT" for a line that is no answer. It exits as the command does.
func client() {
	at := 1
	for os.Args[at] != "--" {
		at++
	}
	steps, command := os.Args[1:at], os.Args[at+1:]
	cmd := exec.Command(command[0], command[1:]...)
	errs := &watchedOut{to: os.Stderr}
	cmd.Stderr = errs
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lines := bufio.NewReader(out)
	read := func() {
		line, _ := lines.ReadString('\n')
		os.Stdout.WriteString(line)
	}
	fmt.Fprintln(in, initialize)
	read()
	fmt.Fprintln(in, initialized)
	id := 1
	for _, step := range steps {
		switch word, arg, _ := strings.Cut(step, ":"); word {
		case "await":
			for n := 0; !errs.has(arg); n++ {
				if n == 6000 {
					fmt.Fprintf(os.Stderr, "client: never: %s\n", arg)
					os.Exit(99)
				}
				time.Sleep(10 * time.Millisecond)
			}
		case "line":
			read()
		default:
			id++
			method, _ := json.Marshal(step)
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%s}`+"\n", id, method)
			read()
		}
	}
	in.Close()
	io.Copy(os.Stdout, lines)
	cmd.Wait()
	os.Exit(cmd.ProcessState.ExitCode())
}

// sameLog wants two logs to be the same line by line, but for what is another in each
// recording: ids, times, processes.
func sameLog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: same-log FILE FILE")
	}
	var logs [2][]string
	for i, name := range args {
		for line := range strings.Lines(ts.ReadFile(name)) {
			var f map[string]json.RawMessage
			ts.Check(json.Unmarshal([]byte(line), &f))
			for _, key := range []string{"session_id", "ts", "mono_us"} {
				f[key] = nil
			}
			if f["kind"] != nil {
				var note map[string]json.RawMessage
				ts.Check(json.Unmarshal(f["raw"], &note))
				for _, key := range []string{"pid", "server_pid", "client", "ancestors"} {
					if note[key] != nil {
						note[key] = json.RawMessage("0")
					}
				}
				f["raw"], _ = json.Marshal(note)
			}
			text, err := json.Marshal(f)
			ts.Check(err)
			logs[i] = append(logs[i], string(text))
		}
	}
	if a, b := strings.Join(logs[0], "\n"), strings.Join(logs[1], "\n"); a != b {
		ts.Fatalf("%s\n\nis not\n\n%s", a, b)
	}
}
