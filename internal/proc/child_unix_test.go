//go:build unix

package proc

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// start starts a command whose output is read from the returned file.
func start(t *testing.T, c Command) (*Child, *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	c.Stdin, c.Stdout, c.Stderr = null, w, w
	child, err := Start(c)
	null.Close()
	w.Close()
	if err != nil {
		r.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		child.Kill()
		child.Reap()
		r.Close()
	})
	return child, bufio.NewReader(r)
}

func readLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("read from child: %q, %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// waitGone waits until a process has ended or is a zombie.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for time.Now().Before(deadline) {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if i := strings.LastIndex(string(stat), ") "); err == nil && strings.HasPrefix(string(stat)[i+2:], "Z") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
	syscall.Kill(pid, syscall.SIGKILL)
}

func TestStatus(t *testing.T) {
	tests := []struct {
		script, signal string
		code           int
	}{
		{"exit 0", "", 0},
		{"exit 7", "", 7},
		{"kill -TERM $$", "SIGTERM", 143},
		{"kill -KILL $$", "SIGKILL", 137},
		{"kill -USR1 $$", "SIGUSR1", 128 + int(syscall.SIGUSR1)},
	}
	for _, test := range tests {
		t.Run(test.script, func(t *testing.T) {
			child, _ := start(t, Command{Argv: []string{"sh", "-c", test.script}})
			<-child.Exited()
			status := child.Reap()
			if status.ExitCode() != test.code || status.SignalName() != test.signal {
				t.Errorf("code %d, signal %q; want %d, %q", status.ExitCode(), status.SignalName(), test.code, test.signal)
			}
			if err := child.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("signal after reaping: %v", err)
			}
			if child.Reap() != status {
				t.Error("a second Reap tells otherwise")
			}
		})
	}
}

// TestSignalReachesTheGroup: a launcher that passes nothing on does not keep a
// signal from what it launched.
func TestSignalReachesTheGroup(t *testing.T) {
	child, out := start(t, Command{Argv: []string{"sh", "-c", `sh -c 'echo $$; exec sleep 60' & wait`}})
	grandchild, err := strconv.Atoi(readLine(t, out))
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-child.Exited()
	waitGone(t, grandchild)
	if got := child.Reap().ExitCode(); got != 143 {
		t.Errorf("exit code %d, want 143", got)
	}
}

// TestKillAfterExit: until it is reaped, a child's group can be killed though the
// child itself is gone.
func TestKillAfterExit(t *testing.T) {
	child, out := start(t, Command{Argv: []string{"sh", "-c", `sh -c 'echo $$; exec sleep 60' & read x; exit 3`}})
	grandchild, err := strconv.Atoi(readLine(t, out))
	if err != nil {
		t.Fatal(err)
	}
	<-child.Exited()
	if err := child.Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	waitGone(t, grandchild)
	if got := child.Reap().ExitCode(); got != 3 {
		t.Errorf("exit code %d, want the child's own 3", got)
	}
}

func TestGroup(t *testing.T) {
	own, _ := start(t, Command{Argv: []string{"sleep", "60"}})
	if pgid, _ := syscall.Getpgid(own.Pid()); pgid != own.Pid() {
		t.Errorf("process group %d, want its own %d", pgid, own.Pid())
	}
	ours, _ := start(t, Command{Argv: []string{"sleep", "60"}, Foreground: true})
	if pgid, _ := syscall.Getpgid(ours.Pid()); pgid != syscall.Getpgrp() {
		t.Errorf("process group %d, want ours %d", pgid, syscall.Getpgrp())
	}
	// Ending it must not end the group it shares with us.
	if err := ours.Kill(); err != nil {
		t.Error(err)
	}
	<-ours.Exited()
}

// TestThread: the child outlives any thread but the one that waits for it.
func TestThread(t *testing.T) {
	child, _ := start(t, Command{Argv: []string{"sleep", "60"}})
	done := make(chan struct{})
	for range 32 { // threads of goroutines that end locked are ended
		go func() {
			runtime.LockOSThread()
			time.Sleep(5 * time.Millisecond)
			done <- struct{}{}
		}()
	}
	for range 32 {
		<-done
	}
	select {
	case <-child.Exited():
		t.Error("the child died with a thread")
	case <-time.After(100 * time.Millisecond):
	}
}

// TestDiesWithUs kills the process that started a server.
func TestDiesWithUs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux kills a child with its parent")
	}
	keeper := exec.Command(os.Args[0], "sleep", "60")
	keeper.Env = append(os.Environ(), "PROC_TEST_HELPER=keeper")
	out, err := keeper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := keeper.Start(); err != nil {
		t.Fatal(err)
	}
	server, err := strconv.Atoi(readLine(t, bufio.NewReader(out)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(server, 0); err != nil {
		t.Fatalf("server is not running: %v", err)
	}
	keeper.Process.Kill()
	keeper.Wait()
	waitGone(t, server)
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("plain", "hello", 0o644)
	script := write("orphan", "#!/no/such/shell -x\n", 0o755)
	t.Setenv("PATH", dir+":/nowhere")
	tests := []struct {
		name, says string
		code       int
	}{
		{"no-such-program", `no program "no-such-program": looked in PATH: ` + dir + ", /nowhere", 127},
		{"./nope", `no program "./nope": looked at /`, 127},
		{filepath.Join(dir, "plain", "x"), "no program", 127},
		{"", "looked at an empty name", 127},
		{"plain", `cannot run "plain": ` + filepath.Join(dir, "plain") + ": permission denied", 126},
		{filepath.Join(dir, "plain"), "permission denied", 126},
		{dir, "is a directory", 126},
		{script, `asks for the interpreter "/no/such/shell"`, 126},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			child, err := Start(Command{Argv: []string{test.name}, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
			var start *StartError
			if !errors.As(err, &start) {
				t.Fatalf("got %v, %v", child, err)
			}
			if start.Code != test.code || !strings.Contains(err.Error(), test.says) {
				t.Errorf("code %d, %q; want %d, %q", start.Code, err, test.code, test.says)
			}
		})
	}
}

// TestScriptWithoutInterpreter: what execvp would give to the shell, so do we.
func TestScriptWithoutInterpreter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(path, []byte("echo \"$0 got $1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, out := start(t, Command{Argv: []string{path, "an argument"}})
	if got, want := readLine(t, out), path+" got an argument"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCommand(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, out := start(t, Command{Argv: []string{"sh", "-c", `pwd; echo "$WORD"`}, Dir: dir, Env: []string{"WORD=said"}})
	got, err := io.ReadAll(out)
	if err != nil || string(got) != dir+"\nsaid\n" {
		t.Errorf("got %q, %v", got, err)
	}
}
