//go:build unix

package tap

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpsnoop/internal/proc"
)

// helper is this test binary as a server, or as a tap around one.
func helper(mode string, args []string) {
	switch mode {
	case "echo":
		io.Copy(os.Stdout, struct{ io.Reader }{os.Stdin})
	case "answer": // a line for each line
		in := bufio.NewReader(os.Stdin)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			io.WriteString(os.Stdout, "answer to "+line)
		}
	case "flood": // n lines on stdout and n on stderr
		n, _ := strconv.Atoi(args[0])
		done := make(chan struct{})
		go func() {
			defer close(done)
			floodLines(os.Stderr, "e", n)
		}()
		floodLines(os.Stdout, "o", n)
		<-done
	case "signals": // names the signals it gets
		helperSignals()
	case "shell": // a terminal's, with a tap as its job
		helperShell(args)
	case "shim":
		os.Exit(helperShim(args))
	}
}

func floodLines(w io.Writer, prefix string, n int) {
	b := bufio.NewWriterSize(w, 4000)
	for i := range n {
		fmt.Fprintf(b, `{"stream":"%s","n":%d}`+"\n", prefix, i)
	}
	b.Flush()
}

// helperShim taps the command in args, as the shim does. The log's path and options
// come in the environment.
func helperShim(args []string) int {
	cfg := Stdio{Command: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	cfg.Limits = DefaultLimits()
	cfg.Tap, cfg.Label = "t-1-000000000000", "t"
	cfg.Foreground = os.Getenv("TAP_FOREGROUND") != ""
	cfg.Grace, _ = time.ParseDuration(os.Getenv("TAP_GRACE"))
	notices := NewNotices(os.Stderr)
	cfg.Notify = notices.Line
	if path := os.Getenv("TAP_LOG"); path != "" {
		log, err := openTestLog(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 99
		}
		cfg.Log = log
	}
	result, err := RunStdio(context.Background(), cfg)
	if err != nil {
		notices.Line("mcpsnoop: error: " + err.Error())
	}
	notices.Close(100 * time.Millisecond)
	return result.ExitCode
}

// testLog is a log file without parts.
type testLog struct {
	*os.File
	size int64
}

func openTestLog(path string) (*testLog, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	return &testLog{File: f}, err
}

func (l *testLog) Write(p []byte) (int, error) {
	n, err := l.File.Write(p)
	l.size += int64(n)
	return n, err
}
func (l *testLog) NextPart() error { return nil }
func (l *testLog) Size() int64     { return l.size }
func (l *testLog) Gone() bool      { _, err := os.Stat(l.Name()); return err != nil }
func (l *testLog) Path() string    { return l.Name() }

// lineReader reads lines that a test waits for.
type lineReader struct{ *bufio.Reader }

func (l lineReader) line(t *testing.T) string {
	t.Helper()
	s, err := l.ReadString('\n')
	if err != nil {
		t.Fatalf("read a line: %q, %v", s, err)
	}
	return strings.TrimSuffix(s, "\n")
}

// tapped is a tap that runs in this process, and the client's ends of it.
type tapped struct {
	log    *memLog
	in     *os.File // writes to the server
	out    lineReader
	errs   lineReader
	outf   *os.File
	errf   *os.File
	result chan Result
	err    error
	mu     sync.Mutex
	notes  []string
}

func helperCommand(mode string, args ...string) []string {
	return append([]string{"env", helperEnv + "=" + mode, os.Args[0]}, args...)
}

// run starts a tap; change changes its configuration first.
func run(t *testing.T, command []string, change func(*Stdio), ctx ...context.Context) *tapped {
	t.Helper()
	if ctx == nil {
		ctx = append(ctx, t.Context())
	}
	tp := &tapped{log: &memLog{}, result: make(chan Result, 1)}
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	errR, errW := pipe(t)
	tp.in, tp.outf, tp.errf = inW, outR, errR
	tp.out, tp.errs = lineReader{bufio.NewReaderSize(outR, 1<<20)}, lineReader{bufio.NewReader(errR)}
	cfg := Stdio{Command: command, Stdin: inR, Stdout: outW, Stderr: errW}
	cfg.Tap, cfg.Label, cfg.Log, cfg.Limits = "t-1-000000000000", "t", tp.log, DefaultLimits()
	cfg.waits.exit = hang // tests share their machine
	cfg.Notify = func(line string) {
		tp.mu.Lock()
		defer tp.mu.Unlock()
		tp.notes = append(tp.notes, line)
	}
	if change != nil {
		change(&cfg)
	}
	go func() {
		var r Result
		r, tp.err = RunStdio(ctx[0], cfg)
		inR.Close()
		outW.Close()
		errW.Close()
		tp.result <- r
	}()
	return tp
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.SetReadDeadline(time.Now().Add(hang)) // a test fails rather than hangs
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	return r, w
}

// wait waits for the tap to end.
func (tp *tapped) wait(t *testing.T) Result {
	t.Helper()
	select {
	case r := <-tp.result:
		var start *proc.StartError
		if tp.err != nil && !errors.As(tp.err, &start) {
			t.Errorf("run: %v", tp.err)
		}
		return r
	case <-time.After(hang):
		t.Fatal("the tap does not end")
		panic("not reached")
	}
}

func (tp *tapped) noted() string {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	return strings.Join(tp.notes, "\n")
}

// collect reads all of a file in the background.
func collect(r io.Reader) <-chan []byte {
	c := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(r)
		c <- b
	}()
	return c
}

func shimCommand(t *testing.T, env []string, command ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], command...)
	cmd.Env = append(append(os.Environ(), helperEnv+"=shim"), env...)
	return cmd
}
