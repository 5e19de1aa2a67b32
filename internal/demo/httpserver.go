package demo

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools of the demo's HTTP server, by what they are there to show.
const (
	toolBoard = "departures"   // answers at once
	toolSeat  = "reserve_seat" // asks back, and says how far it is before it answers
)

// How long a reservation takes.
const (
	coaches  = 3
	perCoach = 90 * time.Millisecond
)

type stationArgs struct {
	Station string `json:"station" jsonschema:"a station"`
}

type trainArgs struct {
	Train string `json:"train" jsonschema:"number of the train"`
}

// seatForm is what the railway wants to know of who travels.
var seatForm = map[string]any{
	"type":       "object",
	"properties": map[string]any{"window": map[string]any{"type": "boolean", "title": "By the window"}},
	"required":   []string{"window"},
}

// railway is the HTTP server's MCP side.
func railway() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: Railway, Version: "1.2.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: toolBoard, Description: "The next trains from a station."},
		func(_ context.Context, _ *mcp.CallToolRequest, a stationArgs) (*mcp.CallToolResult, any, error) {
			return text("From " + a.Station + ": 10:05 IC 612 to Zürich, platform 4; 10:22 R 31 to Chur, platform 2."), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: toolSeat, Description: "Reserve a seat in a train. Looks through its coaches."},
		func(ctx context.Context, r *mcp.CallToolRequest, a trainArgs) (*mcp.CallToolResult, any, error) {
			asked, err := r.Session.Elicit(ctx, &mcp.ElicitParams{
				Meta: inside(r.Params.Meta), Message: "By the window?", RequestedSchema: seatForm,
			})
			if err != nil {
				return nil, nil, err
			}
			seat := "by the aisle"
			if asked.Content["window"] == true {
				seat = "by the window"
			}
			for n := 1; n <= coaches; n++ {
				select {
				case <-time.After(perCoach):
				case <-ctx.Done():
					return nil, nil, ctx.Err()
				}
				if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
					ProgressToken: r.Params.GetProgressToken(), Progress: float64(n), Total: coaches,
					Message: fmt.Sprintf("looked through coach %d", n),
				}); err != nil {
					return nil, nil, err
				}
			}
			return text(fmt.Sprintf("%s: coach %d, seat 41, %s.", a.Train, coaches, seat)), nil, nil
		})
	return s
}

// serveRailway serves the railway over HTTP on a loopback port that was free.
func serveRailway() (url string, stop func(), err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := railway()
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	server := &http.Server{Handler: mux}
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(ln)
	}()
	return "http://" + ln.Addr().String() + "/mcp", func() {
		for session := range s.Sessions() { // of clients that did not say goodbye
			session.Close()
		}
		server.Close()
		<-served
	}, nil
}
