package plugin

import (
	"fmt"

	"github.com/spf13/cobra"
)

// optionsCommand shows the flags of all commands, as kubectl options does, with those that their help hides.
func (s *session) optionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "List the flags that every command has",
		Long:  "List the flags that every command has: those of kubectl that say which cluster, and as whom.",
		Args:  exactArgs(0),
		RunE: func(command *cobra.Command, _ []string) error {
			all := command.Root().PersistentFlags()
			for _, name := range hiddenFlags {
				all.Lookup(name).Hidden = false
			}
			usages := all.FlagUsagesWrapped(newPrinter(s.Out).width)
			_, err := fmt.Fprint(s.Out, "The following options can be passed to any command:\n\n", usages)
			return err
		},
	}
}
