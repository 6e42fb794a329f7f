package plugin

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// refreshable is an object that the operator reads again on request.
type refreshable struct {
	client.Object

	handled    func() string
	conditions func() []metav1.Condition
}

func (s *session) refreshCommand() *cobra.Command {
	timeout := time.Duration(0)
	service := serviceFlags{}
	command := &cobra.Command{
		Use:   "refresh [NAME]",
		Short: "Have the operator read an application, or test a connection, now",
		Long: "Have the operator read the application of a Mandate now, instead of at its polling interval, and wait until " +
			"it has. With --identityservice or --clusteridentityservice, have it test the connection. E-mails nobody.",
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
			ready := viewOf(what.conditions(), v1alpha1.ConditionReady)
			fmt.Fprintf(s.Out, "The operator has done so. Ready=%s, %s: %s\n", ready.Status, ready.Reason, ready.Message)
			if meta.IsStatusConditionTrue(what.conditions(), v1alpha1.ConditionReconciling) {
				fmt.Fprintln(s.Out, "Next: the operator tries again by itself.")
			}
			return nil
		},
	}
	service.addTo(command)
	addTimeout(command, &timeout, time.Minute)
	return command
}

// serviceFlags name a connection instead of a Mandate.
type serviceFlags struct{ namespaced, clusterWide string }

func (f *serviceFlags) addTo(command *cobra.Command) {
	command.Flags().StringVar(&f.namespaced, "identityservice", "", "The IdentityService with this name. Default: none.")
	command.Flags().StringVar(&f.clusterWide, "clusteridentityservice", "",
		"The ClusterIdentityService with this name. Default: none.")
	command.MarkFlagsMutuallyExclusive("identityservice", "clusteridentityservice")
}

func (c *cluster) refreshable(names []string, service *serviceFlags) (*refreshable, error) {
	switch {
	case len(names) == 1 && service.namespaced == "" && service.clusterWide == "":
		m := &v1alpha1.Mandate{}
		m.Namespace, m.Name = c.namespace, names[0]
		return &refreshable{
			m, func() string { return m.Status.LastHandledReconcileAt },
			func() []metav1.Condition { return m.Status.Conditions },
		}, nil
	case len(names) == 0 && service.namespaced != "":
		i := &v1alpha1.IdentityService{}
		i.Namespace, i.Name = c.namespace, service.namespaced
		return ofService(i, &i.Status), nil
	case len(names) == 0 && service.clusterWide != "":
		i := &v1alpha1.ClusterIdentityService{}
		i.Name = service.clusterWide
		return ofService(i, &i.Status), nil
	}
	return nil, usageError("name one Mandate, or one service with --identityservice or --clusteridentityservice")
}

func ofService(object client.Object, status *v1alpha1.IdentityServiceStatus) *refreshable {
	return &refreshable{
		object, func() string { return status.LastHandledReconcileAt },
		func() []metav1.Condition { return status.Conditions },
	}
}

// refresh sets the annotation, and waits until the status acknowledges it.
func (c *cluster) refresh(ctx context.Context, what *refreshable) error {
	key := client.ObjectKeyFromObject(what.Object)
	if err := c.Get(ctx, key, what.Object); err != nil {
		return explainError(err)
	}
	before, ok := what.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is no object", what.Object)
	}
	requested := time.Now().UTC().Format(time.RFC3339Nano)
	annotations := what.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1alpha1.ReconcileRequestAnnotation] = requested
	what.SetAnnotations(annotations)
	if err := c.Patch(ctx, what.Object, client.MergeFrom(before)); err != nil {
		return explainError(err)
	}
	return c.poll(ctx, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, key, what.Object); err != nil {
			return false, err
		}
		return what.handled() == requested, nil
	}, func() string {
		return "the operator has not done so. Look whether it runs and watches this namespace: " +
			"kubectl get pods -A -l app.kubernetes.io/name=mandate-operator"
	})
}
