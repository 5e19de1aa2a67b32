// Package demo is a real agent run to look at: three MCP servers built with the official
// Go SDK, two over stdio and one over HTTP, and an agent built with the same SDK that
// plans a journey with them through the recorder. In a second it does what makes people
// reach for one, under one trace context.
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

// The servers of the demo.
const (
	Notes   = "notes"   // over stdio
	Weather = "weather" // over stdio
	Railway = "railway" // over HTTP
)

// The tools of the stdio servers, by what they are there to show.
const (
	toolQuick    = "forecast"     // answers at once
	toolSlow     = "radar"        // takes a while
	toolFailing  = "read_note"    // answers with a tool error
	toolStubborn = "search_notes" // does not care that it was cancelled
	toolLast     = "write_note"   // answers at once, after all that
)

// How long things take.
const (
	slowFor      = 800 * time.Millisecond
	patience     = 250 * time.Millisecond // until the agent cancels
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

type searchArgs struct {
	Words string `json:"words" jsonschema:"what to look for"`
}

type writeArgs struct {
	Name string `json:"name" jsonschema:"file name of the note"`
	Text string `json:"text" jsonschema:"what to write"`
}

// Server serves the tools of one of the stdio servers until stdin ends or ctx does.
func Server(ctx context.Context, name string, stdin io.Reader, stdout, stderr io.Writer) error {
	out := &lineWriter{w: stdout}
	var s *mcp.Server
	switch name {
	case Weather:
		s = weather(out, stderr)
	case Notes:
		s = notes(stderr)
	default:
		return fmt.Errorf("serve the demo: no stdio server is named %q", name)
	}
	err := s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(stdin), Writer: out})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

func weather(out, stderr io.Writer) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: Weather, Version: "0.4.0"}, nil)
	var once sync.Once
	mcp.AddTool(s, &mcp.Tool{Name: toolQuick, Description: "Tomorrow's weather in a place."},
		func(_ context.Context, _ *mcp.CallToolRequest, a placeArgs) (*mcp.CallToolResult, any, error) {
			once.Do(func() { fmt.Fprintln(out, strayLine) })
			return text("Tomorrow in " + a.Place + ": 7 °C, light rain, wind from the west."), nil, nil
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
	return s
}

func notes(stderr io.Writer) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: Notes, Version: "2.1.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: toolFailing, Description: "Read a note by its file name."},
		func(_ context.Context, _ *mcp.CallToolRequest, a noteArgs) (*mcp.CallToolResult, any, error) {
			return nil, nil, &fs.PathError{Op: "open", Path: a.Name, Err: fs.ErrNotExist}
		})
	mcp.AddTool(s, &mcp.Tool{Name: toolStubborn, Description: "Search all notes. Slow, and deaf to cancellation."},
		func(ctx context.Context, _ *mcp.CallToolRequest, a searchArgs) (*mcp.CallToolResult, any, error) {
			select {
			case <-ctx.Done():
				fmt.Fprintln(stderr, "search: cancelled, but nearly there")
				time.Sleep(lateBy)
			case <-time.After(stubbornEnds):
			}
			return text(fmt.Sprintf("%q: 2 of 4,211 notes.", a.Words)), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: toolLast, Description: "Write a note."},
		func(_ context.Context, _ *mcp.CallToolRequest, a writeArgs) (*mcp.CallToolResult, any, error) {
			return text("wrote " + a.Name + "."), nil, nil // nobody wants it on their disk
		})
	return s
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
