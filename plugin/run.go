// Package plugin is the kubectl plugin: kubectl mandate. It shows Mandates and what to do about them, asks the operator
// for what acts on people, and finds out which readings of the interface a service follows. It never prints personal
// data: of an individual, only the name in the spec.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Streams are the standard streams of a program.
type Streams = genericiooptions.IOStreams

// StandardStreams are those of this process.
func StandardStreams() Streams { return Streams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr} }

// Exit codes. `kubectl mandate --help` has them.
const (
	exitDone        = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNotReached  = 3
	exitTimeout     = 4
	exitNotApproved = 5
	exitWouldSend   = 2 // of plan
)

// An exitError ends the program with a code of its own. With a nil error, everything is said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError says that the program was called wrongly.
func usageError(format string, arguments ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, arguments...)}
}

// Run runs the plugin and returns the exit code.
func Run(ctx context.Context, streams Streams, version string, arguments []string) int {
	command := New(streams, version)
	command.SetArgs(arguments)
	err := command.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	code := exitFailure
	if exit, ok := errors.AsType[*exitError](err); ok {
		code = exit.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(streams.ErrOut, "error:", text)
	}
	return code
}

const help = `Show Mandates, and ask the operator to act.

Start with "status". It shows which Mandates need a person, and what to do next. The plugin prints no personal data.

Exit codes:
  0  done
  1  an error, for example of the API server
  2  wrong arguments
  3  not reached: a person must act first, the outcome is another one, the action failed,
     or the service cannot be used
  4  the timeout passed
  5  not confirmed`

// New returns the command kubectl-mandate with its subcommands. version is the line that says which build it is.
func New(streams Streams, version string) *cobra.Command {
	s := newSession(streams)
	root := &cobra.Command{
		Use:           "kubectl-mandate",
		Short:         "Show Mandates, and ask the operator to act",
		Long:          help,
		SilenceUsage:  true,
		SilenceErrors: true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl mandate"},
		Args:          noSuchCommand,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.Version = version
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return usageError("%w; see %s --help", err, command.CommandPath())
	})
	s.addFlags(root)
	root.AddCommand(
		s.statusCommand(), s.historyCommand(), explainCommand(s), s.waitCommand(), s.refreshCommand(), s.adoptCommand(),
		s.decideCommand(), s.resendCommand(), s.resetCommand(), s.reportCommand(), s.checkConnectionCommand(),
		s.suspendCommand(), s.resumeCommand(), s.planCommand(), versionCommand(s, version),
	)
	return root
}

func noSuchCommand(command *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	similar := ""
	if names := command.SuggestionsFor(arguments[0]); len(names) > 0 {
		similar = "did you mean " + strings.Join(names, " or ") + "? "
	}
	return usageError("unknown command %q; %ssee %s --help", arguments[0], similar, command.CommandPath())
}

// versionCommand is --version as a command.
func versionCommand(s *session, version string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the plugin",
		Args:  exactArgs(0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(s.Out, version)
			return err
		},
	}
}
