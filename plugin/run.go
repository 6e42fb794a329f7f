// Package plugin is the kubectl plugin: kubectl mandate. It shows Mandates and what to do about them, asks the operator
// for what acts on people, and finds out which readings of the interface a service follows. It never prints personal
// data: of an individual, only the name in the spec.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// Streams are the standard streams of a program.
type Streams = genericiooptions.IOStreams

// StandardStreams are those of this process. What client-go logs goes to the standard error, as all output does.
func StandardStreams() Streams {
	logTo(newTerminal(os.Stderr))
	return Streams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
}

func logTo(out io.Writer) {
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(out))))
}

// The exit statuses.
const (
	exitDone        = 0
	exitFailure     = 1
	exitWouldSend   = 2 // as that of diff and of terraform plan: it is no error
	exitNotReached  = 3
	exitTimeout     = 4
	exitNotApproved = 5
)

// exitStatuses say what each of them means, in --help and in docs/kubectl-plugin.md.
var exitStatuses = []string{
	exitDone:      "done",
	exitFailure:   "an error, for example wrong arguments, or one of the API server",
	exitWouldSend: "of plan only: something would be sent",
	exitNotReached: "not reached: a person must act first, the outcome is another one, the action failed, " +
		"or the service cannot be used",
	exitTimeout:     "the timeout passed",
	exitNotApproved: "not confirmed, or interrupted before anything was changed",
}

// An exitError ends the program with a status of its own. With a nil error, everything is said already.
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

// Run runs the plugin and returns the exit status.
func Run(ctx context.Context, streams Streams, version string, arguments []string) int {
	streams.Out, streams.ErrOut = newTerminal(streams.Out), newTerminal(streams.ErrOut)
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

const helpText = `Show Mandates, and ask the operator to act.

Start with "status". It shows which Mandates need a person, and what to do next. The plugin prints no personal data.

Use "kubectl mandate options" for a list of the options that every command has.

Exit statuses:
`

// help is helpText with the exit statuses.
func help() string {
	var text strings.Builder
	text.WriteString(helpText)
	for status, meaning := range exitStatuses {
		fmt.Fprintf(&text, "  %d  %s\n", status, meaning)
	}
	return strings.TrimSpace(text.String())
}

// New returns the command kubectl-mandate with its subcommands. version is the line that says which build it is.
func New(streams Streams, version string) *cobra.Command {
	s := newSession(streams)
	root := &cobra.Command{
		Use:           program,
		Short:         "Show Mandates, and ask the operator to act",
		Long:          help(),
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
		return fmt.Errorf("%w; see %s --help", err, command.CommandPath())
	})
	s.addFlags(root)
	root.AddCommand(
		s.statusCommand(), s.historyCommand(), s.explainCommand(), s.waitCommand(), s.refreshCommand(), s.adoptCommand(),
		s.settleCommand(),
		s.decideCommand(), s.reviewCommand(), s.resendCommand(), s.resetCommand(), s.reportCommand(),
		s.suspendCommand(), s.resumeCommand(), s.eraseCommand(), s.checkConnectionCommand(), s.checkCommand(version),
		s.versionCommand(version), s.optionsCommand(), s.planCommand(), s.exportCommand(), s.importCommand(),
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
	return fmt.Errorf("unknown command %q; %ssee %s --help", arguments[0], similar, command.CommandPath())
}
