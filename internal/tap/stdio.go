package tap

import (
	"context"
	"errors"
	"os"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/proc"
)

// StdioOptions are a person's choices for a stdio tap.
type StdioOptions struct {
	// Grace is how long after the first INT, TERM, HUP or QUIT the server is
	// killed; 0 is never, since a client that wants that kills us, or signals again.
	Grace time.Duration
	// Foreground leaves the server in the terminal's foreground process group.
	Foreground bool
}

// Stdio is a stdio tap: a server, whom it talks to, and what is recorded.
type Stdio struct {
	Recording
	StdioOptions
	Command []string
	// Stdin is closed when the server has closed its own: the client shall see it.
	Stdin, Stdout, Stderr *os.File
}

// Result is how a server behind a tap ended, and what of it was recorded.
type Result struct {
	ExitCode int    // the server's; 128 and the number of a signal; 126 or 127 if it could not be started
	Signal   string // "SIGKILL", if one ended it
	Written  uint64 // frames in the log
	Lost     uint64 // frames that passed and are not in the log
}

const (
	// quiet is how long after the server's end a pipe that somebody holds open is
	// read without a byte coming.
	quiet = 2 * time.Second
	// quietAlone is that when the client is gone or the server was killed: just
	// what is on its way.
	quietAlone = 100 * time.Millisecond
	// drainTick is how often that is looked at.
	drainTick = 10 * time.Millisecond
	// letGo is how long pumps get to notice that their files are closed.
	letGo = 200 * time.Millisecond
	// guardAfter is how long a server that was asked to end has, before we see to it
	// that it does not outlive us. Clients kill after two seconds and more.
	guardAfter = 100 * time.Millisecond
)

// stdio is a running stdio tap.
type stdio struct {
	cfg        Stdio
	rec        *recorder
	client     proc.Client
	child      *proc.Child
	signals    *signals
	pool       pool
	pipes      pipes
	pumps      [streams]*pump
	toServer   *os.File // our ends
	fromServer *os.File
	itsErrors  *os.File
	stdin      *os.File // perhaps another file than cfg.Stdin
	stdout     *os.File
	restore    []func()
	clientGone chan struct{} // closed when the client's end is

	grace   <-chan time.Time
	guard   <-chan time.Time
	dismiss func() // the guard
	asked   bool   // to end
	urged   int    // how often INT or TERM came
	killed  bool
}

// RunStdio starts the server and forwards until it has ended. When ctx ends, the
// server is killed. The error is a *proc.StartError if the server cannot be
// started; the log then holds the attempt.
func RunStdio(ctx context.Context, cfg Stdio) (Result, error) {
	if cfg.clock == nil {
		cfg.clock = systemClock()
	}
	if cfg.kernel == nil {
		cfg.kernel = proc.System
	}
	cfg.Limits.complete()
	t := &stdio{cfg: cfg, clientGone: make(chan struct{})}
	info := t.startInfo()
	if cfg.Log != nil {
		t.rec = newRecorder(&t.cfg.Recording)
	}
	t.signals = catch(cfg.Foreground)
	defer t.signals.stop()
	if err := t.spawn(); err != nil {
		return t.failed(info, err)
	}
	if t.rec != nil {
		info.ServerPID = t.child.Pid()
		t.client.Confirm(cfg.kernel)
		info.Client = clientOf(t.client)
		t.rec.begin(info)
	}
	t.connect()
	t.supervise(ctx)
	if held := t.drain(ctx); held && (t.asked || ctx.Err() != nil) {
		// The server was told to end and has; so shall what it started and what
		// still holds its pipes.
		t.child.Kill()
	}
	t.disconnect()
	return t.finish(), nil
}

// startInfo is what is known before the server is started.
func (t *stdio) startInfo() capture.StartInfo {
	info := t.cfg.Start
	if t.cfg.Log == nil {
		return info
	}
	t.client = proc.FindClient(t.cfg.kernel)
	info.Format, info.PID, info.Host, info.Client = capture.FormatVersion, os.Getpid(), t.client.Host, clientOf(t.client)
	info.Command = t.cfg.Command
	if info.Cwd == "" {
		info.Cwd, _ = os.Getwd()
	}
	return info
}

func clientOf(c proc.Client) *capture.Client {
	client := &capture.Client{Host: c.Host, PID: c.PID, Start: c.Start, Name: c.Name, Weak: c.Weak}
	for _, a := range c.Ancestors {
		client.Ancestors = append(client.Ancestors, capture.Process{PID: a.PID, Start: a.Start, Name: a.Name})
	}
	return client
}

