package view

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mcpsnoop/internal/capture"
)

// httpText words what HTTP says where it carries no message: "GET /mcp", "HTTP 405",
// an event without a message.
func httpText(f *capture.Frame) string {
	w := &words{}
	if h := f.HTTP; h != nil {
		switch {
		case h.Status != 0:
			w.add(statusText(h), challenge(h))
		case h.Verb != "":
			w.add(requestText(h))
		case h.SSE != nil:
			w.add(eventText(h.SSE))
		}
	}
	if f.Exchange != 0 {
		w.add(fmt.Sprintf("exchange=%d", f.Exchange))
	}
	return w.String()
}

// statusText is a status, with the reason where the recorder itself answered.
func statusText(h *capture.HTTPFacts) string {
	text := "HTTP " + strconv.Itoa(h.Status)
	if h.Error != "" {
		text += ": " + cut(h.Error)
	}
	return text
}

func challenge(h *capture.HTTPFacts) string {
	if c := h.Response["www-authenticate"]; c != "" {
		return "www-authenticate=" + Quote(c)
	}
	return ""
}

// requestText is a request line, and after which event a stream is taken up again.
func requestText(h *capture.HTTPFacts) string {
	text := cut(h.Verb) + " " + cut(h.Path)
	if h.Query != "" {
		text += "?" + cut(h.Query)
	}
	if id := h.Request["last-event-id"]; id != "" {
		text += " last-event-id=" + Quote(id)
	}
	return text
}

func eventText(e *capture.SSEEvent) string {
	w := &words{}
	if e.Comment != "" && e.ID+e.Event+e.Data == "" && e.Retry == 0 {
		w.add("comment", Quote(e.Comment))
		return w.String()
	}
	w.add("event", cut(e.Event))
	if e.ID != "" {
		w.add("id=" + Quote(e.ID))
	}
	if e.Retry != 0 {
		w.add("retry=" + strconv.FormatInt(e.Retry, 10) + "ms")
	}
	w.add(text(e.Data, maxText))
	if e.Rewritten != "" {
		w.add("sent on as " + text(e.Rewritten, maxText))
	}
	if e.Comment != "" {
		w.add("comment=" + Quote(e.Comment))
	}
	return w.String()
}

// HTTPFacts lists what HTTP says of a frame, a line a fact; none where it says nothing.
func HTTPFacts(f *capture.Frame) (lines []string) {
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, name+": "+text(value, 2*maxText))
		}
	}
	h := f.HTTP
	if h == nil {
		h = new(capture.HTTPFacts)
	}
	if h.Verb != "" {
		lines = append(lines, requestText(&capture.HTTPFacts{Verb: h.Verb, Path: h.Path, Query: h.Query}))
	}
	if h.Status != 0 {
		lines = append(lines, statusText(h))
	} else {
		add("error", h.Error)
	}
	for _, headers := range []map[string]string{h.Request, h.Response} {
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			add(cut(name), headers[name])
		}
	}
	if h.SSE != nil {
		lines = append(lines, eventText(h.SSE))
	}
	add("closed by", h.ClosedBy)
	var where []string
	if f.Exchange != 0 {
		where = append(where, fmt.Sprintf("exchange %d", f.Exchange))
	}
	if f.Conn != "" {
		where = append(where, "connection "+cut(f.Conn))
	}
	if f.MCPSession != "" {
		where = append(where, "MCP session "+cut(f.MCPSession))
	}
	if where != nil {
		lines = append(lines, strings.Join(where, ", "))
	}
	return lines
}
