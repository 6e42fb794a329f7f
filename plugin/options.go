package plugin

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// optionsCommand shows the flags of all commands, as kubectl options does, with those that their help hides.
func (s *session) optionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "List the flags that every command has",
		Long:  "List the flags that every command has: those of kubectl that say which cluster, and as whom.",
		Args:  exactArgs(0),
		RunE: func(command *cobra.Command, _ []string) error {
			all := pflag.NewFlagSet("", pflag.ContinueOnError)
			command.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
				shown := *f
				shown.Hidden = false
				all.AddFlag(&shown)
			})
			p := newPrinter(s.Out)
			_, err := fmt.Fprint(s.Out, "The following options can be passed to any command:\n\n", all.FlagUsagesWrapped(p.width))
			return err
		},
	}
}
