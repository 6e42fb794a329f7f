package plugin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/mandate-io/idv/api/v1alpha1"
)

func (s *session) reviewCommand() *cobra.Command {
	o, review := order{session: s, field: "checkReviews"}, v1alpha1.CheckReview{}
	command := &cobra.Command{
		Use:   "review NAME... INDIVIDUAL CHECK Accept|Reject",
		Short: "Accept or reject a check of an individual",
		Long: "Accept or reject a check of an individual, by its name or id. The command has the operator read the " +
			"application, shows its checks, and sets spec.checkReviews with the evidence of this check. The operator sends " +
			"the review only while the check shows this evidence. The command asks for confirmation on a terminal, and needs " +
			"--yes otherwise. Where a GitOps tool owns the field, it changes nothing, and prints what to commit.",
		Example: "  kubectl mandate review -n onboarding acme director liveness Accept\n" +
			"  kubectl mandate review -n onboarding acme director liveness Reject --comment 'The face is not visible.'",
		Args: minimumArgs(3),
		RunE: func(command *cobra.Command, arguments []string) error {
			first := len(arguments) - 3
			review.Individual, review.Check = arguments[first], arguments[first+1]
			decision, known := oneOf(arguments[first+2], v1alpha1.CheckDecisionAccept, v1alpha1.CheckDecisionReject)
			if review.Decision = decision; !known {
				return fmt.Errorf("the decision %q: use Accept or Reject", arguments[first+2])
			}
			o.propose = func(m *v1alpha1.Mandate) (*proposal, error) { return proposeReview(m, review) }
			return o.run(command, arguments[:first])
		},
	}
	command.ValidArgsFunction = s.completeIn(2, string(v1alpha1.CheckDecisionAccept),
		string(v1alpha1.CheckDecisionReject))
	command.Flags().StringVar(&review.Comment, "comment", "", "The reason, which the service gets. Default: none.")
	command.Flags().StringVar(&review.CommentFor, "comment-for", "",
		"What the comment is about, such as IndividualCheck. Default: that of the review before.")
	o.addTo(command)
	return command
}

func proposeReview(m *v1alpha1.Mandate, review v1alpha1.CheckReview) (*proposal, error) {
	check, err := findCheck(m, review.Individual, review.Check)
	if err != nil {
		return nil, err
	}
	if check.Evidence == "" {
		return nil, fmt.Errorf("the check %s of %s of the Mandate %s shows no evidence yet; nothing was changed",
			review.Check, review.Individual, m.Name)
	}
	review.Evidence = check.Evidence
	at := slices.IndexFunc(m.Spec.CheckReviews, func(r v1alpha1.CheckReview) bool {
		return r.Individual == review.Individual && isCheck(check, r.Check)
	})
	if at >= 0 {
		before := &m.Spec.CheckReviews[at]
		review.Check, review.Reference = before.Check, before.Reference
		if review.CommentFor == "" {
			review.CommentFor = before.CommentFor
		}
	}
	return &proposal{
		isSet: at >= 0 && equality.Semantic.DeepEqual(m.Spec.CheckReviews[at], review),
		set: func(spec *v1alpha1.MandateSpec) {
			if at < 0 {
				spec.CheckReviews = append(spec.CheckReviews, review)
			} else {
				spec.CheckReviews[at] = review
			}
		},
		value: []v1alpha1.CheckReview{review},
		question: fmt.Sprintf("%s the check %s of %s of the Mandate %s/%s? Its state is %q.", review.Decision, review.Check,
			review.Individual, m.Namespace, m.Name, stateName(check.State)),
		text: fmt.Sprintf("spec.checkReviews of the Mandate %s: %s the check %s of %s on evidence %s",
			m.Name, review.Decision, review.Check, review.Individual, review.Evidence),
		next: fmt.Sprintf("Next: kubectl mandate status -n %s %s", m.Namespace, m.Name),
	}, nil
}

// findCheck finds a check by its name or id in what the status of a Mandate shows.
func findCheck(m *v1alpha1.Mandate, individual, name string) (*v1alpha1.CheckStatus, error) {
	at := slices.IndexFunc(m.Status.Individuals, func(i v1alpha1.IndividualStatus) bool { return i.Name == individual })
	if at < 0 {
		return nil, fmt.Errorf("the status of the Mandate %s shows no individual %q; nothing was changed", m.Name, individual)
	}
	var found []*v1alpha1.CheckStatus
	checks := m.Status.Individuals[at].Checks
	for i := range checks {
		if isCheck(&checks[i], name) {
			found = append(found, &checks[i])
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return nil, fmt.Errorf("%d checks of %s of the Mandate %s are called %q; nothing was changed. Use the name or id of "+
		"one of %s", len(found), individual, m.Name, name, strings.Join(checkNames(checks), ", "))
}

func isCheck(check *v1alpha1.CheckStatus, name string) bool {
	return name == check.Name || name == strconv.FormatInt(check.ID, 10)
}

func checkNames(checks []v1alpha1.CheckStatus) []string {
	var names []string
	for i := range checks {
		names = append(names, fmt.Sprintf("%s (%d)", checks[i].Name, checks[i].ID))
	}
	return names
}
