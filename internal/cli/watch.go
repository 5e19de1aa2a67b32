package cli

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/tap"
)

// watchFlags are the flags of watch, besides those of the taps.
type watchFlags struct {
	tapFlags
	revision, otlp  string
	appending, fail bool
}

func (a *app) watchCommand() *cobra.Command {
	var flags watchFlags
	c := &cobra.Command{
		Use:   "watch [flags] stdio|http ...",
		Short: "Record, and tell of broken requirements as they happen",
		Long: `watch is the tap with a judge behind its log: it passes every byte on untouched,
records it, and tells on stderr of each broken requirement of the specification the
moment it is certain. At the end comes the report of validate.

  mcpsnoop watch stdio -- npx -y @modelcontextprotocol/server-everything
  mcpsnoop watch http --upstream http://127.0.0.1:3000/mcp`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("mcpsnoop watch stdio -- COMMAND, or mcpsnoop watch http --upstream URL", "watch knows stdio and http, not %q", args[0])
			}
			return c.Help()
		},
	}
	f := c.PersistentFlags()
	flags.add(f)
	f.StringVar(&flags.revision, "revision", "", "revision of sessions that declare none themselves")
	f.BoolVar(&flags.fail, "fail-on-findings", false, "exit with 1 if a MUST was broken (stdio: and the server exited with 0)")
	f.Lookup("trace-file").Usage = "write the log to this new file instead of the state directory"
	f.BoolVar(&flags.replace, "force", false, "replace what is in the file of --trace-file")
	f.BoolVar(&flags.appending, "append", false, "append to the file of --trace-file; only what is new is judged")
	f.StringVar(&flags.otlp, "otlp", "", "not supported by this build")
	for _, refused := range []string{"otlp", "no-trace"} { // they are known, to say why not
		f.MarkHidden(refused)
	}
	c.AddCommand(a.watchStdioCommand(&flags), a.watchHTTPCommand(&flags))
	return c
}

func (a *app) watchStdioCommand(flags *watchFlags) *cobra.Command {
	var opts tap.StdioOptions
	c := &cobra.Command{
		Use:   "stdio [flags] -- COMMAND [ARGS...]",
		Short: "Watch a server that is started with a command line",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("mcpsnoop watch stdio -- COMMAND", "no server's command line given")
			}
			w, err := a.watchAs(flags, stderrPatience)
			if err != nil {
				return err
			}
			return a.shim(c, &flags.tapFlags, opts, args, w)
		},
	}
	addStdio(c.Flags(), &opts)
	c.Flags().SetInterspersed(false)
	return c
}

// upstreamFlag is what watch calls the server of the HTTP tap.
const upstreamFlag = "upstream"

func (a *app) watchHTTPCommand(flags *watchFlags) *cobra.Command {
	var h httpFlags
	c := &cobra.Command{
		Use:   "http --upstream URL",
		Short: "Watch between HTTP clients and a server, as a reverse proxy",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			w, err := a.watchAs(flags, 0)
			if err != nil {
				return err
			}
			h.tapFlags = flags.tapFlags
			return a.http(c, &h, w)
		},
	}
	c.Flags().StringVar(&h.target, upstreamFlag, "", "URL of the server (required)")
	h.addHTTP(c.Flags(), "127.0.0.1:8080")
	return c
}

// stderrPatience is how long, at the end, stderr may take nothing: whoever started a
// server waits for its end, and may not read what it says.
const stderrPatience = time.Second

// watchAs returns a watch as flags want it.
func (a *app) watchAs(flags *watchFlags, patience time.Duration) (*watch, error) {
	switch {
	case flags.otlp != "":
		return nil, usagef("leave --otlp out, and send the log later", "sending telemetry is not supported by this build")
	case flags.noTrace:
		return nil, usagef("use mcpsnoop --no-trace to pass bytes on and no more", "what is not recorded cannot be judged")
	case flags.replace && flags.appending:
		return nil, usagef("", "--force and --append exclude each other")
	}
	revision, err := parseRevision(flags.revision)
	if err != nil {
		return nil, err
	}
	if err := checkTraceFile(flags); err != nil {
		return nil, err
	}
	return newWatch(a, watchOptions{revision: revision, fail: flags.fail, patience: patience}), nil
}

// checkTraceFile makes sure that the log goes to a file that nobody needs and that can
// be read while it grows.
func checkTraceFile(flags *watchFlags) error {
	pattern := flags.traceFile
	paths := []string{pattern}
	if strings.Contains(pattern, sessionPlace) {
		paths, _ = filepath.Glob(strings.ReplaceAll(pattern, sessionPlace, "*")) // an odd pattern matches nothing
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil || info.IsDir(): // the tap says so where it matters
		case !info.Mode().IsRegular():
			return usagef("name a file with --trace-file", "cannot judge what goes to %q: it is no regular file", path)
		case !flags.replace && !flags.appending:
			return usagef("--force replaces it, --append adds to it", "trace file %q exists", path)
		}
	}
	return nil
}

// watchOptions are what a watch is told beside what to record.
type watchOptions struct {
	revision mcp.Revision
	fail     bool
	patience time.Duration // with stderr at the end, see stallable
}
