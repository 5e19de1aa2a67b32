package demo

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpsnoop/internal/tracectx"
)

// traceparent is the key of the trace context in params._meta.
const traceparent = "traceparent"

// NewTrace returns a new trace id.
func NewTrace() (id tracectx.TraceID) {
	for id == (tracectx.TraceID{}) { // which would be invalid
		rand.Read(id[:])
	}
	return id
}

// span returns the trace context of one more request of a trace.
func span(trace tracectx.TraceID) string {
	id := make([]byte, 8)
	rand.Read(id)
	id[0] |= 1 // all zeros would be invalid
	return "00-" + trace.String() + "-" + hex.EncodeToString(id) + "-01"
}

// traced gives every request that a client sends a span of its own. Notifications belong
// to what they are about.
func traced(trace tracectx.TraceID) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if !strings.HasPrefix(method, "notifications/") {
				p := req.GetParams()
				meta := p.GetMeta()
				if meta == nil {
					meta = map[string]any{}
				}
				meta[traceparent] = span(trace)
				p.SetMeta(meta)
			}
			return next(ctx, method, req)
		}
	}
}

// inside returns the _meta of what a server asks while it answers a request: a span in
// the request's trace, if it is in one.
func inside(request mcp.Meta) mcp.Meta {
	caller, _ := request[traceparent].(string)
	c, err := tracectx.Parse([]byte(caller))
	if err != nil {
		return nil
	}
	return mcp.Meta{traceparent: span(c.Trace)}
}
