//go:build unix

package cli

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"mcpsnoop/internal/demo"
	"mcpsnoop/internal/statedir"
)

// TestInterruptedDemo: Ctrl-C ends the demo and what it started, the proxy too, which
// nobody's end of input would end.
func TestInterruptedDemo(t *testing.T) {
	home := t.TempDir()
	log, err := expectLog(statedir.Dir(home), demo.Railway)
	if err != nil {
		t.Fatal(err)
	}
	// Only the demo is signalled here, not the group that a terminal would mean.
	var said bytes.Buffer
	c := exec.Command(asMcpsnoop(t), "--home", home, "demo")
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stuck := context.AfterFunc(ctx, func() { c.Process.Kill() })
	defer stuck()
	addr, err := log.listen(ctx)
	if err != nil {
		c.Wait()
		t.Fatalf("%v\n%s", err, said.Bytes())
	}
	c.Process.Signal(os.Interrupt)
	err = c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupt {
		t.Errorf("%v, want exit code %d", err, exitInterrupt)
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("the proxy is still there")
	}
}

// asMcpsnoop returns this test binary under the name by which it is the program, also
// for what it starts itself.
func asMcpsnoop(t *testing.T) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mcpsnoop")
	if os.Link(self, path) == nil {
		return path
	}
	program, err := os.ReadFile(self) // on another file system
	if err == nil {
		err = os.WriteFile(path, program, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
