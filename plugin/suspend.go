package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/plan"
)

func (s *session) suspendCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "suspend KIND/NAME...",
		Short: "Stop everything that e-mails people, or one Mandate",
		Long: "Stop everything that e-mails people by way of an IdentityService or ClusterIdentityService: creates, " +
			"resends and resets. The command sets spec.creation.suspend, and no such request starts later than a second " +
			"after it returns. For a Mandate, it sets spec.suspend, which stops everything but its deletion.",
		Example: "  kubectl mandate suspend -n onboarding identityservice/default\n" +
			"  kubectl mandate suspend clusteridentityservice/shared",
		Args: minimumArgs(1),
		RunE: s.onCluster(func(ctx context.Context, c *cluster, arguments []string) error {
			return c.setSuspend(ctx, arguments, true)
		}),
	}
}

func (s *session) resumeCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "resume KIND/NAME...",
		Short: "Continue what suspend has stopped",
		Long: "Continue what kubectl mandate suspend has stopped. The operator then creates and e-mails what has waited, " +
			"within spec.creation of the service. The command asks for confirmation on a terminal, and needs --yes otherwise.",
		Example: "  kubectl mandate resume -n onboarding identityservice/default",
		Args:    minimumArgs(1),
		RunE: s.onCluster(func(ctx context.Context, c *cluster, arguments []string) error {
			return c.setSuspend(ctx, arguments, false)
		}),
	}
	s.addYes(command)
	return command
}

// setSuspend suspends or resumes objects, one after the other.
func (c *cluster) setSuspend(ctx context.Context, arguments []string, suspend bool) error {
	for _, argument := range arguments {
		object, field := c.suspendable(argument)
		if object == nil {
			return fmt.Errorf("%q: use identityservice/NAME, clusteridentityservice/NAME or mandate/NAME", argument)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return explainError(err)
		}
		if !suspend {
			if err := c.confirm(ctx, "Resume "+argument+"? The operator then e-mails what has waited."); err != nil {
				return err
			}
		}
		c.warnGitOps(object, strings.Join(field, "."))
		if err := c.patchSuspend(ctx, object, field, suspend); err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "Set spec.%s of %s to %t.\n", strings.Join(field, "."), argument, suspend)
	}
	return nil
}

// suspendable is the object that KIND/NAME names, of which nothing has been read, and the field of its spec that
// suspends it; nil if it names none that can be suspended.
func (c *cluster) suspendable(argument string) (client.Object, []string) {
	kind, name, _ := strings.Cut(argument, "/")
	service := plan.ObjectKey{Kind: kindService, Namespace: c.namespace, Name: name}
	switch strings.ToLower(kind) {
	case "identityservice", "identityservices", "idsvc":
	case "clusteridentityservice", "clusteridentityservices", "cidsvc":
		service.Kind = kindClusterService
	case "mandate", "mandates", "mdt":
		return &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name}}, []string{"suspend"}
	default:
		return nil, nil
	}
	return emptyService(service), []string{"creation", "suspend"}
}

// patchSuspend sets the field whatever else has changed: a brake must not fail because somebody edits.
func (c *cluster) patchSuspend(ctx context.Context, object client.Object, field []string, suspend bool) error {
	patch := fmt.Sprint(suspend)
	for _, name := range slices.Backward(field) {
		patch = fmt.Sprintf(`{%q:%s}`, name, patch)
	}
	return explainWrite(c.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+patch+`}`))))
}
