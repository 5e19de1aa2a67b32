//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// serverArg makes this test binary the server: BINARY serverArg MANNER DIR. Clients
// pass few environment variables on, arguments always.
const serverArg = "closing-server"

// The manners of the server, by what it takes to end it.
const (
	polite   = "polite"   // ends when its input does
	deaf     = "deaf"     // ignores the end of its input, ends at SIGTERM
	stubborn = "stubborn" // ignores both
)

// What the server leaves in its directory.
const (
	pidFile  = "pids" // its own pid and its parent's, which is the shim
	beatFile = "beat" // number of the last beat sent before the first SIGTERM, or before the end of a polite one
)

const beatEvery = 20 * time.Millisecond

// lines writes messages to stdout, whole lines from several goroutines.
type lines struct {
	mu    sync.Mutex
	beats int
}

func (l *lines) send(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Printf(format+"\n", args...)
}

// beat sends the next numbered notification.
func (l *lines) beat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"beat":%d}}}`+"\n", l.beats+1)
	l.beats++ // only now: it is on the wire
}

// note writes down how many beats were sent.
func (l *lines) note(dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	leave(dir, beatFile, fmt.Sprint(l.beats))
}

// leave writes a file that is whole as soon as it is there.
func leave(dir, name, text string) {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		panic(err)
	}
}

// serve answers like an MCP server with one tool, echo, and beats from the
// handshake on, also when nobody listens any more.
func serve(manner, dir string) {
	var out lines
	terms := make(chan os.Signal, 4)
	signal.Notify(terms, syscall.SIGTERM)
	signal.Ignore(syscall.SIGPIPE)
	go func() {
		<-terms
		out.note(dir)
		if manner != stubborn {
			os.Exit(0)
		}
	}()
	leave(dir, pidFile, fmt.Sprintf("%d %d", os.Getpid(), os.Getppid()))
	var once sync.Once
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		answer(&out, line)
		once.Do(func() {
			go func() {
				for range time.Tick(beatEvery) {
					out.beat()
				}
			}()
		})
	}
	if manner == polite {
		out.note(dir)
		return
	}
	select {} // the test kills us if all else has failed
}

func answer(out *lines, line []byte) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			ProtocolVersion string
			Arguments       struct{ N int }
		}
	}
	if json.Unmarshal(line, &m) != nil || m.ID == nil {
		return
	}
	switch m.Method {
	case "initialize":
		out.send(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"closing","version":"1"}}}`, m.ID)
	case "tools/list":
		out.send(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}`, m.ID)
	case "tools/call":
		out.send(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%d"}]}}`, m.ID, m.Params.Arguments.N)
	case "ping", "logging/setLevel":
		out.send(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
	default:
		out.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	}
}
