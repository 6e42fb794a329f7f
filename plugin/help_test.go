package plugin_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mandate-io/idv/plugin"
)

// TestHelpHasNoBrokenLines has each paragraph of each help be one line, which the terminal wraps, or a list.
func TestHelpHasNoBrokenLines(t *testing.T) {
	commands := []*cobra.Command{plugin.New(plugin.Streams{}, "test")}
	for ; len(commands) > 0; commands = commands[1:] {
		commands = append(commands, commands[0].Commands()...)
		for paragraph := range strings.SplitSeq(commands[0].Long, "\n\n") {
			_, rest, _ := strings.Cut(paragraph, "\n")
			for line := range strings.Lines(rest) {
				if !strings.HasPrefix(line, "  ") {
					t.Errorf("%s --help breaks a sentence before %q", commands[0].CommandPath(), line)
				}
			}
		}
	}
}
