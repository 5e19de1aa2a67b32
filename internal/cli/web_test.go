package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// freePort sets a variable to a loopback address that nobody listens on.
func freePort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: free-port VARIABLE")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv(args[0], ln.Addr().String())
	ts.Check(ln.Close())
}

// waitPort waits until somebody listens on an address.
func waitPort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: wait-port ADDRESS")
	}
	for range 500 {
		if c, err := net.Dial("tcp", args[0]); err == nil {
			c.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	ts.Fatalf("nobody listens on %s", args[0])
}

// webServer serves HTTP on the address it is given. It does what a request's method
// says: "status/N" answers with that status and a page, "none/N" with no body.
func webServer() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		body, _ := io.ReadAll(r.Body)
		json.Unmarshal(body, &m)
		word, arg, _ := strings.Cut(m.Method, "/")
		status, _ := strconv.Atoi(arg)
		switch word {
		case "status":
			w.WriteHeader(status)
			io.WriteString(w, "<html>no luck</html>")
		case "none":
			w.Header().Add("WWW-Authenticate", `Bearer realm="one"`)
			w.Header().Add("WWW-Authenticate", `Basic realm="two"`)
			w.WriteHeader(status)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
		}
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[1], nil))
	os.Exit(1)
}

// post sends each further argument to a URL and prints status and body of the answer.
func post() {
	for _, body := range os.Args[2:] {
		answer, err := http.Post(os.Args[1], "application/json", strings.NewReader(body))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		fmt.Printf("%d %s\n", answer.StatusCode, text)
	}
}
