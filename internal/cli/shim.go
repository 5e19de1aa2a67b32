package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/tap"
	"mcpsnoop/internal/term"
)

// tapFlags are the flags that all taps share.
type tapFlags struct {
	label     string
	traceFile string
	noTrace   bool
	quiet     bool
	replace   bool // what is in traceFile
	limits    tap.Limits
}

func (t *tapFlags) add(f *pflag.FlagSet) {
	t.limits = tap.DefaultLimits()
	f.StringVar(&t.label, "label", "", "name of the server in every view (default: taken from the command)")
	f.StringVarP(&t.traceFile, "trace-file", "o", "", "append the log to this file instead of the state directory")
	f.BoolVar(&t.noTrace, "no-trace", false, "only pass bytes on: record, send and print nothing")
	f.BoolVar(&t.quiet, "quiet", false, "print no banner")
	f.Var((*byteSize)(&t.limits.MessageBytes), "max-message-bytes", "cut the recorded copy of longer messages (passed on whole)")
	f.Var((*byteSize)(&t.limits.QueueBytes), "queue-bytes", "hold at most this much that is not yet written; beyond, frames are dropped and counted")
	f.Var((*byteSize)(&t.limits.LogBytes), "max-log-size", "start the next part of the log beyond this size")
}

// byteSize is a flag of bytes: digits, with K, M or G of 1024.
type byteSize int64

func (b *byteSize) Type() string { return "size" }

func (b *byteSize) String() string {
	n := int64(*b)
	for _, u := range []struct {
		name string
		size int64
	}{{"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}} {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

func (b *byteSize) Set(s string) error {
	digits := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "B"), "I")
	shift := 0
	if n := len(digits); n > 0 {
		if i := strings.IndexByte("KMG", digits[n-1]); i >= 0 {
			digits, shift = digits[:n-1], 10*(i+1)
		}
	}
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || v <= 0 || v > 1<<62>>shift {
		return fmt.Errorf("want a positive number of bytes such as 65536, 64M or 1G")
	}
	*b = byteSize(v << shift)
	return nil
}

// addShim makes c, the root command, run whatever is no subcommand behind a tap.
func (a *app) addShim(c *cobra.Command) {
	var (
		flags tapFlags
		opts  tap.StdioOptions
	)
	flags.add(c.Flags())
	addStdio(c.Flags(), &opts)
	// The server's own flags are not ours: ours end at the first word.
	c.Flags().SetInterspersed(false)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return a.shim(c, &flags, opts, args, nil)
	}
}

// addStdio adds the flags of the stdio tap, besides those of all taps.
func addStdio(f *pflag.FlagSet, opts *tap.StdioOptions) {
	f.DurationVar(&opts.Grace, "grace", 0, "kill the server this long after the first INT or TERM (default: never)")
	f.BoolVar(&opts.Foreground, "foreground", false, "leave the server in the terminal's foreground, for servers that ask there")
}

// shim runs a server's command line behind a tap, and exits as the server does. With
// a watch what passes is judged meanwhile.
func (a *app) shim(c *cobra.Command, flags *tapFlags, opts tap.StdioOptions, command []string, w *watch) error {
	notices := tap.NewNotices(a.env.Stderr)
	defer notices.Close(noticeWait)
	w.begin(notices.Line)
	defer w.quit()
	s := tap.Stdio{
		StdioOptions: opts, Command: command,
		Stdin: a.env.Stdin, Stdout: a.env.Stdout, Stderr: a.env.Stderr,
	}
	end, err := a.record(&s.Recording, flags, statedir.DeriveLabel(command), notices)
	if err != nil {
		return err
	}
	defer end()
	s.Log = w.follow(s.Log, s.Tap)
	if !flags.noTrace && !flags.quiet {
		notices.Line(fmt.Sprintf("mcpsnoop: recording %q as %s", term.Escape(strings.Join(command, " ")), s.Tap))
	}
	result, err := tap.RunStdio(c.Context(), s)
	if err != nil {
		return a.notStarted(c, command[0], result.ExitCode, err)
	}
	end()
	return w.end(result.ExitCode)
}

// noticeWait is how long our own last lines may take: less than a client takes for
// being slow to end.
const noticeWait = 100 * time.Millisecond

// record sets up what a tap records and where, label being the one it has if no flag
// names one. What it returns ends the log.
func (a *app) record(r *tap.Recording, flags *tapFlags, label string, notices *tap.Notices) (end func(), err error) {
	if flags.noTrace {
		return func() {}, nil
	}
	if flags.label != "" {
		label = flags.label
		if err := statedir.ValidateLabel(label); err != nil {
			return nil, usagef("", "--label %q: %w", label, err)
		}
	}
	*r = tap.Recording{
		Label: label, Tap: statedir.NewID(label, os.Getpid()), Limits: flags.limits, Notify: notices.Line,
		Start: capture.StartInfo{Tool: "mcpsnoop " + a.env.Version},
	}
	return a.openLog(r, flags, notices)
}

// openLog opens what a tap writes to. A log that cannot be written is no reason to
// keep client and server apart: the tap goes on without one and says so.
func (a *app) openLog(r *tap.Recording, flags *tapFlags, notices *tap.Notices) (closeLog func(), err error) {
	var log *statedir.LogFile
	path := strings.ReplaceAll(flags.traceFile, sessionPlace, r.Tap)
	if path != "" {
		log, err = openTrace(path, flags.replace)
	} else {
		var dir statedir.Dir
		if dir, err = a.state(); err != nil {
			return nil, err
		}
		path = dir.Sessions()
		log, err = dir.Create(r.Tap)
	}
	if err != nil {
		r.Log = tap.Unwritable(path, err)
		return func() {}, nil
	}
	if err := log.LockErr(); err != nil {
		notices.Line("mcpsnoop: warning: nobody will see that this log is live: " + term.Escape(err.Error()))
	}
	r.Log = log
	return sync.OnceFunc(func() { log.Close() }), nil
}

// openTrace opens a file that a person named. With replace, what was recorded there
// before goes, later parts included.
func openTrace(path string, replace bool) (*statedir.LogFile, error) {
	if !replace {
		return statedir.OpenTrace(path)
	}
	if before, err := statedir.At(path); err == nil {
		for _, part := range before.Paths[1:] {
			if err := os.Remove(part); err != nil {
				return nil, fmt.Errorf("replace trace file: %w", err)
			}
		}
		if err := os.Truncate(path, 0); err != nil {
			return nil, fmt.Errorf("replace trace file: %w", err)
		}
	}
	return statedir.OpenTrace(path)
}

// notStarted words the error of a server that cannot be started; a misspelt
// subcommand looks like one.
func (a *app) notStarted(c *cobra.Command, word string, code int, err error) error {
	hint := "the command line behind -- is started as it stands, without a shell"
	if near := c.SuggestionsFor(word); code == tap.ExitNotFound && len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	return &exitError{code, err, hint}
}
