package index

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
)

// formatVersion changes when the fields of a record do. It is part of the file's name.
const formatVersion = 1

// record is what is known of one log: a line of the index, so to speak.
type record struct {
	parts    []part
	idle     bool   // nobody wrote it when it was looked at: until it changes, nobody does
	none     string // why it is no capture, "" if it is one
	findings []int  // of each session; nil where nobody judged the log
	sessions []session.Header

	raw  string // the record as it is written, "" if it was not yet
	rest string // of raw, from which sessions is still to be read
}

// name is what a record is found by: the path of the log's first part.
func (r *record) name() string { return r.parts[0].path }

// about is what can be read of a record without the sessions.
func (r *record) about(c *codec) {
	list(c, &r.parts, (*codec).part)
	c.flag(&r.idle)
	c.text(&r.none)
	list(c, &r.findings, number[int])
}

// write fills raw in, and reports whether that can be read again as it is.
func (r *record) write() bool {
	c := codec{writing: true}
	r.about(&c)
	list(&c, &r.sessions, (*codec).header)
	read := readRecord(string(c.out))
	if read == nil || !read.complete() {
		return false
	}
	*r = *read
	return true
}

// readRecord reads what a record is written as, but for the sessions; nil if it is
// none.
func readRecord(raw string) *record {
	r, c := &record{raw: raw}, codec{in: raw}
	if r.about(&c); c.bad || c.in == "" { // as much as that there are no sessions is said
		return nil
	}
	r.rest = c.in
	return r
}

// complete reads the sessions, if they were not yet, and reports whether all is well
// with the record.
func (r *record) complete() bool {
	if r.rest != "" {
		c := codec{in: r.rest}
		list(&c, &r.sessions, (*codec).header)
		if c.bad || c.in != "" {
			return false
		}
		r.rest = ""
	}
	return r.findings == nil || len(r.findings) == len(r.sessions)
}

// part is one file of a log, as it was before it was folded.
type part struct {
	path  string // relative to the state directory, with slashes
	stamp statedir.Stamp
}

func (c *codec) part(p *part) {
	c.text(&p.path)
	number(c, &p.stamp.Size)
	number(c, &p.stamp.ModTime)
	c.unsigned(&p.stamp.Device)
	c.unsigned(&p.stamp.File)
	number(c, &p.stamp.Changed)
}

// header is what the index keeps of a session: what lists of sessions show, and what
// ties sessions together. Texts that may be long, such as instructions, capabilities
// and command lines, are only in the log.
func (c *codec) header(h *session.Header) {
	c.text(&h.ID)
	c.text(&h.Tap)
	number(c, &h.Number)
	c.text(&h.Label)
	within(c, &h.Transport, capture.HTTP)
	number(c, &h.Start.Format)
	number(c, &h.Start.PID)
	c.text(&h.Start.Host)
	maybe(c, &h.Start.Client, (*codec).client)
	maybe(c, &h.End, (*codec).end)
	c.peer(&h.Client)
	c.peer(&h.Server)
	within(c, &h.Revision, mcp.Latest)
	c.text(&h.RevisionText)
	c.instant(&h.First)
	c.instant(&h.Last)
	c.counts(&h.Counts)
	list(c, &h.Traces, (*codec).trace)
	number(c, &h.MoreTraced)
}

func (c *codec) client(p *capture.Client) {
	c.text(&p.Host)
	number(c, &p.PID)
	c.text(&p.Start)
	c.text(&p.Name)
	c.text(&p.Weak)
}

func (c *codec) end(e *capture.EndInfo) {
	maybe(c, &e.ExitCode, number[int])
	c.text(&e.Signal)
	c.unsigned(&e.Frames)
	c.unsigned(&e.Dropped)
}

func (c *codec) peer(p *session.Peer) {
	c.text(&p.Name)
	c.text(&p.Title)
	c.text(&p.Version)
}

func (c *codec) instant(i *session.Instant) {
	c.time(&i.Wall)
	number(c, &i.Mono)
}

func (c *codec) counts(n *session.Counts) {
	for _, v := range []*int{
		&n.Frames, &n.Requests, &n.Responses, &n.Notifications, &n.Calls, &n.Retries, &n.Errors, &n.Invalid, &n.Pending,
		&n.Late, &n.Missing, &n.Unreadable, &n.Torn, &n.Truncated, &n.Unread, &n.Let,
	} {
		number(c, v)
	}
	number(c, &n.Bytes)
}

func (c *codec) trace(t *session.Trace) {
	c.raw(t.ID[:])
	number(c, &t.Calls)
	number(c, &t.Requests)
	number(c, &t.Responses)
	number(c, &t.Errors)
	c.instant(&t.First)
	c.instant(&t.Last)
}
