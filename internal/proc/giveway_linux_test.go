package proc

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestGiveWay: the goroutine that asks for it runs at the lowest priority, on a thread that no
// other goroutine gets.
func TestGiveWay(t *testing.T) {
	nice := func() int {
		raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			t.Error(err)
		}
		return 20 - raw // as the system call has it
	}
	if nice() == 19 {
		t.Skip("everything runs at the lowest priority here")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		GiveWay()
		if n := nice(); n != 19 {
			t.Errorf("nice %d, want 19", n)
		}
		others := make(chan int)
		for range 32 {
			go func() { others <- nice() }()
		}
		for range 32 {
			if n := <-others; n == 19 {
				t.Error("another goroutine gives way too")
			}
		}
	}()
	<-done
}