// spawn starts the server on three pipes.
func (t *stdio) spawn() (err error) {
	var itsIn, itsOut, itsErr *os.File
	for _, p := range []struct{ r, w **os.File }{{&itsIn, &t.toServer}, {&t.fromServer, &itsOut}, {&t.itsErrors, &itsErr}} {
		if *p.r, *p.w, err = os.Pipe(); err != nil {
			break
		}
	}
	if err == nil {
		t.child, err = proc.Start(proc.Command{
			Argv: t.cfg.Command, Stdin: itsIn, Stdout: itsOut, Stderr: itsErr, Foreground: t.cfg.Foreground,
		})
	}
	closeAll(itsIn, itsOut, itsErr)
	if err != nil {
		closeAll(t.toServer, t.fromServer, t.itsErrors)
	}
	return err
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// failed records that the server could not be started.
func (t *stdio) failed(info capture.StartInfo, err error) (Result, error) {
	code := ExitCannotRun
	var start *proc.StartError
	if errors.As(err, &start) {
		code = start.Code
	}
	result := Result{ExitCode: code}
	if t.rec != nil {
		t.rec.begin(info)
		t.sum(&result, capture.EndInfo{ExitCode: &code})
	}
	return result, err
}

// connect starts the pumps.
func (t *stdio) connect() {
	in, restoreIn := unblock(t.cfg.Stdin, t.cfg.Stdout, t.cfg.Stderr)
	out, restoreOut := unblock(t.cfg.Stdout, t.cfg.Stdin, t.cfg.Stderr)
	t.stdin, t.stdout, t.restore = in, out, []func(){restoreIn, restoreOut}
	t.pumps = [streams]*pump{
		c2s:    newPump(c2s, in, t.toServer, t.rec, &t.pool),
		s2c:    newPump(s2c, t.fromServer, out, t.rec, &t.pool),
		stderr: newPump(stderr, t.itsErrors, t.cfg.Stderr, t.rec, &t.pool),
	}
	t.pumps[c2s].grow = func() { t.pipes.grow(t.toServer) }
	t.pumps[s2c].grow = func() { t.pipes.grow(t.fromServer) }
	// What ends on one side ends on the other, as it would without us.
	go t.pumps[c2s].run(func(end pumpEnd) {
		t.toServer.Close()
		if end == srcEnded {
			close(t.clientGone)
			return
		}
		restoreIn()
		t.cfg.Stdin.Close()
	})
	go t.pumps[s2c].run(func(pumpEnd) { t.fromServer.Close() })
	go t.pumps[stderr].run(func(pumpEnd) { t.itsErrors.Close() })
}

// supervise waits until the server has ended.
func (t *stdio) supervise(ctx context.Context) {
	gone := t.clientGone
	for {
		select {
		case <-t.child.Exited():
			return
		case <-gone:
			gone = nil
			t.flush()
		case sig := <-t.signals.c:
			t.signal(sig)
		case <-t.grace:
			t.kill()
		case <-t.guard:
			if dismiss, err := t.child.Guard(); err == nil {
				t.dismiss = dismiss
			}
		case <-ctx.Done():
			t.kill()
			<-t.child.Exited()
			return
		}
	}
}

// signal passes a signal on to the server. The second INT or TERM kills: whoever
// sends it has lost patience.
func (t *stdio) signal(sig os.Signal) {
	t.flush()
	if insists(sig) {
		if t.urged++; t.urged > 1 {
			t.kill()
			return
		}
	}
	if ends(sig) {
		if !t.asked {
			t.asked = true
			t.guard = time.After(guardAfter)
		}
		if t.grace == nil && t.cfg.Grace > 0 {
			t.grace = time.After(t.cfg.Grace)
		}
	}
	t.signals.pass(sig, t.child)
}

func (t *stdio) kill() {
	t.killed = true
	t.child.Kill()
}

func (t *stdio) flush() {
	if t.rec != nil {
		t.rec.flush()
	}
}

// drain relays what is still to come when the server has ended. What it started
// may hold the pipes open for ever, so silence ends it too; then it returns true. A
// client that does not read is waited for, unless we were asked to end.
func (t *stdio) drain(ctx context.Context) (held bool) {
	ticker := time.NewTicker(drainTick)
	defer ticker.Stop()
	out, errs := t.pumps[s2c], t.pumps[stderr]
	outDone, errsDone := out.done, errs.done
	since, moved := time.Now(), uint64(0)
	for outDone != nil || errsDone != nil {
		select {
		case <-outDone:
			outDone = nil
		case <-errsDone:
			errsDone = nil
		case <-ticker.C:
		case sig := <-t.signals.c:
			t.signal(sig)
		case <-t.grace:
			t.kill()
		case <-ctx.Done():
			return true
		}
		waiting := out.writing.Load() || errs.writing.Load()
		more := readable(t.fromServer) || readable(t.itsErrors)
		if m := out.moved.Load() + errs.moved.Load(); m != moved || (waiting || more) && !t.asked {
			since, moved = time.Now(), m
		}
		if time.Since(since) >= t.patience() {
			return true
		}
	}
	return false
}

// patience is how long drain waits for a byte.
func (t *stdio) patience() time.Duration {
	if t.killed {
		return quietAlone
	}
	select {
	case <-t.clientGone:
		return quietAlone
	default:
		return quiet
	}
}

// disconnect ends the pumps. One that waits in the kernel stays there.
func (t *stdio) disconnect() {
	closeAll(t.fromServer, t.itsErrors, t.toServer)
	for _, restore := range t.restore {
		restore()
	}
	timer := time.NewTimer(letGo)
	defer timer.Stop()
	for s, p := range t.pumps {
		if stream(s) == c2s && t.stdin == t.cfg.Stdin {
			continue // it reads what cannot be closed under it
		}
		select {
		case <-p.done:
		case <-timer.C:
			return
		}
	}
}

// finish reaps the server and closes the record.
func (t *stdio) finish() Result {
	if t.dismiss != nil {
		t.dismiss()
	}
	status := t.child.Reap()
	result := Result{ExitCode: status.ExitCode(), Signal: status.SignalName()}
	end := capture.EndInfo{Signal: result.Signal}
	if end.Signal == "" {
		end.ExitCode = &status.Code
	}
	if t.rec != nil {
		t.sum(&result, end)
	}
	return result
}

// sum closes the record and says what was lost.
func (t *stdio) sum(r *Result, end capture.EndInfo) {
	totals := t.rec.close(end)
	r.Written, r.Lost = totals.frames, totals.lost
	if line := totals.line(); line != "" && t.cfg.Notify != nil {
		t.cfg.Notify(line)
	}
}
