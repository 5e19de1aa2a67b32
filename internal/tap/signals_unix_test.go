//go:build unix

package tap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// shim is a tap in a process of its own.
type shim struct {
	*exec.Cmd
	in   io.WriteCloser
	out  lineReader
	log  string
	done chan int // exit code
}

func startShim(t *testing.T, env []string, command ...string) *shim {
	t.Helper()
	s := &shim{log: filepath.Join(t.TempDir(), "log.jsonl"), done: make(chan int, 1)}
	s.Cmd = shimCommand(t, append(env, "TAP_LOG="+s.log), command...)
	var err error
	if s.in, err = s.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	r, w := pipe(t)
	s.Stdout, s.Stderr = w, os.Stderr
	s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a job of ours, which can be stopped
	s.out = lineReader{bufio.NewReader(r)}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	go func() {
		s.Wait()
		s.done <- exitCode(s.ProcessState)
	}()
	t.Cleanup(func() { s.Process.Kill() })
	return s
}

func exitCode(p *os.ProcessState) int {
	if ws := p.Sys().(syscall.WaitStatus); ws.Signaled() {
		return -int(ws.Signal())
	}
	return p.ExitCode()
}

func (s *shim) code(t *testing.T) int {
	t.Helper()
	select {
	case code := <-s.done:
		return code
	case <-time.After(hang):
		t.Fatal("the shim does not end")
		panic("not reached")
	}
}

// pid reads a process id that the server prints.
func (s *shim) pid(t *testing.T) int {
	t.Helper()
	pid, err := strconv.Atoi(s.out.line(t))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	return state(pid) != "Z"
}

// state returns the letter that stands for a process's state, "" if it cannot be had.
func state(pid int) string {
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		return string(stat[bytes.LastIndexByte(stat, ')')+2:][:1])
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if err != nil || len(out) == 0 {
		return ""
	}
	return string(out[:1])
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hang); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Errorf("never: %s", what)
}

func readLog(t *testing.T, path string) []logged {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	frames := decode(t, string(b))
	checkOrder(t, frames)
	return frames
}

// TestSignalMatrix: signals × servers: no hang, no orphan, the right code, and a
// log that ends.
func TestSignalMatrix(t *testing.T) {
	const counting = `trap 'echo got' TERM INT HUP QUIT; echo $$; while :; do sleep 0.05; done`
	servers := []struct {
		name, script string
		stop         bool // before the signal
		second       bool // it takes a second signal
		code         func(syscall.Signal) int
	}{
		{"plain", `echo $$; exec sleep 60`, false, false, nil},
		{"grandchild", `sh -c 'echo $$; exec sleep 60'; exit 0`, false, false, nil},
		{"grandchild in the background", `sleep 60 & echo $!; wait`, false, false, nil},
		{"own code", `trap 'exit 5' TERM INT HUP QUIT; echo $$; while :; do sleep 0.05; done`, false, false,
			func(syscall.Signal) int { return 5 }},
		{"ignoring", `trap '' TERM INT HUP QUIT; echo $$; while :; do sleep 0.05; done`, false, true,
			func(syscall.Signal) int { return 137 }},
		{"deaf", counting, false, true, func(syscall.Signal) int { return 137 }},
		{"stopped", `echo $$; exec sleep 60`, true, false, nil},
		{"stopped and ignoring", `trap '' TERM INT HUP QUIT; echo $$; while :; do sleep 0.05; done`, true, true,
			func(syscall.Signal) int { return 137 }},
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGKILL} {
		for _, server := range servers {
			t.Run(fmt.Sprint(unix.SignalName(sig), "/", server.name), func(t *testing.T) {
				if sig == syscall.SIGKILL && runtime.GOOS != "linux" {
					t.Skip("only Linux kills the server with us")
				}
				t.Parallel()
				s := startShim(t, nil, "sh", "-c", server.script)
				pid := s.pid(t)
				if server.stop {
					syscall.Kill(pid, syscall.SIGSTOP)
					eventually(t, "stopped", func() bool { return state(pid) == "T" })
				}
				if sig == syscall.SIGKILL && server.name != "plain" {
					// Killed, we take the server along. What that started sees its pipes
					// close; these do not look.
					t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
				}
				s.Process.Signal(sig)
				want := 128 + int(sig)
				if server.code != nil {
					want = server.code(sig)
				}
				if server.second && sig != syscall.SIGKILL {
					time.Sleep(200 * time.Millisecond)
					if !alive(pid) || !alive(s.Process.Pid) {
						t.Fatal("one signal was enough")
					}
					s.Process.Signal(syscall.SIGTERM)
					if sig == syscall.SIGHUP || sig == syscall.SIGQUIT { // these do not count
						time.Sleep(100 * time.Millisecond)
						s.Process.Signal(syscall.SIGTERM)
					}
				}
				code := s.code(t)
				if sig == syscall.SIGKILL {
					if code != -int(syscall.SIGKILL) {
						t.Errorf("exit code %d", code)
					}
				} else if code != want {
					t.Errorf("exit code %d, want %d", code, want)
				}
				if sig == syscall.SIGKILL && server.name != "plain" {
					return // grandchildren are the kernel's; see the direct child below
				}
				eventually(t, "no orphan", func() bool { return !alive(pid) })
				if sig == syscall.SIGKILL {
					return
				}
				frames := readLog(t, s.log)
				if last := frames[len(frames)-1]; last.Kind != "end" {
					t.Errorf("the log ends with %+v", last)
				}
			})
		}
	}
}

