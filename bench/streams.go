package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// streamRows measure what an open stream costs the HTTP tap that has nothing else to
// do: clients keep one open for as long as they live.
func streamRows(e *env) ([]row, error) {
	const few, many = 100, 1100
	r := row{what: fmt.Sprintf("http tap: RSS a stream, from %d open SSE streams to %d", few, many), unit: "KiB", budget: 96}
	target, stop, err := serveStreams()
	if err != nil {
		return nil, err
	}
	defer stop()
	for range min(e.rounds, 5) {
		slope, err := e.streamSlope(target, few, many)
		if err != nil {
			return nil, err
		}
		r.values = append(r.values, slope/1024)
	}
	return []row{r}, nil
}

// serveStreams answers every request with a stream of one event that does not end.
func serveStreams() (url string, stop func(), err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"hello\"}}\n\n")
		http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-ctx.Done():
		}
	})}
	go server.Serve(ln)
	return "http://" + ln.Addr().String() + "/mcp", func() {
		cancel()
		server.Close()
	}, nil
}

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// streamSlope returns how much the tap grows for each stream, in bytes.
func (e *env) streamSlope(target string, few, many int) (float64, error) {
	cmd := exec.Command(e.binary, "http", "--home", filepath.Join(e.dir, "home"), "--label", "streams",
		"--target", target, "--listen", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer cmd.Wait()
	defer cmd.Process.Signal(syscall.SIGTERM)
	in := bufio.NewReader(stderr)
	banner, _ := in.ReadString('\n')
	go io.Copy(io.Discard, in)
	m := listening.FindStringSubmatch(banner)
	if m == nil {
		return 0, fmt.Errorf("the proxy says %q", banner)
	}
	transport := &http.Transport{}
	ctx, hangUp := context.WithCancel(context.Background())
	defer hangUp() // before the signal: it would wait for what is open
	client := &http.Client{Transport: transport}
	var at [2]float64
	open := 0
	for i, n := range []int{few, many} {
		if err := openStreams(ctx, client, m[1]+"/mcp", n-open); err != nil {
			return 0, err
		}
		open = n
		time.Sleep(time.Second)
		if at[i], err = rss(cmd.Process.Pid); err != nil {
			return 0, err
		}
	}
	return (at[1] - at[0]) / float64(many-few), nil
}

// openStreams opens n streams that end with ctx, and waits for the first event of each.
func openStreams(ctx context.Context, client *http.Client, url string, n int) error {
	errs := make(chan error, n)
	turn := make(chan struct{}, 16) // as many at a time
	var wg sync.WaitGroup
	for range n {
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			ask, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				errs <- err
				return
			}
			ask.Header.Set("Accept", "text/event-stream")
			res, err := client.Do(ask)
			if err == nil {
				_, err = io.ReadFull(res.Body, make([]byte, len("id: 1")))
			}
			if err != nil {
				errs <- fmt.Errorf("open a stream: %w", err)
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

var resident = regexp.MustCompile(`(?m)^VmRSS:\s*(\d+) kB$`)

// rss returns the resident set of a process, in bytes.
func rss(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read the tap's memory (Linux only): %w", err)
	}
	m := resident.FindSubmatch(status)
	if m == nil {
		return 0, fmt.Errorf("no VmRSS in the status of the tap")
	}
	kb, _ := strconv.ParseFloat(string(m[1]), 64)
	return kb * 1024, nil
}
