package cli

import (
	"github.com/spf13/cobra"

	"mcpsnoop/internal/term"
)

// newRoot builds the command tree. The root command is the shim itself: whatever
// is no subcommand is a server's command line.
func (a *app) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "mcpsnoop [flags] -- COMMAND [ARGS...]",
		Short: "Flight recorder and judge for Model Context Protocol traffic",
		Long: `mcpsnoop stands between an MCP client and its server, passes every byte on
untouched and records every message. Put it in front of a server's command line:

  mcpsnoop -- npx -y @modelcontextprotocol/server-everything

then ask what happened: mcpsnoop sessions, runs, tail, show, check, validate, export.`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       a.env.Version,

		SuggestionsMinimumDistance: 2,
	}
	root.SetVersionTemplate("mcpsnoop {{.Version}}\n")
	root.SetOut(a.env.Stdout)
	root.SetErr(a.env.Stderr)
	root.SetIn(a.env.Stdin)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("see "+c.CommandPath()+" --help", "%w", flagError(err))
	})
	root.PersistentFlags().StringVar(&a.home, "home", "", "state directory (default MCPSNOOP_HOME, XDG_STATE_HOME/mcpsnoop or ~/.local/state/mcpsnoop)")
	root.PersistentFlags().StringVar(&a.color, "color", "auto", "colour: auto, always or never")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if _, err := term.ParseMode(a.color); err != nil {
			return usagef("", "%w", err)
		}
		return nil
	}
	a.addShim(root)
	root.AddCommand(
		a.httpCommand(), a.sessionsCommand(), a.runsCommand(), a.showCommand(), a.tailCommand(), a.exportCommand(), a.checkCommand(),
		a.validateCommand(), a.watchCommand(), a.watchJudgeCommand(), a.rulesCommand(), a.indexCommand(), a.demoCommand(), a.demoServerCommand(),
		a.versionCommand(),
	)
	for _, c := range root.Commands() {
		c.Flags().SortFlags = false
	}
	root.Flags().SortFlags = false
	return root
}

// noArgs and maxArgs are cobra's checks with our exit code.
func noArgs(c *cobra.Command, args []string) error { return maxArgs(0)(c, args) }

func maxArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		return usagef("see "+c.CommandPath()+" --help", "%s takes at most %d argument(s), got %q", c.CommandPath(), n, args[n])
	}
}
