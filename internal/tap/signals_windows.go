package tap

import (
	"os"
	"os/signal"
	"syscall"

	"mcpsnoop/internal/proc"
)

// signals are the console's events. The console gives them to the server itself.
type signals struct{ c chan os.Signal }

func catch(bool) *signals {
	s := &signals{c: make(chan os.Signal, 16)}
	signal.Notify(s.c, os.Interrupt, syscall.SIGTERM)
	return s
}

func (s *signals) stop() { signal.Stop(s.c) }

func ends(os.Signal) bool { return true }

func insists(os.Signal) bool { return true }

func (s *signals) pass(os.Signal, *proc.Child) {}

func survivePipes() {}
