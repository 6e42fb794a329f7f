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
	"github.com/mandate-io/idv/internal/printable"
)

// refreshable is an object that the operator reads again on request.
type refreshable struct {
	client.Object

	handled    *string
	conditions *[]metav1.Condition
}

func refreshableMandate(m *v1alpha1.Mandate) *refreshable {
	return &refreshable{m, &m.Status.LastHandledReconcileAt, &m.Status.Conditions}
}

func (s *session) refreshCommand() *cobra.Command {
	service := serviceFlags{}
	command := &cobra.Command{
		Use:     "refresh [NAME]",
		Aliases: []string{"reconcile"},
		Short:   "Make the operator read an application, or test a connection, now",
		Long: "Make the operator read the application of a Mandate now, before the next poll, and wait for the result. " +
			"With --identityservice or --clusteridentityservice, make it test the connection. The command e-mails nobody.",
		Example: "  kubectl mandate refresh -n onboarding acme\n" +
			"  kubectl mandate refresh -n onboarding --identityservice default",
		Args:              maximumArgs(1),
		ValidArgsFunction: s.completeMandates(),
		RunE: s.onCluster(func(ctx context.Context, c *cluster, names []string) error {
			what, err := c.refreshable(names, &service)
			if err != nil {
				return err
			}
			ctx, cancel := s.withTimeout(ctx)
			defer cancel()
			if err := c.refresh(ctx, what); err != nil {
				return err
			}
			ready := viewOf(*what.conditions, v1alpha1.ConditionReady)
			fmt.Fprintf(s.text(), "The operator has carried out the request. Ready=%s, %s: %s\n",
				ready.Status, ready.Reason, ready.Message)
			if meta.IsStatusConditionTrue(*what.conditions, v1alpha1.ConditionReconciling) {
				fmt.Fprintln(s.text(), "Next: the operator tries again by itself.")
			}
			return s.print(false, printedOf(what.Object, map[string]any{"ready": ready}))
		}),
	}
	service.addTo(command)
	s.addOutput(command)
	addTimeout(command, time.Minute)
	return command
}

func (c *cluster) refreshable(names []string, flags *serviceFlags) (*refreshable, error) {
	key, isService := flags.key(c.namespace)
	if isService == (len(names) == 1) {
		return nil, fmt.Errorf("name one Mandate, or one service with --identityservice or --clusteridentityservice")
	}
	if isService {
		found := emptyService(key)
		status := found.ServiceStatus()
		return &refreshable{found, &status.LastHandledReconcileAt, &status.Conditions}, nil
	}
	m := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: names[0]}}
	return refreshableMandate(m), nil
}

// refresh has the operator read an object again.
func (c *cluster) refresh(ctx context.Context, what *refreshable) error {
	return c.awaitRefresh(ctx, c.requestRefresh(ctx, what))
}

// A refreshRequest is the value of the annotation that asks for a read, and the error of the attempt to set it.
type refreshRequest struct {
	*refreshable

	requested string
	err       error
}

func (c *cluster) requestRefresh(ctx context.Context, what *refreshable) *refreshRequest {
	requested := time.Now().UTC().Format(time.RFC3339Nano)
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.ReconcileRequestAnnotation, requested)
	err := c.Patch(ctx, what.Object, client.RawPatch(types.MergePatchType, patch))
	return &refreshRequest{what, requested, explainWrite(err)}
}

// awaitRefresh waits until a request is handled.
func (c *cluster) awaitRefresh(ctx context.Context, r *refreshRequest) error {
	if r.err != nil {
		return r.err
	}
	return c.await(ctx, r.Object, func() (bool, error) { return c.isHandled(ctx, r) }, func() string {
		return fmt.Sprintf("the operator has not carried out the request for the %s %s. Check that it runs and watches "+
			"this namespace: %s", kindOf(r.Object), printable.Text(r.GetName()), findOperator)
	})
}

// isHandled reports whether the status acknowledges a request, or a later one that replaced it. The error says what
// keeps the operator from it: a wait would end with the timeout, which says nothing.
func (c *cluster) isHandled(ctx context.Context, r *refreshRequest) (bool, error) {
	later := r.GetAnnotations()[v1alpha1.ReconcileRequestAnnotation]
	if *r.handled == r.requested || *r.handled != "" && *r.handled == later {
		return true, nil
	}
	if m, isMandate := r.Object.(*v1alpha1.Mandate); isMandate {
		if obstacle := c.readObstacle(ctx, m); obstacle != "" {
			return false, c.obstacleOf(m.Name, obstacle)
		}
	}
	return false, nil
}

// readObstacle says why the operator does not read the application of a Mandate; "" if it may.
func (c *cluster) readObstacle(ctx context.Context, m *v1alpha1.Mandate) string {
	if m.Spec.Suspend {
		return "spec.suspend is true, so the operator reads nothing"
	}
	service, err := c.read(ctx, serviceOf(m))
	if err != nil {
		return "" // the user may not read it, or the status of the Mandate says what is wrong with it
	}
	conditions := service.ServiceStatus().Conditions
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.ObservedGeneration != service.GetGeneration() {
		return ""
	}
	shown := viewOf(conditions, v1alpha1.ConditionReady)
	return fmt.Sprintf("the operator reads nothing before the %s %s is Ready (%s): %s",
		kindOf(service), printable.Text(service.GetName()), shown.Reason, shown.Message)
}
