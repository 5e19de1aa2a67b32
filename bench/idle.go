package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// idleRows measure the shim that has nothing to do, which is what it mostly is.
func idleRows(e *env) ([]row, error) {
	rss := row{what: "idle shim: RSS", unit: "MB", budget: 14}
	for range min(e.rounds, 5) {
		v, err := e.idleRSS()
		if err != nil {
			return nil, err
		}
		rss.values = append(rss.values, v)
	}

	hello, err := e.hello()
	if err != nil {
		return nil, err
	}
	start := row{what: "shim: first byte of a server behind it, later than without", unit: "ms", budget: 8}
	shim := []string{e.binary, "--home", filepath.Join(e.dir, "home"), "--quiet", "--", hello}
	for range 3 * e.rounds { // short runs: more of them
		plain, err := firstByte(hello)
		if err != nil {
			return nil, err
		}
		behind, err := firstByte(shim...)
		if err != nil {
			return nil, err
		}
		start.values = append(start.values, micros(behind-plain)/1e3)
	}

	stripped := filepath.Join(e.dir, "stripped")
	if _, err := e.output("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", stripped, "./cmd/mcpsnoop"); err != nil {
		return nil, err
	}
	info, err := os.Stat(stripped)
	if err != nil {
		return nil, err
	}
	size := row{what: "binary, stripped", unit: "MiB", budget: 24, values: []float64{float64(info.Size()) / (1 << 20)}}
	return []row{rss, start, size}, nil
}

// hello builds the smallest Go program that says something.
func (e *env) hello() (string, error) {
	source := filepath.Join(e.dir, "hello.go")
	text := "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return "", err
	}
	path := filepath.Join(e.dir, "hello")
	_, err := e.output("go", "build", "-o", path, source)
	return path, err
}

// firstByte times a command from its start to its first byte of output.
func firstByte(argv ...string) (time.Duration, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, err = out.Read(make([]byte, 1))
	took := time.Since(start)
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return 0, fmt.Errorf("%v: no output: %w", argv, err)
	}
	return took, cmd.Wait()
}

// idleRSS returns the resident set of a shim a while after one exchange, in MB.
func (e *env) idleRSS() (float64, error) {
	cmd := exec.Command(e.binary, "--home", filepath.Join(e.dir, "home"), "--quiet", "--", "cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer cmd.Wait()
	defer in.Close()
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return 0, err
	}
	time.Sleep(500 * time.Millisecond)
	bytes, err := rss(cmd.Process.Pid)
	return bytes / 1e6, err
}
