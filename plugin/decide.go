package plugin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
)

func (s *session) decideCommand() *cobra.Command {
	o, when := order{session: s, field: "decision"}, ""
	command := &cobra.Command{
		Use:   "decide NAME... Complete|Reject",
		Short: "Complete or reject the applications of Mandates",
		Long: "Complete or reject the applications of Mandates. The command has the operator read them, shows their checks " +
			"and sets spec.decision with the evidence of these checks. The operator sends the decision when the application " +
			"is in review, and only while it shows this evidence. With --when AllChecksPassed, it waits for all checks to " +
			"pass instead. The service cannot undo a decision. The command asks for confirmation on a terminal, and needs " +
			"--yes otherwise. Where a GitOps tool owns the field, it changes nothing, and prints what to commit.",
		Example: "  kubectl mandate decide -n onboarding acme Complete\n" +
			"  kubectl mandate decide -n onboarding acme Complete --when AllChecksPassed\n" +
			"  kubectl mandate decide -n onboarding -l batch=7 Complete --dry-run=client -o yaml",
		Args: minimumArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			last := len(arguments) - 1
			decision, err := parseDecision(arguments[last], when)
			if err != nil {
				return err
			}
			o.propose = func(m *v1alpha1.Mandate) (*proposal, error) { return proposeDecision(m, decision) }
			return o.run(command, arguments[:last])
		},
	}
	command.ValidArgsFunction = s.completeIn(0, string(v1alpha1.DecisionComplete), string(v1alpha1.DecisionReject))
	command.Flags().StringVar(&when, "when", "", "The rule that decides instead of the evidence now: AllChecksPassed.")
	completeFlag(command, "when", string(v1alpha1.DecisionRuleAllChecksPassed))
	o.addTo(command)
	return command
}

func proposeDecision(m *v1alpha1.Mandate, decision v1alpha1.Decision) (*proposal, error) {
	if decision.When == "" {
		decision.Evidence = m.Status.Evidence
	}
	if decision.Evidence == "" && decision.When == "" {
		return nil, fmt.Errorf("the status of the Mandate %s shows no evidence yet; nothing was changed. See kubectl "+
			"mandate status -n %s %s", m.Name, m.Namespace, m.Name)
	}
	if err := hiddenChecks(m); err != nil && decision.When == "" {
		return nil, err
	}
	return &proposal{
		isSet:    m.Spec.Decision != nil && *m.Spec.Decision == decision,
		set:      func(spec *v1alpha1.MandateSpec) { spec.Decision = &decision },
		value:    decision,
		question: decisionQuestion(m, &decision),
		text:     "spec.decision of the Mandate " + m.Name + " to " + decisionText(&decision),
		next: "The operator sends it when the application is in review; until then, you can change or remove it.\n" +
			"Next: kubectl mandate wait -n " + m.Namespace + " " + m.Name + " --for=outcome",
	}, nil
}

// hiddenChecks says that the evidence of a Mandate is of checks that its status does not show.
func hiddenChecks(m *v1alpha1.Mandate) error {
	shown := map[string]v1alpha1.IndividualStatus{}
	for _, individual := range m.Status.Individuals {
		shown[individual.Name] = individual
	}
	ready := viewOf(m.Status.Conditions, v1alpha1.ConditionReady)
	for i := range m.Spec.Individuals {
		individual := shown[m.Spec.Individuals[i].Name]
		switch {
		case ready.Reason == v1alpha1.ReasonIndividualsUnmatched, individual.ID == 0 && individual.TermsAccepted == nil:
			return fmt.Errorf("the status of the Mandate %s does not show which individual of the application is which, so "+
				"nobody has seen their checks; nothing was changed. See kubectl mandate status -n %s %s, or decide at the "+
				"service", m.Name, m.Namespace, m.Name)
		case individual.Truncated:
			return fmt.Errorf("the status of the Mandate %s does not show all checks of %s; nothing was changed. Look at the "+
				"checks at the service and decide there, or complete with --when %s", m.Name, individual.Name,
				v1alpha1.DecisionRuleAllChecksPassed)
		}
	}
	return nil
}

func parseDecision(text, when string) (v1alpha1.Decision, error) {
	outcome, known := oneOf(text, v1alpha1.DecisionComplete, v1alpha1.DecisionReject)
	decision := v1alpha1.Decision{Outcome: outcome, When: v1alpha1.DecisionRule(when)}
	switch {
	case !known:
		return decision, fmt.Errorf("the decision %q: use Complete or Reject", text)
	case when != "" && decision.When != v1alpha1.DecisionRuleAllChecksPassed:
		return decision, fmt.Errorf("the rule %q: use --when %s", when, v1alpha1.DecisionRuleAllChecksPassed)
	case when != "" && outcome != v1alpha1.DecisionComplete:
		return decision, fmt.Errorf("--when is only for Complete: to reject, leave it out")
	}
	return decision, nil
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
		if n := ptr.Deref(individual.ChecksPending, 0) + ptr.Deref(individual.ChecksInReview, 0); n > 0 {
			open = append(open, individual.Name+": "+plural(n, "check")+" not decided")
		}
	}
	if len(open) > 0 {
		progress += "; " + strings.Join(open, ", ")
	}
	return fmt.Sprintf("%s the application of the Mandate %s/%s? Its state is %q; %s.",
		decision.Outcome, m.Namespace, m.Name, m.Status.State, progress)
}
