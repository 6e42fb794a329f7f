package plugin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (s *session) explainCommand() *cobra.Command {
	kind := ""
	command := &cobra.Command{
		Use:   "explain REASON",
		Short: "Explain the reason of a condition, and what to do",
		Long: "Explain the reason of a condition: what it means, what the operator does, and what to do. Without a " +
			"reason, list all reasons. The command needs no cluster: the plugin includes docs/conditions.md.",
		Example: "  kubectl mandate explain OutcomeUnknown\n  kubectl mandate explain --kind MandateAction Retrying",
		Args:    maximumArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(arguments) > 0 {
				return nil, noFiles
			}
			return reasonNames(), noFiles
		},
		RunE: func(_ *cobra.Command, arguments []string) error {
			found, err := findExplanations(kind, arguments)
			if err != nil {
				return err
			}
			var all []printed
			for i := range found {
				all = append(all, printed{kind: "Reason", name: found[i].Reason, view: &found[i]})
			}
			return s.show(len(arguments) == 0, all, func(p *printer) {
				if len(arguments) == 0 {
					p.reasons(found)
				} else {
					p.explanations(found)
				}
			})
		},
	}
	s.addOutput(command)
	command.Flags().StringVar(&kind, "kind", "",
		"Show the reasons of this kind only: Mandate, MandateAction or IdentityService. Default: all.")
	completeFlag(command, "kind", kindMandate, kindAction, kindService)
	return command
}

// reasonNames are those of all kinds, each once.
func reasonNames() []string {
	var names []string
	for _, e := range explanations {
		names = append(names, e.Reason)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// findExplanations selects by kind and, if there is one, by reason. Letter case makes no difference.
func findExplanations(kind string, reason []string) ([]explanation, error) {
	if strings.EqualFold(kind, kindClusterService) {
		kind = kindService
	}
	var found []explanation
	for _, e := range explanations {
		if (kind == "" || strings.EqualFold(kind, e.Kind)) && (len(reason) == 0 || strings.EqualFold(reason[0], e.Reason)) {
			found = append(found, e)
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(reason) == 0:
		return nil, fmt.Errorf("--kind %q: use %s, %s or %s", kind, kindMandate, kindAction, kindService)
	}
	return nil, fmt.Errorf("there is no reason %q; \"kubectl mandate explain\" lists all", reason[0])
}

func (p *printer) reasons(all []explanation) {
	kind := ""
	for i := range all {
		if all[i].Kind != kind {
			kind = all[i].Kind
			p.line(p.styled(bold, kind))
		}
		summary, _, _ := strings.Cut(all[i].Meaning, ". ")
		summary, _, _ = strings.Cut(summary, "\n")
		p.wrap(fmt.Sprintf("  %-26s", all[i].Reason), strings.Repeat(" ", 28), strings.TrimRight(summary, ".:"))
	}
}

func (p *printer) explanations(all []explanation) {
	for i := range all {
		if i > 0 {
			p.line()
		}
		e := &all[i]
		p.line(p.styled(bold, e.Reason), " of a ", e.Kind, "  ", p.styled(grey, strings.Join(e.Conditions, ", ")))
		p.section("What it means", e.Meaning)
		p.section("What the operator does", e.Operator)
		p.line()
		p.line(p.styled(bold, "What to do"))
		p.steps("  ", e.Steps)
	}
}

func (p *printer) section(title, text string) {
	p.line()
	p.line(p.styled(bold, title))
	p.wrap("  ", "  ", text)
}

func (p *printer) steps(indent string, steps []string) {
	if len(steps) == 0 {
		p.line(indent, "Nothing.")
	}
	for i, text := range steps {
		p.wrap(fmt.Sprintf("%s%d. ", indent, i+1), indent+"   ", text)
	}
}
