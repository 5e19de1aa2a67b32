package cli

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/proc"
	"mcpsnoop/internal/tap"
	"mcpsnoop/internal/term"
)

// watch has what taps of this process write judged by another process, which reads their
// logs. No tap ever waits for it. A nil watch does nothing.
type watch struct {
	app    *app
	o      watchOptions
	say    func(line string)                        // our own lines, without waiting for stderr
	launch func(pipe *os.File) (*os.Process, error) // starts the judge

	news chan struct{} // there is something to be sent
	over chan struct{} // closed when the taps have written all
	gone chan struct{} // closed when the judge has ended
	code int           // of the judge, set before

	judge *os.Process // nil: there is none

	mu      sync.Mutex // held for a moment: the taps take it
	queue   []notice   // to be sent
	logs    []*wakingLog
	ended   bool // the judge shall end
	dropped bool // it was killed
}

// notice is one line on the pipe from watch to its judge, whose end says that all is
// written.
type notice struct {
	Path  []byte `json:"path,omitempty"` // of a log to be judged, the next one
	Tap   string `json:"tap,omitempty"`  // that writes it, by its id
	Log   int    `json:"log"`            // what the rest is about, from 0 in order of Path
	Wrote bool   `json:"wrote,omitempty"`
	Fault string `json:"fault,omitempty"` // why it could not be written, the first time
	Lost  string `json:"lost,omitempty"`  // why a session has no log to be judged
}

// wakeEvery is how often the judge is told that something was written: each time costs
// the traffic a little, and nobody reads faster.
const wakeEvery = 25 * time.Millisecond

func newWatch(a *app, o watchOptions) *watch {
	w := &watch{app: a, o: o, news: make(chan struct{}, 1), over: make(chan struct{}), gone: make(chan struct{})}
	w.launch = w.startJudge
	return w
}

// target is the flag that names the server of the HTTP tap.
func (w *watch) target() string {
	if w == nil {
		return targetFlag
	}
	return upstreamFlag
}

// begin starts the judge. Without one the tap is a recorder all the same, and says so.
func (w *watch) begin(say func(line string)) {
	if w == nil {
		return
	}
	w.say = say
	r, pipe, err := os.Pipe()
	if err == nil {
		w.judge, err = w.launch(r)
		r.Close()
		if err != nil {
			pipe.Close()
		}
	}
	if err != nil {
		w.ended, w.code = true, exitFailed
		close(w.gone)
		say("mcpsnoop watch: nothing is judged, only recorded: start judge: " + term.Escape(err.Error()))
		return
	}
	go w.send(pipe)
	go w.await()
}

// startJudge starts this program as the judge.
func (w *watch) startJudge(pipe *os.File) (*os.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"--color", w.app.color, judgeName, "--patience", w.o.patience.String()}
	if w.o.revision != mcp.NoRevision {
		args = append(args, "--revision", w.o.revision.String())
	}
	return proc.StartAside(self, args, pipe, w.app.env.Stderr)
}

// await waits for the judge, and tells of it if it ends by itself.
func (w *watch) await() {
	defer close(w.gone)
	state, err := w.judge.Wait()
	how := ""
	if w.code = exitFailed; err != nil {
		how = err.Error()
	} else {
		w.code, how = state.ExitCode(), state.String()
	}
	w.mu.Lock()
	ended, dropped := w.ended, w.dropped
	w.mu.Unlock()
	if ended && slices.Contains([]int{exitYes, exitNo, exitFailed, exitDefect}, w.code) || dropped {
		return
	}
	w.code = exitFailed
	w.say("mcpsnoop watch: judging ended before its time, recording did not: " + term.Escape(how))
}

// follow has what a tap of that id writes to a log judged, from now on. The tap must
// write to what it returns.
func (w *watch) follow(log tap.Log, id string) tap.Log {
	if w == nil {
		return log
	}
	l := &wakingLog{Log: log, watch: w}
	w.mu.Lock()
	l.number = len(w.logs)
	w.logs = append(w.logs, l)
	w.queue = append(w.queue, notice{Path: []byte(log.Path()), Tap: id, Log: l.number})
	w.mu.Unlock()
	w.wake()
	return l
}

// unjudged notes that a session is not recorded, and so not judged.
func (w *watch) unjudged(err error) {
	if w != nil {
		w.mu.Lock()
		w.queue = append(w.queue, notice{Lost: err.Error()})
		w.mu.Unlock()
		w.wake()
	}
}

func (w *watch) wake() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// wakingLog says when something was written, and why first it could not be.
type wakingLog struct {
	tap.Log
	watch  *watch
	number int

	// Guarded by watch.mu.
	wrote  bool // since that was last said
	failed bool
}

func (l *wakingLog) Write(p []byte) (int, error) {
	n, err := l.Log.Write(p)
	w := l.watch
	w.mu.Lock()
	l.wrote = l.wrote || n > 0
	if err != nil && !l.failed {
		l.failed = true
		w.queue = append(w.queue, notice{Log: l.number, Fault: err.Error()})
	}
	w.mu.Unlock()
	w.wake()
	return n, err
}

// send passes news on to the judge until the taps have written all. It alone waits if
// the judge does not listen.
func (w *watch) send(pipe io.WriteCloser) {
	defer pipe.Close()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for last := false; !last; {
		select {
		case <-w.news:
		case <-w.over:
			last = true
		}
		if err := w.tell(pipe); err != nil {
			return // it ended, see await
		}
		pause.Reset(wakeEvery)
		select {
		case <-pause.C:
		case <-w.over:
		}
	}
}

// tell sends what there is to be said.
func (w *watch) tell(pipe io.Writer) error {
	w.mu.Lock()
	queue := w.queue
	w.queue = nil
	for _, l := range w.logs {
		if l.wrote {
			l.wrote = false
			queue = append(queue, notice{Log: l.number, Wrote: true})
		}
	}
	w.mu.Unlock()
	var lines []byte
	for i := range queue {
		line, err := json.Marshal(&queue[i])
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	_, err := pipe.Write(lines)
	return err
}

// finish has the judge come to its end, or drops it. It does nothing the second time.
func (w *watch) finish(drop bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.ended, w.dropped = true, drop
	close(w.over)
	if drop {
		w.judge.Kill()
	}
}

// quit drops the judge where the tap never came to its end.
func (w *watch) quit() {
	if w != nil {
		w.finish(true)
		<-w.gone
	}
}

// end waits until the judge has told all once the tap has ended with that exit code,
// and returns what the program exits with.
func (w *watch) end(code int) error {
	if w == nil {
		return answer(code)
	}
	w.finish(false)
	<-w.gone
	switch {
	case w.code == exitDefect:
		return answer(exitDefect)
	case code != exitYes || !w.o.fail || w.code == exitYes:
		return answer(code)
	case w.code == exitNo:
		return answer(exitNo)
	}
	return answer(exitFailed) // nobody knows, and why was said
}
