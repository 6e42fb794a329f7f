package plugin

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// outputFlag is --output of a command that prints something.
type outputFlag struct {
	format  string
	formats []string
}

func (o *outputFlag) addTo(command *cobra.Command, formats ...string) {
	o.formats = formats
	command.Flags().StringVarP(&o.format, "output", "o", "", "Print as "+strings.Join(formats, "|")+". Default: text.")
	_ = command.RegisterFlagCompletionFunc("output", // the flag exists
		cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	command.PreRunE = func(*cobra.Command, []string) error {
		if o.format != "" && !slices.Contains(o.formats, o.format) {
			return usageError("--output %q: use %s", o.format, strings.Join(o.formats, ", "))
		}
		return nil
	}
}

func (o *outputFlag) wide() bool { return o.format == "wide" }

// structured reports whether a program reads the output.
func (o *outputFlag) structured() bool { return o.format == "json" || o.format == "yaml" }

func (o *outputFlag) print(out io.Writer, value any) error {
	encoded, err := json.MarshalIndent(value, "", "  ")
	if err == nil && o.format == "yaml" {
		encoded, err = yaml.JSONToYAML(encoded)
	}
	if err != nil {
		return err
	}
	_, err = out.Write(append([]byte(strings.TrimRight(string(encoded), "\n")), '\n'))
	return err
}

// maximumArgs, exactArgs and minimumArgs are those of cobra, with the exit code of wrong arguments.
func maximumArgs(n int) cobra.PositionalArgs { return asUsage(cobra.MaximumNArgs(n)) }

func exactArgs(n int) cobra.PositionalArgs { return asUsage(cobra.ExactArgs(n)) }

func minimumArgs(n int) cobra.PositionalArgs { return asUsage(cobra.MinimumNArgs(n)) }

func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if err := check(command, arguments); err != nil {
			return usageError("%w: %s; see %s --help", err, command.UseLine(), command.CommandPath())
		}
		return nil
	}
}
