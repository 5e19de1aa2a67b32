package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/proc"
)

// judgeName is the hidden command that judges for watch.
const judgeName = "watch-judge"

func (a *app) watchJudgeCommand() *cobra.Command {
	var (
		revision string
		patience time.Duration
	)
	c := &cobra.Command{
		Use:    judgeName,
		Hidden: true,
		Args:   noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := parseRevision(revision)
			if err != nil {
				return err
			}
			proc.Outlast()
			return newOnlooker(a, watchOptions{revision: r, patience: patience}).listen(a.env.Stdin)
		},
	}
	c.Flags().StringVar(&revision, "revision", "", "as watch has it")
	c.Flags().DurationVar(&patience, "patience", 0, "with stderr at the end; 0: all there is")
	return c
}

// listen judges what it is told about on pipe, until that ends.
func (w *onlooker) listen(pipe io.Reader) error {
	in := bufio.NewReader(pipe)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil { // also where watch was killed, and perhaps while it spoke
			break
		}
		var n notice
		if err := json.Unmarshal(line, &n); err != nil {
			return fmt.Errorf("understand watch: %w", err)
		}
		if err := w.hear(&n); err != nil {
			return err
		}
	}
	return w.end()
}

func (w *onlooker) hear(n *notice) error {
	w.open.Lock()
	defer w.open.Unlock()
	switch {
	case n.Path != nil:
		w.follow(string(n.Path), n.Tap)
		return nil
	case n.Lost != "":
		w.lost = append(w.lost, n.Lost)
		return nil
	case n.Log < 0 || n.Log >= len(w.logs):
		return errors.New("understand watch: it names a log that it never spoke of")
	}
	l := w.logs[n.Log]
	l.wrote = l.wrote || n.Wrote
	if n.Fault != "" {
		l.fault = n.Fault
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return nil
}
