package demo

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// staleSession is the id of a session that the server knows nothing of: what a client
// holds whose server was restarted.
const staleSession = "of-yesterday"

// HTTP plays the demo over HTTP: it serves another small server, starts the tap that
// command names for that server's URL, and is two clients of the tap, which listens
// where address says. An error means that something went otherwise than the demo
// promises. Nothing runs any more when it returns.
func HTTP(ctx context.Context, command func(target string) []string, address func(context.Context) (string, error)) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	target, stop, err := serveRailway()
	if err != nil {
		return fmt.Errorf("serve the demo: %w", err)
	}
	defer stop()
	proxy, err := startProxy(command(target))
	if err != nil {
		return fmt.Errorf("start the proxy: %w", err)
	}
	defer func() {
		if cerr := proxy.end(); err == nil {
			err = cerr
		}
		if said := proxy.stderr.String(); err != nil && said != "" {
			err = fmt.Errorf("%w\n%s", err, said)
		}
	}()
	addr, err := address(proxy.whileRunning(ctx))
	if err != nil {
		return fmt.Errorf("find out where the proxy listens: %w", err)
	}
	return travel(ctx, "http://"+addr+"/mcp")
}

// travel is what the clients do.
func travel(ctx context.Context, url string) error {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // between us and ourselves
	defer transport.CloseIdleConnections()
	web := &http.Client{Transport: transport}

	client := mcp.NewClient(&mcp.Implementation{Name: "demo-traveller", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: web, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return fmt.Errorf("connect to the demo server: %w", err)
	}
	defer session.Close()
	if _, err := session.ListTools(ctx, nil); err != nil {
		return fmt.Errorf("list tools: %w", err)
	}
	if err := expect(ctx, session, toolBoard, map[string]any{"station": "Landquart"}, false); err != nil {
		return err
	}
	seat := &mcp.CallToolParams{Name: toolSeat, Arguments: map[string]any{"train": "IC 612"}}
	seat.SetProgressToken("seat-1")
	if _, err := session.CallTool(ctx, seat); err != nil {
		return fmt.Errorf("call %s: %w", toolSeat, err)
	}
	if err := forgotten(ctx, web, url); err != nil {
		return err
	}
	if err := session.Close(); err != nil { // with DELETE
		return fmt.Errorf("close the session: %w", err)
	}
	return nil
}

// forgotten is the other client: it goes on with a session that the server has
// forgotten, and is refused.
func forgotten(ctx context.Context, web *http.Client, url string) error {
	body := `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"` + toolBoard + `","arguments":{"station":"Chur"}}}`
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": revision, "Mcp-Session-Id": staleSession,
	} {
		ask.Header.Set(name, value)
	}
	res, err := web.Do(ask)
	if err != nil {
		return fmt.Errorf("go on with a forgotten session: %w", err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	if res.StatusCode != http.StatusNotFound {
		return fmt.Errorf("go on with a forgotten session: status %d, want %d", res.StatusCode, http.StatusNotFound)
	}
	return nil
}
