package tap

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
)

// TestLateRecords: what comes after the end is dropped, and harms nothing.
func TestLateRecords(t *testing.T) {
	log := &memLog{}
	r := newRecorder(&Recording{Tap: "t-1-000000000000", Log: log, Limits: DefaultLimits(), clock: systemClock()})
	r.beginHTTP(capture.StartInfo{}, hints{}, nil)
	ex := &exchange{verb: "POST", path: "/"}
	r.asked(ex)
	r.closeHTTP(capture.EndInfo{})
	before := log.text()
	late := &exchange{verb: "POST"}
	r.asked(late)
	r.body(late, bitUp|bitLast, []byte("x"), nil, 0)
	r.answered(late)
	r.body(late, bitLast, []byte("x"), nil, 0)
	r.cut(late)
	r.noMore(ex)
	r.flush()
	if log.text() != before {
		t.Errorf("written after the end: %s", log.text()[len(before):])
	}
}

// TestUploadReadAndClose: the transport closes a body while it reads it.
func TestUploadReadAndClose(t *testing.T) {
	for range 200 {
		pr, pw := io.Pipe()
		u := newUpload(pr, -1, &exchange{}, nil)
		var wg sync.WaitGroup
		wg.Go(func() {
			buf := make([]byte, 10)
			for {
				if _, err := u.Read(buf); err != nil {
					return
				}
			}
		})
		wg.Go(func() { u.Close() })
		wg.Go(func() {
			pw.Write([]byte("some bytes"))
			pw.Close()
		})
		wg.Wait()
		select {
		case <-u.done:
		default:
			t.Fatal("the upload is not done")
		}
	}
}

// TestUnfinishedRequest: an answer that is complete before the request is leaves
// nothing of it behind.
func TestUnfinishedRequest(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 64<<10)
			for got := 0; got < 40_000; {
				n, err := c.Read(buf)
				if err != nil {
					break
				}
				got += n
			}
			io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
			time.AfterFunc(time.Second, func() { c.Close() })
		}
	}()
	h := tapHTTP(t, "http://"+ln.Addr().String(), func(c *HTTP) { c.Limits.QueueBytes = 100 << 10 })
	for i := range 10 { // together more than there is room for
		c, err := net.Dial("tcp", h.addr)
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(hang))
		io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"+strings.Repeat("x", 45_000))
		if _, err := io.ReadAtLeast(c, make([]byte, 1000), 40); err != nil {
			t.Fatal(err)
		}
		c.Close()
		for end := time.Now().Add(hang); strings.Count(h.log.text(), `"status":413`) <= 2*i; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("answer %d is not recorded", i+1)
			}
		}
	}
	h.stop()
	if n := h.noted(); strings.Contains(n, "not recorded") {
		t.Errorf("notes are %q", n)
	}
	for _, f := range readFrames(t, h.log.text()) {
		if f.Dir == capture.C2S {
			t.Errorf("half a request is recorded as a message: %d bytes", f.Size)
		}
	}
}

// TestStaleConnections: that a server closed an idle connection is no failure, as
// long as nothing was sent on it.
func TestStaleConnections(t *testing.T) {
	s := startRaw(t, func(int, rawMessage) string { return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok<close>" })
	h := tapHTTP(t, s.url(), nil)
	for range 50 {
		res, body := post(t, h.url, "{}")
		if res.StatusCode != http.StatusOK || body != "ok" {
			t.Errorf("got %d %q", res.StatusCode, body)
		}
		time.Sleep(time.Millisecond) // the end of the connection is here
	}
}
