package proc

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv("PROC_TEST_HELPER"); mode != "" {
		helper(mode)
		return
	}
	// With the race detector, our helpers would sleep a second before they end.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	hear()
	goleak.VerifyTestMain(m)
}

// hear makes sure that what we start gets the signals that tests send, also where we
// were started to ignore them, as nohup and background jobs are: a new program
// ignores what we ignore, and not what we catch.
func hear() {
	for _, s := range []os.Signal{syscall.SIGHUP, os.Interrupt, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

func helper(mode string) {
	switch mode {
	case "identity":
		fmt.Print(helperIdentity(FindClient(System)))
	case "keeper": // starts what it is told and waits to be killed
		child, err := Start(Command{Argv: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(child.Pid())
		select {}
	}
}

func helperIdentity(c Client) string {
	return fmt.Sprint(c.Host, " ", c.PID, " ", c.Start)
}
