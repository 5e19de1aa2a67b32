package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpsnoop/internal/tracectx"
)

// limit bounds a whole demo: it takes about a second where nothing is wrong.
const limit = 10 * time.Second

// revision is asked for by name: it begins with initialize, as most sessions
// that people look at today do.
const revision = "2025-11-25"

// apart is how long after one another calls begin that then run at the same time: the
// record has them in that order wherever the demo runs.
const apart = 60 * time.Millisecond

// thinks is how long it takes a person to answer a question.
const thinks = 120 * time.Millisecond

// Taps says how the recorders are started that stand between the agent and its servers.
type Taps struct {
	// Stdio is the command of a shim in front of Server of that name.
	Stdio func(server string) []string
	// HTTP is the command of a proxy for the HTTP server at target.
	HTTP func(target string) []string
	// Address waits until that proxy listens, and returns where.
	Address func(context.Context) (string, error)
}

// agent is one client and its three servers.
type agent struct {
	client         *mcp.Client
	notes, weather *process
	on             map[string]*mcp.ClientSession // by server
}

// Run starts the servers behind their taps and is the agent that uses them, under one
// trace id. An error means that something went otherwise than the demo promises.
// Nothing runs any more when it returns.
func Run(ctx context.Context, trace tracectx.TraceID, taps Taps) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a := &agent{
		client: mcp.NewClient(&mcp.Implementation{Name: "demo-agent", Version: "1.0.0"}, &mcp.ClientOptions{ElicitationHandler: byTheWindow}),
		notes:  newProcess(taps.Stdio(Notes)), weather: newProcess(taps.Stdio(Weather)),
		on: map[string]*mcp.ClientSession{},
	}
	a.client.AddSendingMiddleware(traced(trace))
	for _, server := range []*process{a.notes, a.weather} {
		defer func() {
			if cerr := server.Close(); err == nil {
				err = cerr
			}
			if said := server.said(); err != nil && said != "" {
				err = fmt.Errorf("%w\n%s", err, said)
			}
		}()
	}
	if err := a.connect(ctx, Notes, a.notes); err != nil {
		return err
	}
	if err := a.connect(ctx, Weather, a.weather); err != nil {
		return err
	}
	return overHTTP(ctx, taps, func(url string, web *http.Client) error {
		// MaxRetries: a connection that breaks is a defect here.
		if err := a.connect(ctx, Railway, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: web, MaxRetries: -1}); err != nil {
			return err
		}
		defer a.on[Railway].Close()
		return a.travel(ctx)
	})
}

func (a *agent) connect(ctx context.Context, server string, t mcp.Transport) error {
	session, err := a.client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return fmt.Errorf("connect to the demo server %q: %w", server, err)
	}
	a.on[server] = session
	if _, err := session.ListTools(ctx, &mcp.ListToolsParams{}); err != nil {
		return fmt.Errorf("list tools of %q: %w", server, err)
	}
	return nil
}

// travel is what the agent does once it is connected.
func (a *agent) travel(ctx context.Context) error {
	if err := a.expect(ctx, Weather, toolQuick, map[string]any{"place": "Landquart"}, false); err != nil {
		return err
	}
	if err := a.expect(ctx, Notes, toolFailing, map[string]any{"name": "journey.md"}, true); err != nil {
		return err
	}
	if err := together(
		func() error { return a.expect(ctx, Weather, toolSlow, map[string]any{"place": "Landquart"}, false) },
		func() error { return a.cancelled(ctx) },
		func() error { return a.book(ctx) },
	); err != nil {
		return err
	}
	itinerary := map[string]any{"name": "journey.md", "text": "10:05 IC 612, coach 3, seat 41. Take an umbrella."}
	if err := a.expect(ctx, Notes, toolLast, itinerary, false); err != nil {
		return err
	}
	for _, server := range []string{Notes, Weather, Railway} {
		if err := a.on[server].Close(); err != nil { // over HTTP with DELETE
			return fmt.Errorf("close the session with %q: %w", server, err)
		}
	}
	return nil
}

// together runs branches of the journey at the same time.
func together(branches ...func() error) error {
	ended := make([]error, len(branches))
	done := make(chan struct{})
	for i, branch := range branches {
		time.AfterFunc(time.Duration(i)*apart, func() {
			ended[i] = branch()
			done <- struct{}{}
		})
	}
	for range branches {
		<-done
	}
	return errors.Join(ended...)
}

// expect calls a tool and compares how it ended with how it should.
func (a *agent) expect(ctx context.Context, server, tool string, args map[string]any, toolError bool) error {
	return a.call(ctx, server, &mcp.CallToolParams{Name: tool, Arguments: args}, toolError)
}

func (a *agent) call(ctx context.Context, server string, p *mcp.CallToolParams, toolError bool) error {
	res, err := a.on[server].CallTool(ctx, p)
	switch {
	case err != nil:
		return fmt.Errorf("call %s: %w", p.Name, err)
	case res.IsError != toolError:
		return fmt.Errorf("call %s: tool error is %v, not %v", p.Name, res.IsError, toolError)
	}
	return nil
}

// cancelled calls the stubborn tool, loses patience, and waits for the answer
// that comes nevertheless, so that it is on record before we hang up.
func (a *agent) cancelled(ctx context.Context) error {
	answered := a.notes.nextResponse() // no other call is open there: the next response is this one's
	impatient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := a.expect(impatient, Notes, toolStubborn, map[string]any{"words": "hotel"}, false)
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("call %s: ended before it was cancelled: %w", toolStubborn, err)
	}
	select {
	case <-answered:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("call %s: no late answer: %w", toolStubborn, ctx.Err())
	}
}

// book finds a train and reserves a seat in it.
func (a *agent) book(ctx context.Context) error {
	if err := a.expect(ctx, Railway, toolBoard, map[string]any{"station": "Landquart"}, false); err != nil {
		return err
	}
	seat := &mcp.CallToolParams{Name: toolSeat, Arguments: map[string]any{"train": "IC 612"}}
	seat.SetProgressToken("seat-1")
	return a.call(ctx, Railway, seat, false)
}

// byTheWindow is the person whom a server asks.
func byTheWindow(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	select {
	case <-time.After(thinks):
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"window": true}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
