package view

import (
	"fmt"
	"strings"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
)

// Why says why a call hung, came late or went unanswered. First says who had the
// call, Bullets are the evidence, Try is what would help ("" if nothing follows).
type Why struct {
	First   string
	Bullets []string
	Try     string
}

// Evidence is what the rest of a session says about one call. [Witness] collects
// it.
type Evidence struct {
	Others  int             // frames the answering side sent since the request that are not this call's
	Stderr  session.Instant // last stderr line since the request; zero if none
	Lost    uint64          // frames that the record lacks since the request
	Jumps   []capture.ClockInfo
	Asks    []string // names of the inputs the answering side last asked for
	Status  int      // of the HTTP response that brought no message; 0 if none came
	Ended   bool     // the server's end was recorded
	EndedAt session.Instant
}

// Scene is what a call is looked at from.
type Scene struct {
	Header *session.Header
	Upto   session.Instant // an open call is measured up to here: now for a live session, else its last frame
	Live   bool            // the recorder is at work
}

// SceneOf looks at a recorded session from its last frame.
func SceneOf(h *session.Header) Scene { return Scene{Header: h, Upto: h.Last} }

// WhyOf explains a call that is open, was given up or was answered late; false for
// any other, of which nothing needs explaining.
func WhyOf(c *session.Call, s Scene, e Evidence) (Why, bool) {
	var w Why
	if c.Stream != nil {
		return w, false // a subscription is open by design
	}
	switch c.State {
	case session.StatePending:
		w = whyOpen(c, s, e)
	case session.StateCancelled:
		if c.Cancel == nil {
			return w, false
		}
		w = whyCancelled(c, e)
	case session.StateAbandoned:
		w = whyAbandoned(c, e)
	case session.StateSuperseded:
		w.First = fmt.Sprintf("never answered: the %s used the id again %s later", Side(c.Dir), Duration(c.End.Sub(c.Start)))
	default:
		return w, false
	}
	w.Bullets = append(w.Bullets, recordBullets(e)...)
	return w, true
}

// answering is the side that owes the answer.
func answering(c *session.Call) string {
	if c.Dir == capture.S2C {
		return "client"
	}
	return "server"
}

// asked words a question that the other side has not answered, and since when it
// waits.
func asked(c *session.Call, e Evidence) (what string, since session.Instant) {
	if len(c.Legs) == 0 {
		return Operation(c.Method, c.Target), c.Start
	}
	what = "for input"
	if len(e.Asks) > 0 {
		var names []string
		for _, name := range e.Asks {
			names = append(names, Quote(name))
		}
		what = "for " + strings.Join(names, ", ")
	}
	return what, c.Legs[len(c.Legs)-1].Answered
}

func whyAbandoned(c *session.Call, e Evidence) (w Why) {
	what, since := asked(c, e)
	w.First = fmt.Sprintf("with the client: asked %s %s before it left, no answer came", what, Duration(c.End.Sub(since)))
	return w
}

// whyAsked is the case of a question that waits for its answer.
func whyAsked(c *session.Call, s Scene, e Evidence) (w Why) {
	what, since := asked(c, e)
	missing := "no answer yet"
	if len(c.Legs) > 0 {
		missing = "no retry yet"
	}
	w.First = fmt.Sprintf("with the client: asked %s %s ago, %s", what, Duration(s.Upto.Sub(since)), missing)
	return w
}

func whyOpen(c *session.Call, s Scene, e Evidence) (w Why) {
	if c.Asked() || c.Dir == capture.S2C {
		return whyAsked(c, s, e)
	}
	side := answering(c)
	over := e.Ended || s.Header.End != nil || (s.Header.Start.Format == 0 && !s.Live && c.Progress == nil)
	signed := hasSign(c)
	silent := Duration(s.Upto.Sub(lastSign(c)))
	switch end := s.Header.End; {
	case c.Cut != nil:
		w = whyCut(c)
	case side == "server" && end != nil && abnormal(end):
		after := s.Upto
		if e.Ended {
			after = e.EndedAt
		}
		w.First = fmt.Sprintf("nobody left to answer: server %s, %s after the request", End(end), Duration(after.Sub(c.Start)))
		if signed {
			w.Bullets = append(w.Bullets, "its last sign of life was at "+sinceStart(c, c.LastSign))
		}
	case over && e.Others > 0:
		w.First = fmt.Sprintf("never answered: the %s sent %s afterwards", side, Plural(int64(e.Others), "other frame", "other frames"))
		w.Bullets = append(w.Bullets, endBullet(side, end, e, c)...)
	case e.Status != 0 && e.Status != 200:
		w.First = fmt.Sprintf("never answered: HTTP %d came, and no message", e.Status)
	case signed && !over:
		w.First = fmt.Sprintf("with the %s: still working, last sign %s ago", side, Age(s.Upto.Sub(c.LastSign)))
		if c.Progress != nil {
			w.First += " (progress " + Progress(c.Progress) + ")"
		}
	case over && signed && s.Upto.Sub(c.LastSign) < toTheEnd:
		w.First = fmt.Sprintf("never answered: the %s gave a sign of life to the end", side)
		w.Bullets = append(w.Bullets, endBullet(side, end, e, c)...)
	default:
		w.First = fmt.Sprintf("with the %s: silent for %s", side, silent)
		if side == "server" && end != nil {
			w.First += ", until it " + End(end)
		}
	}
	if over || c.Cut != nil {
		w.Bullets = append(w.Bullets, aliveBullets(c, e)...)
	}
	return w
}

