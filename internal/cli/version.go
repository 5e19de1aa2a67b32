package cli

import "github.com/spf13/cobra"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.env.Stdout.WriteString("mcpsnoop " + a.env.Version + "\n")
			return err
		},
	}
}