// helperSignals is a server that says which signals it got, and ends at a line.
func helperSignals() {
	c := make(chan os.Signal, 16)
	signal.Notify(c, passedOn...)
	fmt.Println(os.Getpid())
	line := make(chan struct{})
	go func() {
		lineReader{bufio.NewReader(os.Stdin)}.ReadString('\n')
		close(line)
	}()
	for {
		select {
		case sig := <-c:
			fmt.Println(unix.SignalName(sig.(syscall.Signal)))
		case <-line:
			os.Exit(3)
		}
	}
}

// TestSignalOnce: each signal reaches the server once, and what it does is its own
// affair. SIGCONT follows those that ask to end, in case the server is stopped.
func TestSignalOnce(t *testing.T) {
	for name, want := range map[string]string{
		"SIGINT": "SIGINT SIGCONT", "SIGTERM": "SIGTERM SIGCONT", "SIGHUP": "SIGHUP SIGCONT", "SIGQUIT": "SIGQUIT SIGCONT",
		"SIGUSR1": "SIGUSR1", "SIGUSR2": "SIGUSR2", "SIGTSTP": "SIGTSTP SIGCONT", "SIGCONT": "SIGCONT",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startShim(t, nil, helperCommand("signals")...)
			s.pid(t)
			s.Process.Signal(unix.SignalNum(name))
			if name == "SIGTSTP" {
				eventually(t, "stopped", func() bool { return state(s.Process.Pid) == "T" })
				s.Process.Signal(syscall.SIGCONT)
			}
			got := s.out.line(t) + " "
			time.Sleep(100 * time.Millisecond)
			fmt.Fprintln(s.in, "end")
			rest, _ := io.ReadAll(s.out)
			list := strings.Fields(got + string(rest))
			slices.SortFunc(list, func(a, b string) int { return -strings.Compare(a, b) }) // they may overtake each other
			got = strings.Join(list, " ")
			if code := s.code(t); got != want || code != 3 {
				t.Errorf("the server got %q, want %q; exit code %d", got, want, code)
			}
		})
	}
}

