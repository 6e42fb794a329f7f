package plugin

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/printable"
	"github.com/mandate-io/idv/operator/ledger"
)

func (s *session) settleCommand() *cobra.Command {
	notCreated := false
	command := &cobra.Command{
		Use:   "settle NAME --not-created",
		Short: "Say that a create without a clear answer created nothing",
		Long: "Say that the service created nothing for a Mandate whose create got no clear answer (OutcomeUnknown). Look " +
			"for the reference at the service first. The operator records this with your user name, and creates the " +
			"application. If there is one already, its individuals are e-mailed twice. The command asks for confirmation on a " +
			"terminal, and needs --yes otherwise. It needs the verb adopt on mandates. If the application exists, use kubectl " +
			"mandate adopt.",
		Example:           "  kubectl mandate settle -n onboarding acme --not-created",
		Args:              exactArgs(1),
		ValidArgsFunction: s.completeMandates(),
		RunE: s.onCluster(func(ctx context.Context, c *cluster, names []string) error {
			if !notCreated {
				return fmt.Errorf("say what became of the create: --not-created if the service created nothing. If the " +
					"application exists, use kubectl mandate adopt")
			}
			return c.settle(ctx, names[0])
		}),
	}
	command.Flags().BoolVar(&notCreated, "not-created", false, "The service certainly created nothing.")
	s.addYes(command)
	addTimeout(command, time.Minute)
	return command
}

func (c *cluster) settle(ctx context.Context, name string) error {
	m, err := c.mandate(ctx, name)
	if err != nil {
		return err
	}
	record := &v1alpha1.ApplicationRecord{}
	if err := c.Get(ctx, c.key(name), record); err != nil && !apierrors.IsNotFound(err) {
		return explainError(err)
	}
	if problem := unsettleable(m, record); problem != "" {
		return &exitError{
			exitNotReached, fmt.Errorf("the Mandate %s: %s; nothing was changed", printable.Text(name), problem),
		}
	}
	if err := c.confirm(ctx, fmt.Sprintf("Record that the service created nothing with the reference %s? The operator "+
		"then creates the application of the Mandate %s/%s. If there is one already, its individuals are e-mailed twice.",
		printable.Text(record.Spec.Reference), m.Namespace, m.Name)); err != nil {
		return err
	}
	ended := ledger.EndOf(ledger.CreateOf(record))
	if err := c.changeMandate(ctx, m, func(m *v1alpha1.Mandate) {
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, v1alpha1.NotCreatedAnnotation, ended)
	}); err != nil {
		return err
	}
	ctx, cancel := c.withTimeout(ctx)
	defer cancel()
	state := func() string {
		return "the operator has not recorded it. Check that it runs and watches this namespace: " + findOperator
	}
	if err := c.await(ctx, record, func() (bool, error) {
		create := ledger.CreateOf(record)
		return create == nil || ledger.EndOf(create) != ended, nil
	}, state); err != nil {
		return err
	}
	// Until the status follows, a wait for the Mandate would end with what was true before.
	if err := c.await(ctx, m, func() (bool, error) {
		return viewOf(m.Status.Conditions, v1alpha1.ConditionStalled).Reason != v1alpha1.ReasonOutcomeUnknown, nil
	}, state); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "Recorded that nothing was created for the Mandate %s. Next: kubectl mandate wait -n %s %s\n",
		m.Name, m.Namespace, m.Name)
	return nil
}

// unsettleable is why nobody can say that the create of a Mandate created nothing; "" if somebody can.
func unsettleable(m *v1alpha1.Mandate, record *v1alpha1.ApplicationRecord) string {
	create := ledger.CreateOf(record)
	switch {
	case m.Status.ApplicationID != nil || record.Spec.ApplicationID != nil:
		return "it has its application"
	case create == nil || create.Sends == 0:
		return "its ApplicationRecord has no create without a clear answer"
	case create.Result == v1alpha1.CallAccepted:
		return "the service has accepted the create, and may create the application at any time. Bind that with kubectl " +
			"mandate adopt, or use another name"
	case create.Result != v1alpha1.CallUnknown, stalledReason(m) == "":
		return "the operator is still finding out by itself. Wait until it is Stalled"
	}
	return ""
}
