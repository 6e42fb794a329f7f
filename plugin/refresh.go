package plugin

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// refreshable is an object that the operator reads again on request.
type refreshable struct {
	client.Object

	handled    *string
	conditions *[]metav1.Condition
}

func (s *session) refreshCommand() *cobra.Command {
	timeout := time.Duration(0)
	service := serviceFlags{}
	command := &cobra.Command{
		Use:   "refresh [NAME]",
		Short: "Make the operator read an application, or test a connection, now",
		Long: "Make the operator read the application of a Mandate now, before the next poll, and wait for the result. " +
			"With --identityservice or --clusteridentityservice, make it test the connection. The command e-mails nobody.",
		Example: "  kubectl mandate refresh -n onboarding acme\n" +
			"  kubectl mandate refresh -n onboarding --identityservice default",
		Args:              maximumArgs(1),
		ValidArgsFunction: s.completeMandates(false),
		RunE: func(command *cobra.Command, names []string) error {
			c, err := s.cluster()
			if err != nil {
				return err
			}
			what, err := c.refreshable(names, &service)
			if err != nil {
				return err
			}
			ctx, cancel := withTimeout(command.Context(), timeout)
			defer cancel()
			if err := c.refresh(ctx, what); err != nil {
				return err
			}
			ready := viewOf(*what.conditions, v1alpha1.ConditionReady)
			fmt.Fprintf(s.Out, "The operator has carried out the request. Ready=%s, %s: %s\n",
				ready.Status, ready.Reason, ready.Message)
			if meta.IsStatusConditionTrue(*what.conditions, v1alpha1.ConditionReconciling) {
				fmt.Fprintln(s.Out, "Next: the operator tries again by itself.")
			}
			return nil
		},
	}
	service.addTo(command)
	addTimeout(command, &timeout, time.Minute)
	return command
}

func (c *cluster) refreshable(names []string, flags *serviceFlags) (*refreshable, error) {
	key, isService := flags.key(c.namespace)
	if isService == (len(names) == 1) {
		return nil, usageError("name one Mandate, or one service with --identityservice or --clusteridentityservice")
	}
	if isService {
		found := key.empty()
		status := found.ServiceStatus()
		return &refreshable{found, &status.LastHandledReconcileAt, &status.Conditions}, nil
	}
	m := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: names[0]}}
	return &refreshable{m, &m.Status.LastHandledReconcileAt, &m.Status.Conditions}, nil
}

// refresh sets the annotation, and waits until the status acknowledges it.
func (c *cluster) refresh(ctx context.Context, what *refreshable) error {
	requested := time.Now().UTC().Format(time.RFC3339Nano)
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.ReconcileRequestAnnotation, requested)
	if err := c.Patch(ctx, what.Object, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return explainWrite(err)
	}
	return c.poll(ctx, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(what.Object), what.Object)
		return *what.handled == requested, err
	}, func() string {
		return "the operator has not carried out the request. Check that it runs and watches this namespace: " + findOperator
	})
}
