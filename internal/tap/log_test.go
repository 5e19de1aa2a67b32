package tap

import (
	"bytes"
	"encoding/json"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const helperEnv = "TAP_TEST_HELPER"

// hang is how long a test waits for what should come at once.
const hang = 2 * time.Minute

func TestMain(m *testing.M) {
	if mode := os.Getenv(helperEnv); mode != "" {
		os.Unsetenv(helperEnv)
		helper(mode, os.Args[1:])
		return
	}
	// With the race detector, our helpers would sleep a second before they end.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	hear()
	goleak.VerifyTestMain(m)
}

// hear makes sure that what we start gets the signals that tests send, also where we
// were started to ignore them, as nohup and background jobs are: a new program
// ignores what we ignore, and not what we catch.
func hear() {
	for _, s := range []os.Signal{syscall.SIGHUP, os.Interrupt, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// memLog is a log in memory that can be made to misbehave.
type memLog struct {
	mu     sync.Mutex
	parts  []bytes.Buffer
	writes int
	syncs  int
	stall  chan struct{}                     // if not nil, writes wait until it is closed
	write  func(p []byte) (int, error, bool) // if it returns true, that is what a write does
	gone   bool
	noPart error
	torn   bool
}

func (l *memLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	stall := l.stall
	l.writes++
	l.mu.Unlock()
	if stall != nil {
		<-stall
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	part := l.part()
	if l.write != nil {
		if n, err, stop := l.write(p); stop {
			if n > 0 {
				l.begin(part)
				part.Write(p[:n])
				l.torn = p[n-1] != '\n'
			}
			return n, err
		}
	}
	l.begin(part)
	return part.Write(p)
}

// begin begins a line of its own, as Log asks.
func (l *memLog) begin(part *bytes.Buffer) {
	if l.torn {
		part.WriteByte('\n')
		l.torn = false
	}
}

func (l *memLog) part() *bytes.Buffer {
	if len(l.parts) == 0 {
		l.parts = make([]bytes.Buffer, 1, 100)
	}
	return &l.parts[len(l.parts)-1]
}

func (l *memLog) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.syncs++
	return nil
}

func (l *memLog) NextPart() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.noPart == nil {
		l.parts = append(l.parts, bytes.Buffer{})
	}
	return l.noPart
}

func (l *memLog) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(l.part().Len())
}

func (l *memLog) Gone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

func (l *memLog) Path() string { return "memory" }

func (l *memLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []byte
	for i := range l.parts {
		all = append(all, l.parts[i].Bytes()...)
	}
	return string(all)
}

// logged is a frame as it stands in a log.
type logged struct {
	Seq       uint64          `json:"seq"`
	Tap       string          `json:"session_id"`
	Label     string          `json:"server_label"`
	Time      time.Time       `json:"ts"`
	Direction string          `json:"direction"`
	Kind      string          `json:"kind"`
	MonoUS    int64           `json:"mono_us"`
	Raw       json.RawMessage `json:"raw"`
	Text      *string         `json:"text"`
	Bytes     []byte          `json:"bytes"`
	Size      int64           `json:"size"`
	EOL       string          `json:"eol"`
	Truncated bool            `json:"truncated"`
}

func (f logged) payload() string {
	switch {
	case f.Text != nil:
		return *f.Text
	case f.Raw != nil:
		return string(f.Raw)
	}
	return string(f.Bytes)
}

// meta is what the payload of one of the tap's own frames says.
type meta struct {
	Command   []string       `json:"command"`
	Cwd       string         `json:"cwd"`
	PID       int            `json:"pid"`
	ServerPID int            `json:"server_pid"`
	Client    map[string]any `json:"client"`
	Lost      uint64         `json:"lost"`
	First     uint64         `json:"first"`
	Last      uint64         `json:"last"`
	Bytes     int64          `json:"bytes"`
	Reason    string         `json:"reason"`
	WallUS    int64          `json:"wall_us"`
	MonoUS    int64          `json:"mono_us"`
	ExitCode  *int           `json:"exit_code"`
	Signal    string         `json:"signal"`
	Frames    uint64         `json:"frames"`
	Dropped   uint64         `json:"dropped"`
}

func (f logged) meta(t *testing.T) (m meta) {
	t.Helper()
	if err := json.Unmarshal(f.Raw, &m); err != nil {
		t.Fatalf("frame %d: %v", f.Seq, err)
	}
	return m
}

// decode reads a log. Lines that are no JSON are skipped if torn.
func decode(t *testing.T, text string) []logged {
	t.Helper()
	frames, torn := decodeTorn(t, text)
	if torn > 0 {
		t.Fatalf("%d torn lines in the log", torn)
	}
	return frames
}

func decodeTorn(t *testing.T, text string) (frames []logged, torn int) {
	t.Helper()
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Errorf("log ends inside a line")
	}
	for line := range strings.Lines(text) {
		var f logged
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			torn++
			continue
		}
		frames = append(frames, f)
	}
	return frames, torn
}

// checkOrder checks numbers and times: each frame has the next number, but for what
// a gap tells of just after.
func checkOrder(t *testing.T, frames []logged) {
	t.Helper()
	for i, f := range frames {
		if i == 0 {
			if f.Seq != 1 || f.Kind != "start" {
				t.Errorf("log begins with frame %d, kind %q", f.Seq, f.Kind)
			}
			continue
		}
		before := frames[i-1]
		if f.Time.Before(before.Time) || f.MonoUS < before.MonoUS {
			t.Errorf("frame %d is earlier than frame %d", f.Seq, before.Seq)
		}
		want := before.Seq + 1
		if f.Kind == "gap" {
			m := f.meta(t)
			if m.First != want || m.Last != f.Seq-1 || m.Lost != m.Last-m.First+1 {
				t.Errorf("gap %d after frame %d says %d of %d to %d", f.Seq, before.Seq, m.Lost, m.First, m.Last)
			}
			want = m.Last + 1
		}
		if f.Seq != want {
			t.Errorf("frame %d after frame %d", f.Seq, before.Seq)
		}
	}
}

// of returns the frames of one direction.
func of(direction string, frames []logged) (list []logged) {
	for _, f := range frames {
		if f.Direction == direction {
			list = append(list, f)
		}
	}
	return list
}

func kind(kind string, frames []logged) (list []logged) {
	for _, f := range frames {
		if f.Kind == kind {
			list = append(list, f)
		}
	}
	return list
}
