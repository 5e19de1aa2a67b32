// Package demo is a real run to look at: MCP servers built with the official Go SDK,
// one for each transport, and clients of the same SDK that talk to them through the
// recorder and do, in three seconds, what makes people reach for one.
//
// It is the only package that imports the SDK. All processes are of this same
// binary, so nothing has to be installed.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools of the demo server, by what they are there to show.
const (
	toolQuick    = "forecast"  // answers at once
	toolFailing  = "read_note" // answers with a tool error
	toolSlow     = "radar"     // takes a while
	toolStubborn = "archive"   // does not care that it was cancelled
)

// How long things take.
const (
	slowFor      = 600 * time.Millisecond
	patience     = 250 * time.Millisecond // until the client cancels
	lateBy       = 350 * time.Millisecond // from the cancellation to the answer
	stubbornEnds = 3 * time.Second        // if no cancellation ever comes
)

// strayLine is printed on stdout among the messages, by a dependency's logger as
// it were. It is no MCP message: the one thing that stdout must not carry.
const strayLine = "[weather-cache] 3 stations loaded from disk"

type placeArgs struct {
	Place string `json:"place" jsonschema:"a city"`
}

type noteArgs struct {
	Name string `json:"name" jsonschema:"file name of the note"`
}

type yearArgs struct {
	Year int `json:"year" jsonschema:"the year to fetch"`
}

// Server serves the demo's tools until stdin ends or ctx does.
func Server(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	out := &lineWriter{w: stdout}
	fmt.Fprintln(stderr, "weather server ready, 4 tools")
	s := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "0.4.0"}, nil)

	var once sync.Once
	mcp.AddTool(s, &mcp.Tool{Name: toolQuick, Description: "Tomorrow's weather in a place."},
		func(_ context.Context, _ *mcp.CallToolRequest, a placeArgs) (*mcp.CallToolResult, any, error) {
			once.Do(func() { fmt.Fprintln(out, strayLine) })
			return text("Tomorrow in " + a.Place + ": 7 °C, light rain, wind from the west."), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: toolFailing, Description: "Read a note by its file name."},
		func(_ context.Context, _ *mcp.CallToolRequest, a noteArgs) (*mcp.CallToolResult, any, error) {
			return nil, nil, &fs.PathError{Op: "open", Path: a.Name, Err: fs.ErrNotExist}
		})
	mcp.AddTool(s, &mcp.Tool{Name: toolSlow, Description: "Rain radar around a place. Takes a moment."},
		func(ctx context.Context, _ *mcp.CallToolRequest, a placeArgs) (*mcp.CallToolResult, any, error) {
			fmt.Fprintln(stderr, "radar: asking 12 stations around "+a.Place)
			select {
			case <-time.After(slowFor):
				return text("Radar for " + a.Place + ": rain reaches the city in 40 minutes."), nil, nil
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
		})
	mcp.AddTool(s, &mcp.Tool{Name: toolStubborn, Description: "All measurements of a year. Slow, and deaf to cancellation."},
		func(ctx context.Context, _ *mcp.CallToolRequest, a yearArgs) (*mcp.CallToolResult, any, error) {
			select {
			case <-ctx.Done():
				fmt.Fprintln(stderr, "archive: cancelled, but nearly there")
				time.Sleep(lateBy)
			case <-time.After(stubbornEnds):
			}
			return text(fmt.Sprintf("%d: 105,120 measurements.", a.Year)), nil, nil
		})

	err := s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(stdin), Writer: out})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// lineWriter lets the SDK and the stray line share stdout without cutting into
// each other: both write whole lines, each in one call.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (l *lineWriter) Close() error { return nil }
