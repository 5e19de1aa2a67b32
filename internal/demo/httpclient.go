package demo

import (
	"context"
	"fmt"
	"net/http"
)

// overHTTP serves the HTTP server, starts the proxy for it, and lets play use what is
// listening then. Nothing of it runs any more when it returns.
func overHTTP(ctx context.Context, taps Taps, play func(url string, web *http.Client) error) (err error) {
	target, stop, err := serveRailway()
	if err != nil {
		return fmt.Errorf("serve the demo: %w", err)
	}
	defer stop()
	proxy, err := startProxy(taps.HTTP(target))
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
	addr, err := taps.Address(proxy.whileRunning(ctx))
	if err != nil {
		return fmt.Errorf("find out where the proxy listens: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // between us and ourselves
	defer transport.CloseIdleConnections()
	return play("http://"+addr+"/mcp", &http.Client{Transport: transport})
}
