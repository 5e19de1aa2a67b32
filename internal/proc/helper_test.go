package proc

import (
	"fmt"
	"os"
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
	goleak.VerifyTestMain(m)
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