// whyCut is the case of an HTTP response that ended before it brought the answer.
func whyCut(c *session.Call) (w Why) {
	switch x := c.Cut; {
	case x.By == session.ByClient:
		w.First = "cut: the client closed the stream after " + Seconds(x.At.Sub(c.Start))
	case x.Silent < minSilence:
		w.First = "cut: the stream closed after " + Duration(x.At.Sub(c.Start)) + ", before the answer"
	default:
		w.First = fmt.Sprintf("cut: the stream closed after %s without a byte", Seconds(x.Silent))
		w.Bullets = append(w.Bullets, idleBullet(x.Silent)...)
		w.Try = "send something on the stream more often: progress, or comments as keep-alives"
	}
	return w
}

// toTheEnd is how close to the end of a session a sign of life shows that silence
// was not the trouble.
const toTheEnd = time.Second

// hasSign reports whether the answering side showed itself after the request.
func hasSign(c *session.Call) bool {
	return c.LastSign != session.Instant{}
}

func lastSign(c *session.Call) session.Instant {
	if hasSign(c) {
		return c.LastSign
	}
	return c.Start
}

// abnormal reports whether a server went by itself: one that exits with 0 most
// likely does so because its client has left.
func abnormal(e *capture.EndInfo) bool {
	return e.Signal != "" || e.ExitCode != nil && *e.ExitCode != 0
}

func endBullet(side string, end *capture.EndInfo, e Evidence, c *session.Call) []string {
	if side != "server" || end == nil {
		return nil
	}
	text := "the server " + End(end)
	if e.Ended {
		text += " at " + sinceStart(c, e.EndedAt)
	}
	return []string{text}
}

func whyCancelled(c *session.Call, e Evidence) (w Why) {
	asking, answering := Side(c.Dir), answering(c)
	waited := c.Cancel.At.Sub(c.Start)
	if !c.Late && c.Cancel.Closed {
		w.First = fmt.Sprintf("cancelled by the %s after %s: it closed the stream; no answer came", asking, Duration(waited))
	} else if !c.Late {
		w.First = fmt.Sprintf("cancelled by the %s after %s; no answer came", asking, Duration(waited))
	} else {
		had, _ := c.Shares(c.End)
		w.First = fmt.Sprintf("with the %s: it had the call for %s, the %s waited %s", answering, Duration(had), asking, Duration(waited))
		w.Bullets = append(w.Bullets, fmt.Sprintf("the answer exists: it came %s after the %s had given up", Duration(c.End.Sub(c.Cancel.At)), asking))
		w.Try = fmt.Sprintf("raise the %s's limit above %s", asking, Duration(had))
		if !c.HasToken {
			w.Try = "send a progressToken, or " + w.Try
		}
	}
	if !c.HasToken {
		w.Bullets = append(w.Bullets, fmt.Sprintf("no progressToken was sent, so progress could not extend the %s's limit", asking))
	}
	w.Bullets = append(w.Bullets, aliveBullets(c, e)...)
	return w
}

// aliveBullets tells how the answering side showed itself meanwhile.
func aliveBullets(c *session.Call, e Evidence) (b []string) {
	side := answering(c)
	if p := c.Progress; p != nil {
		b = append(b, fmt.Sprintf("the %s was alive meanwhile: progress %s at %s (seq %d)", side, Progress(p), sinceStart(c, p.At), p.Seq))
	}
	if side == "server" && !e.Stderr.Wall.IsZero() {
		b = append(b, "the server was alive meanwhile: stderr at "+sinceStart(c, e.Stderr))
	}
	return b
}

// recordBullets tells what makes the record itself less than it seems.
func recordBullets(e Evidence) (b []string) {
	for _, j := range e.Jumps {
		b = append(b, Jump(j))
	}
	if e.Lost > 0 {
		b = append(b, fmt.Sprintf("%s missing from the record since the request: what is looked for may be among them", Plural(int64(e.Lost), "frame is", "frames are")))
	}
	return b
}

func idleBullet(silent time.Duration) []string {
	for _, limit := range []time.Duration{60 * time.Second, 125 * time.Second, 300 * time.Second} {
		if d := silent - limit; d > -time.Second && d < time.Second {
			return []string{Seconds(limit) + " is a known idle limit (60, 125, 300)"}
		}
	}
	return nil
}
