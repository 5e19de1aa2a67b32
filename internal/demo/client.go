package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// limit bounds a whole demo: it takes about two seconds where nothing is wrong.
const limit = 10 * time.Second

// revision is asked for by name: it begins with initialize, as most sessions
// that people look at today do.
const revision = "2025-11-25"

// Client starts command, which must be the shim in front of [Server], and plays
// the demo as its client. report, if not nil, is told of each step before it is
// taken. An error means that something went otherwise than the demo promises.
func Client(ctx context.Context, command []string, report func(step string)) (err error) {
	if report == nil {
		report = func(string) {}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	server := newProcess(command)
	defer func() {
		if cerr := server.Close(); err == nil {
			err = cerr
		}
		if said := server.said(); err != nil && said != "" {
			err = fmt.Errorf("%w\n%s", err, said)
		}
	}()
	report("start the server and initialize")
	client := mcp.NewClient(&mcp.Implementation{Name: "demo-agent", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, server, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return fmt.Errorf("connect to the demo server: %w", err)
	}
	report("list its tools")
	if _, err := session.ListTools(ctx, nil); err != nil {
		return fmt.Errorf("list tools: %w", err)
	}
	report("a quick call; the server's answer comes with a stray line on stdout")
	if err := expect(ctx, session, toolQuick, map[string]any{"place": "Reykjavík"}, false); err != nil {
		return err
	}
	report("a call that fails: the note is not there")
	if err := expect(ctx, session, toolFailing, map[string]any{"name": "notes.md"}, true); err != nil {
		return err
	}
	report("a slow call")
	if err := expect(ctx, session, toolSlow, map[string]any{"place": "Reykjavík"}, false); err != nil {
		return err
	}
	report("a call that we cancel, and that is answered all the same")
	if err := cancelled(ctx, session, server); err != nil {
		return err
	}
	report("one more quick call, then hang up")
	if err := expect(ctx, session, toolQuick, map[string]any{"place": "Nuuk"}, false); err != nil {
		return err
	}
	if err := session.Close(); err != nil {
		return fmt.Errorf("close the session: %w", err)
	}
	return nil
}

// expect calls a tool and compares how it ended with how it should.
func expect(ctx context.Context, s *mcp.ClientSession, tool string, args map[string]any, toolError bool) error {
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	switch {
	case err != nil:
		return fmt.Errorf("call %s: %w", tool, err)
	case res.IsError != toolError:
		return fmt.Errorf("call %s: tool error is %v, not %v", tool, res.IsError, toolError)
	}
	return nil
}

// cancelled calls the stubborn tool, loses patience, and waits for the answer
// that comes nevertheless, so that it is on record before we hang up.
func cancelled(ctx context.Context, s *mcp.ClientSession, server *process) error {
	answered := server.nextResponse() // no other call is open: the next response is this one's
	impatient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := s.CallTool(impatient, &mcp.CallToolParams{Name: toolStubborn, Arguments: map[string]any{"year": 2025}})
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