// TestStopAndContinue: the terminal's stop stops the server and us, and its
// continue both.
func TestStopAndContinue(t *testing.T) {
	s := startShim(t, nil, "sh", "-c", `echo $$; while read x; do echo "$x"; done; exit 3`)
	pid := s.pid(t)
	s.Process.Signal(syscall.SIGTSTP)
	eventually(t, "both stopped", func() bool { return state(pid) == "T" && state(s.Process.Pid) == "T" })
	s.Process.Signal(syscall.SIGCONT)
	eventually(t, "server runs", func() bool { return state(pid) != "T" })
	fmt.Fprintln(s.in, "still here")
	if got := s.out.line(t); got != "still here" {
		t.Errorf("got %q", got)
	}
	s.in.Close()
	if code := s.code(t); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

// TestStopWithoutShell: where nobody could continue us, a stop stops nobody.
func TestStopWithoutShell(t *testing.T) {
	cmd := shimCommand(t, nil, helperCommand("signals")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w := pipe(t)
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	out := lineReader{bufio.NewReader(r)}
	server, _ := strconv.Atoi(out.line(t))
	cmd.Process.Signal(syscall.SIGTSTP)
	for out.line(t) != "SIGCONT" { // after SIGTSTP, or instead of it
	}
	if state(server) == "T" || state(cmd.Process.Pid) == "T" {
		t.Error("stopped")
	}
	fmt.Fprintln(in, "end")
	cmd.Wait()
	if code := exitCode(cmd.ProcessState); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

func TestGrace(t *testing.T) {
	s := startShim(t, []string{"TAP_GRACE=300ms"}, "sh", "-c", `trap '' TERM; echo $$; while :; do sleep 0.05; done`)
	pid := s.pid(t)
	s.Process.Signal(syscall.SIGTERM)
	if code := s.code(t); code != 137 {
		t.Errorf("exit code %d", code)
	}
	if alive(pid) {
		t.Error("the server is still there")
	}
}

// TestKilledAfterSignal: at the first signal the log is written, so that being
// killed two seconds later loses nothing.
func TestKilledAfterSignal(t *testing.T) {
	s := startShim(t, nil, "sh", "-c", `trap '' TERM; echo $$; echo last words; while :; do sleep 0.05; done`)
	pid := s.pid(t)
	if got := s.out.line(t); got != "last words" {
		t.Fatalf("got %q", got)
	}
	s.Process.Signal(syscall.SIGTERM)
	eventually(t, "written", func() bool {
		b, _ := os.ReadFile(s.log)
		return strings.Contains(string(b), "last words")
	})
	s.Process.Kill()
	s.code(t)
	if runtime.GOOS == "linux" {
		eventually(t, "no orphan", func() bool { return !alive(pid) })
	} else {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	list := of("s2c", readLog(t, s.log))
	if len(list) != 2 {
		t.Errorf("recorded %+v", list)
	}
}

// TestKilledWithLauncher: a client that signals, and then kills us, leaves nothing
// behind, though a launcher stands between us and a server that ignores everything.
func TestKilledWithLauncher(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := startShim(t, nil, "sh", "-c", `trap '' TERM HUP; sh -c 'echo $$; while :; do sleep 0.05; done'; exit 0`)
			pid := s.pid(t)
			s.in.Close()
			s.Process.Signal(sig)
			time.Sleep(guardAfter + 400*time.Millisecond)
			if !alive(pid) {
				t.Fatal("the server is gone already")
			}
			s.Process.Kill()
			s.code(t)
			eventually(t, "no orphan", func() bool { return !alive(pid) })
		})
	}
}

// TestGuardIsDismissed: when all goes well, what a server left stays.
func TestGuardIsDismissed(t *testing.T) {
	s := startShim(t, nil, "sh", "-c", `trap 'sleep 60 >/dev/null 2>&1 & echo $!; sleep 0.5; exit 6' TERM; echo $$; while :; do sleep 0.05; done`)
	s.pid(t)
	s.Process.Signal(syscall.SIGTERM)
	left := s.pid(t)
	defer syscall.Kill(left, syscall.SIGKILL)
	if code := s.code(t); code != 6 {
		t.Errorf("exit code %d", code)
	}
	time.Sleep(100 * time.Millisecond)
	if !alive(left) {
		t.Error("what the server left was killed")
	}
}

// TestIgnoredStaysIgnored: what we were told to ignore, as nohup does, the server
// ignores too.
func TestIgnoredStaysIgnored(t *testing.T) {
	s := startShim(t, nil, "true")
	s.code(t)
	self := append([]string{"-c", `trap '' HUP; exec "$0" "$@"`, os.Args[0]}, "sh", "-c", `echo $$; read x; echo "$x"`)
	cmd := exec.Command("sh", self...)
	cmd.Env = append(os.Environ(), helperEnv+"=shim")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w := pipe(t)
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	out := lineReader{bufio.NewReader(r)}
	pid, _ := strconv.Atoi(out.line(t))
	cmd.Process.Signal(syscall.SIGHUP)
	syscall.Kill(pid, syscall.SIGHUP)
	time.Sleep(100 * time.Millisecond)
	fmt.Fprintln(in, "alive")
	if got := out.line(t); got != "alive" {
		t.Errorf("got %q", got)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestClientVanishes: a client that closes everything at once ends us in order, with
// a whole log, and SIGPIPE does not.
func TestClientVanishes(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.jsonl")
	cmd := shimCommand(t, []string{"TAP_LOG=" + log}, "sh", "-c",
		`trap '' PIPE; echo ready; while read x; do :; done; echo to nobody; echo to nobody >&2; sleep 0.2; echo nor this; exit 8`)
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	errR, errW := pipe(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inR.Close()
	outW.Close()
	errW.Close()
	lineReader{bufio.NewReader(outR)}.line(t)
	outR.Close()
	errR.Close()
	inW.Close()
	cmd.Wait()
	if code := exitCode(cmd.ProcessState); code != 8 {
		t.Errorf("exit code %d, want the server's", code)
	}
	frames := readLog(t, log)
	if last := frames[len(frames)-1]; last.Kind != "end" {
		t.Errorf("the log ends with %+v", last)
	}
	if got := len(of("s2c", frames)); got < 2 {
		t.Errorf("%d of the server's lines recorded", got)
	}
}
