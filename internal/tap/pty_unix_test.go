//go:build unix

package tap

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// terminal is a terminal, and a job in its foreground.
type terminal struct {
	*os.File
	out lineReader
	cmd *exec.Cmd
}

// helperShell is what a shell does with a job: a process group of its own, in the
// terminal's foreground. It prints the job's id and ends with its exit code.
func helperShell(args []string) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if os.Getenv("TAP_NO_STDIN") != "" { // so that two do not read from the terminal
		cmd.Stdin = nil
	}
	cmd.Env = append(os.Environ(), helperEnv+"=shim")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(99)
	}
	fmt.Println(cmd.Process.Pid)
	cmd.Wait()
	fmt.Println("exit", exitCode(cmd.ProcessState))
}

// inTerminal runs a tapped command as a shell in a terminal would, and returns the
// tap's process id.
func inTerminal(t *testing.T, env []string, command ...string) (*terminal, int) {
	t.Helper()
	cmd := shimCommand(t, env, append([]string{os.Args[0]}, command...)...)
	cmd.Env = append(cmd.Env, helperEnv+"=shell")
	f, err := pty.Start(cmd)
	if err != nil {
		t.Skip("no terminal: ", err)
	}
	term := &terminal{f, lineReader{bufio.NewReader(f)}, cmd}
	f.SetReadDeadline(time.Now().Add(hang))
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		f.Close()
	})
	return term, term.number(t)
}

// said returns the next line that is not an echo of what was typed.
func (term *terminal) said(t *testing.T) string {
	t.Helper()
	for {
		line := strings.TrimRight(term.out.line(t), "\r")
		line = strings.TrimLeft(line, "^CZ\x08 ")
		if line != "" && line != "end" {
			return line
		}
	}
}

func (term *terminal) number(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(term.said(t))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCtrlC: it reaches the server once, in a group of its own and in the terminal's.
func TestCtrlC(t *testing.T) {
	for _, foreground := range []string{"", "1"} {
		t.Run("foreground"+foreground, func(t *testing.T) {
			term, shim := inTerminal(t, []string{"TAP_FOREGROUND=" + foreground}, helperCommand("signals")...)
			server := term.number(t)
			own := mustGroup(t, server) == server
			if own == (foreground != "") {
				t.Errorf("the server has a group of its own: %v", own)
			}
			// We pass SIGINT on with a SIGCONT behind it. A busy server gets both at once and may
			// tell of the second first. From the terminal alone comes no SIGCONT.
			said := func() string {
				got := term.said(t)
				for foreground == "" && got == "SIGCONT" {
					got = term.said(t)
				}
				return got
			}
			term.WriteString("\x03")
			if got := said(); got != "SIGINT" {
				t.Errorf("the server got %q", got)
			}
			time.Sleep(200 * time.Millisecond)
			// What does not come from the terminal we pass on in both cases.
			syscall.Kill(shim, syscall.SIGUSR1)
			if got := said(); got != "SIGUSR1" {
				t.Errorf("then the server got %q", got)
			}
			term.WriteString("end\n")
			if got := said(); got != "exit 3" {
				t.Errorf("at the end: %q", got)
			}
		})
	}
}

// TestForegroundTerm: a TERM for us alone reaches a server in the foreground, too.
func TestForegroundTerm(t *testing.T) {
	term, shim := inTerminal(t, []string{"TAP_FOREGROUND=1"}, "sh", "-c", "echo up; exec sleep 60")
	if got := term.said(t); got != "up" {
		t.Fatalf("got %q", got)
	}
	syscall.Kill(shim, syscall.SIGTERM)
	if got := term.said(t); got != "exit 143" {
		t.Errorf("at the end: %q", got)
	}
}

// TestForegroundReads: a server in the foreground may ask at the terminal.
func TestForegroundReads(t *testing.T) {
	term, _ := inTerminal(t, []string{"TAP_FOREGROUND=1", "TAP_NO_STDIN=1"}, "sh", "-c", "echo ask; read x </dev/tty; echo answer $x; exit 4")
	if got := term.said(t); got != "ask" {
		t.Fatalf("got %q", got)
	}
	term.WriteString("secret\n")
	for {
		switch got := term.said(t); got {
		case "secret": // the terminal's echo
		case "answer secret":
			return
		default:
			t.Fatalf("got %q", got)
		}
	}
}

// TestCtrlZ: it stops the server and us; the shell's fg continues both.
func TestCtrlZ(t *testing.T) {
	term, shim := inTerminal(t, nil, "sh", "-c", "echo $$; read x; echo said $x; exit 4")
	server := term.number(t)
	term.WriteString("\x1a")
	eventually(t, "both stopped", func() bool { return state(server) == "T" && state(shim) == "T" })
	syscall.Kill(-mustGroup(t, shim), syscall.SIGCONT)
	eventually(t, "both run", func() bool { return state(server) != "T" && state(shim) != "T" })
	term.WriteString("hello\n")
	for {
		switch got := term.said(t); got {
		case "hello":
		case "said hello":
			if got := term.said(t); got != "exit 4" {
				t.Errorf("at the end: %q", got)
			}
			return
		default:
			t.Fatalf("got %q", got)
		}
	}
}

func mustGroup(t *testing.T, pid int) int {
	t.Helper()
	group, err := syscall.Getpgid(pid)
	if err != nil {
		t.Fatal(err)
	}
	return group
}
