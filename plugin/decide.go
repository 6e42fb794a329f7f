package plugin

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mandate-io/idv/api/v1alpha1"
)

func (s *session) decideCommand() *cobra.Command {
	yes, when := false, ""
	command := &cobra.Command{
		Use:   "decide NAME Complete|Reject",
		Short: "Complete or reject the application of a Mandate",
		Long: "Complete or reject the application of a Mandate. The command sets spec.decision with the evidence that the " +
			"status shows now. The operator sends the decision when the application is in review, and only while the " +
			"application shows this evidence. With --when AllChecksPassed, it waits for all checks to pass instead. The " +
			"service cannot undo a decision. The command asks for confirmation on a terminal, and needs --yes otherwise.",
		Example: "  kubectl mandate decide -n onboarding acme Complete\n" +
			"  kubectl mandate decide -n onboarding acme Complete --when AllChecksPassed",
		Args: exactArgs(2),
		RunE: func(command *cobra.Command, arguments []string) error {
			return s.decide(command.Context(), arguments[0], arguments[1], when, yes)
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
	command.Flags().StringVar(&when, "when", "", "The rule that decides instead of the evidence now: AllChecksPassed.")
	_ = command.RegisterFlagCompletionFunc("when", cobra.FixedCompletions( // the flag exists
		[]string{string(v1alpha1.DecisionRuleAllChecksPassed)}, noFiles))
	command.Flags().BoolVarP(&yes, "yes", "y", false, "Skip the confirmation.")
	return command
}

func (s *session) decide(ctx context.Context, name, outcome, when string, yes bool) error {
	decision, err := parseDecision(outcome, when)
	if err != nil {
		return err
	}
	c, err := s.cluster()
	if err != nil {
		return err
	}
	m, err := c.mandate(ctx, name)
	if err != nil {
		return err
	}
	if decision.When == "" {
		decision.Evidence = m.Status.Evidence
	}
	switch {
	case m.Status.Outcome != "":
		return &exitError{exitNotReached, fmt.Errorf("the Mandate %s has the outcome %s already; nothing was changed",
			m.Name, m.Status.Outcome)}
	case decision.Evidence == "" && decision.When == "":
		return &exitError{exitNotReached, fmt.Errorf("the status of the Mandate %s shows no evidence yet; nothing was "+
			"changed. See kubectl mandate status -n %s %s", m.Name, m.Namespace, m.Name)}
	case m.Spec.Decision != nil && *m.Spec.Decision == decision:
		fmt.Fprintf(s.Out, "The Mandate %s has this decision already. Nothing was changed.\n", m.Name)
		return nil
	}
	s.warnGitOps(m, "decision")
	if err := s.confirm(yes, decisionQuestion(m, &decision)); err != nil {
		return err
	}
	decide := func(m *v1alpha1.Mandate) { m.Spec.Decision = &decision }
	if err := c.changeMandate(ctx, m, decide); err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "Set spec.decision of the Mandate %s to %s. The operator sends it when the application is in "+
		"review; until then, you can change or remove it.\nNext: kubectl mandate wait -n %s %s --for=outcome\n",
		m.Name, decisionText(&decision), c.namespace, m.Name)
	return nil
}

func parseDecision(text, when string) (v1alpha1.Decision, error) {
	for _, outcome := range []v1alpha1.DecisionOutcome{v1alpha1.DecisionComplete, v1alpha1.DecisionReject} {
		if !strings.EqualFold(text, string(outcome)) {
			continue
		}
		rule := v1alpha1.DecisionRule(when)
		switch {
		case rule != "" && rule != v1alpha1.DecisionRuleAllChecksPassed:
			return v1alpha1.Decision{}, usageError("the rule %q: use --when %s", when, v1alpha1.DecisionRuleAllChecksPassed)
		case rule != "" && outcome != v1alpha1.DecisionComplete:
			return v1alpha1.Decision{}, usageError("--when is only for Complete: to reject, leave it out")
		}
		return v1alpha1.Decision{Outcome: outcome, When: rule}, nil
	}
	return v1alpha1.Decision{}, usageError("the decision %q: use Complete or Reject", text)
}

// decisionText says what is decided, and on what.
func decisionText(decision *v1alpha1.Decision) string {
	switch {
	case decision == nil:
		return ""
	case decision.When != "":
		return string(decision.Outcome) + " when " + string(decision.When)
	default:
		return string(decision.Outcome) + " on evidence " + decision.Evidence
	}
}

// decisionQuestion says what is decided, and on which evidence.
func decisionQuestion(m *v1alpha1.Mandate, decision *v1alpha1.Decision) string {
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
		decision.Outcome, m.Namespace, m.Name, m.Status.State, progress)
}
