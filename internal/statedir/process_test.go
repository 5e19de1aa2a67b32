package statedir

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// Tests that need a second process run this binary again in one of these roles,
// on the file given.
const roleVar, fileVar = "STATEDIR_TEST_ROLE", "STATEDIR_TEST_FILE"

var roles = map[string]func(path string) error{
	// Writes what it is told on stdin, until its end.
	"write": func(path string) error {
		l, err := OpenTrace(path)
		if err != nil {
			return err
		}
		fmt.Println("ready")
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			text, err := strconv.Unquote(in.Text())
			if err != nil {
				return err
			}
			if _, err := l.Write([]byte(text)); err != nil {
				return err
			}
			fmt.Println("written")
		}
		return l.Close()
	},
	// Appends many lines of its own as fast as it can.
	"flood": func(path string) error {
		l, err := OpenTrace(path)
		if err != nil {
			return err
		}
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		for i := range floodLines {
			if _, err := l.Write([]byte(floodLine(os.Getpid(), i))); err != nil {
				return err
			}
		}
		return l.Close()
	},
	// Probes, and is stopped by the system just when it holds the lock.
	"probe": func(path string) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		if err := lock(f, exclusive); err != nil {
			return err
		}
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		unlock(f)
		return nil
	},
}

const floodLines = 2000

func floodLine(pid, i int) string {
	return fmt.Sprintf("%d %d %s\n", pid, i, strings.Repeat("x", i%200))
}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		goleak.VerifyTestMain(m)
	}
	if err := roles[role](os.Getenv(fileVar)); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
}

// other is this test binary in a role, as a process of its own.
type other struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t *testing.T, role, path string) *other {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleVar+"="+role, fileVar+"="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := &other{t, cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	o.expect("ready")
	return o
}

func (o *other) expect(want string) {
	o.t.Helper()
	line, err := o.out.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != want {
		o.t.Fatalf("other process said %q (%v), want %q", line, err, want)
	}
}

// write makes the other process write text by one write.
func (o *other) write(text string) {
	o.t.Helper()
	fmt.Fprintln(o.in, strconv.Quote(text))
	o.expect("written")
}

// end lets the other process close its log and exit.
func (o *other) end() {
	o.t.Helper()
	o.in.Close()
	if err := o.cmd.Wait(); err != nil {
		o.t.Fatal(err)
	}
}

// kill ends the other process as kill -9 does.
func (o *other) kill() {
	o.t.Helper()
	if err := o.cmd.Process.Kill(); err != nil {
		o.t.Fatal(err)
	}
	_ = o.cmd.Wait()
}
