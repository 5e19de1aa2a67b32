//go:build unix

package tap

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestHTTPSignals: those that ask us to end do, without an error.
func TestHTTPSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		h := tapHTTP(t, "http://127.0.0.1:1", nil)
		if err := syscall.Kill(os.Getpid(), syscall.SIGPIPE); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-h.ended:
			if err != nil {
				t.Errorf("%v: %v", sig, err)
			}
			h.ended <- err
		case <-time.After(hang):
			t.Fatalf("%v did not end the tap", sig)
		}
	}
}
