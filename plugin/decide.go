package plugin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mandate-io/idv/api/v1alpha1"
)

func (s *session) decideCommand() *cobra.Command {
	yes := false
	command := &cobra.Command{
		Use:   "decide NAME Complete|Reject",
		Short: "Complete or reject the application of a Mandate",
		Long: "Complete or reject the application of a Mandate. The command sets spec.decision. The operator sends the " +
			"decision when the application is in review, even if checks have failed. The service cannot undo a decision. " +
			"The command asks for confirmation on a terminal, and needs --yes otherwise.",
		Example: "  kubectl mandate decide -n onboarding acme Complete",
		Args:    exactArgs(2),
		RunE: func(command *cobra.Command, arguments []string) error {
			decision, err := parseDecision(arguments[1])
			if err != nil {
				return err
			}
			c, err := s.cluster()
			if err != nil {
				return err
			}
			m, err := c.mandate(command.Context(), arguments[0])
			if err != nil {
				return err
			}
			switch {
			case m.Status.Outcome != "":
				return &exitError{exitNotReached, fmt.Errorf("the Mandate %s has the outcome %s already; nothing was changed",
					m.Name, m.Status.Outcome)}
			case m.Spec.Decision == decision:
				fmt.Fprintf(s.Out, "The Mandate %s has this decision already. Nothing was changed.\n", m.Name)
				return nil
			}
			s.warnGitOps(m, "decision")
			if err := s.confirm(yes, decisionQuestion(m, decision)); err != nil {
				return err
			}
			if err := c.changeMandate(command.Context(), m, func(m *v1alpha1.Mandate) {
				m.Spec.Decision = decision
			}); err != nil {
				return err
			}
			fmt.Fprintf(s.Out, "Set spec.decision of the Mandate %s to %s. The operator sends it when the application is in "+
				"review; until then, you can change or remove it.\nNext: kubectl mandate wait -n %s %s --for=outcome\n",
				m.Name, decision, c.namespace, m.Name)
			return nil
		},
	}
	command.ValidArgsFunction = func(
		command *cobra.Command, arguments []string, typed string,
	) ([]string, cobra.ShellCompDirective) {
		if len(arguments) == 1 {
			return []string{string(v1alpha1.DecisionComplete), string(v1alpha1.DecisionReject)}, noFiles
		}
		return s.completeMandates(false)(command, arguments, typed)
	}
	command.Flags().BoolVarP(&yes, "yes", "y", false, "Skip the confirmation.")
	return command
}

func parseDecision(text string) (v1alpha1.Decision, error) {
	for _, decision := range []v1alpha1.Decision{v1alpha1.DecisionComplete, v1alpha1.DecisionReject} {
		if strings.EqualFold(text, string(decision)) {
			return decision, nil
		}
	}
	return "", usageError("the decision %q: use Complete or Reject", text)
}

// decisionQuestion says what is decided, and on which evidence.
func decisionQuestion(m *v1alpha1.Mandate, decision v1alpha1.Decision) string {
	progress := "no checks are known"
	if m.Status.Progress != "" {
		progress = m.Status.Progress + " checks passed"
	}
	var open []string
	for i := range m.Status.Individuals {
		individual := &m.Status.Individuals[i]
		if n := count(individual.ChecksPending) + count(individual.ChecksInReview); n > 0 {
			open = append(open, individual.Name+": "+plural(n, "check")+" not decided")
		}
	}
	if len(open) > 0 {
		progress += "; " + strings.Join(open, ", ")
	}
	return fmt.Sprintf("%s the application of the Mandate %s/%s? Its state is %q; %s. This cannot be undone.",
		decision, m.Namespace, m.Name, m.Status.State, progress)
}
