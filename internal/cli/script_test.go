package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	// Programs that ignore signals start programs that do, as nohup and background jobs
	// are started; programs that catch them do not.
	for _, s := range []os.Signal{syscall.SIGHUP, os.Interrupt, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	testscript.Main(m, map[string]func(){
		"mcpsnoop":   func() { os.Exit(Main(testEnv(), os.Args[1:])) },
		"fakeserver": fakeServer,
		"webserver":  webServer,
		"post":       post,

		"toolserver":  toolServer,
		"toolsite":    toolSite,
		"siteclients": siteClients,
		"client":      client,
		"slowsnoop":   slowSnoop,
		"sicksnoop":   sickSnoop,
		"lyingsnoop":  lyingSnoop,
	})
}

// testEnv is the environment of the program in scripts. They may say which machine this is.
func testEnv() *Env {
	env := SystemEnv("1.2.3-test")
	if host := os.Getenv("TEST_HOST"); host != "" {
		env.host = func() string { return host }
	}
	return env
}

// TestScripts runs every command as a user types it: testdata/script, one story a file.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("MCPSNOOP_HOME", e.WorkDir+"/state")
			e.Setenv("XDG_CACHE_HOME", e.WorkDir+"/cache")
			e.Setenv("TZ", "UTC")
			e.Setenv("ESC", "\x1b")
			e.Setenv("LONG", strings.Repeat("é", 101))
			e.Setenv(noSleep())
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exec-code": execCode,
			"free-port": freePort,
			"wait-port": waitPort,
			"same-log":  sameLog,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// noSleep is the setting without which, under the race detector, every process
// sleeps for a second before it ends.
func noSleep() (name, value string) {
	return "GORACE", "atexit_sleep_ms=0 " + os.Getenv("GORACE")
}

// execCode runs "exec-code CODE PROGRAM ARGS..." and wants that exit code.
func execCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exec-code CODE PROGRAM [ARGS...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("run %q: %v", args[1:], err)
	}
	if want := args[0]; strconv.Itoa(code) != want {
		ts.Fatalf("%q exited with %d, want %s", args[1:], code, want)
	}
}

// fakeServer is a line-wise peer that does what a request's method says; it is no MCP
// server, so that scripts can make it misbehave. Its argument is the line it prints first.
func fakeServer() {
	if len(os.Args) > 1 {
		fmt.Println(strings.Join(os.Args[1:], " "))
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(line, &m) != nil || m.Method == "" {
			continue
		}
		word, arg, _ := strings.Cut(m.Method, "/")
		n, _ := strconv.Atoi(arg)
		switch word {
		case "exit":
			os.Exit(n)
		case "signal":
			self, _ := os.FindProcess(os.Getpid())
			self.Signal(syscall.Signal(n))
			time.Sleep(time.Minute)
		case "flood":
			var out bytes.Buffer
			for i := range n {
				fmt.Fprintf(&out, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":%d}}`+"\n", i)
			}
			os.Stdout.Write(out.Bytes())
		case "silent":
			continue
		case "stderr":
			fmt.Fprintln(os.Stderr, arg)
		case "fail":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no luck"}}`+"\n", m.ID)
			continue
		}
		if m.ID != nil {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", m.ID)
		}
	}
}
