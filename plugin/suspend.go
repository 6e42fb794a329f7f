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
		RunE: func(command *cobra.Command, arguments []string) error {
			return s.setSuspend(command.Context(), arguments, true, true)
		},
	}
}

func (s *session) resumeCommand() *cobra.Command {
	yes := false
	command := &cobra.Command{
		Use:   "resume KIND/NAME...",
		Short: "Continue what suspend has stopped",
		Long: "Continue what kubectl mandate suspend has stopped. The operator then creates and e-mails what has waited, " +
			"within spec.creation of the service. The command asks for confirmation on a terminal, and needs --yes otherwise.",
		Example: "  kubectl mandate resume -n onboarding identityservice/default",
		Args:    minimumArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			return s.setSuspend(command.Context(), arguments, false, yes)
		},
	}
	command.Flags().BoolVarP(&yes, "yes", "y", false, "Skip the confirmation.")
	return command
}

// setSuspend suspends or resumes objects, one after the other.
func (s *session) setSuspend(ctx context.Context, arguments []string, suspend, yes bool) error {
	c, err := s.cluster()
	if err != nil {
		return err
	}
	for _, argument := range arguments {
		object, field := c.suspendable(argument)
		if object == nil {
			return fmt.Errorf("%q: use identityservice/NAME, clusteridentityservice/NAME or mandate/NAME", argument)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return explainError(err)
		}
		question := fmt.Sprintf("Resume %s? The operator then e-mails what has waited.", argument)
		if err := s.confirm(yes, question); err != nil {
			return err
		}
		if err := c.patchSuspend(ctx, object, field, suspend); err != nil {
			return err
		}
		s.warnGitOps(object, field[0])
		fmt.Fprintf(s.Out, "Set spec.%s of %s to %t.\n", strings.Join(field, "."), argument, suspend)
	}
	return nil
}

// suspendable is the object that KIND/NAME names, of which nothing has been read, and the field of its spec that
// suspends it; nil if it names none that can be suspended.
func (c *cluster) suspendable(argument string) (client.Object, []string) {
	kind, name, _ := strings.Cut(argument, "/")
	service := serviceKey{v1alpha1.ServiceKindIdentityService, c.namespace, name}
	switch strings.ToLower(kind) {
	case "identityservice", "identityservices", "idsvc":
	case "clusteridentityservice", "clusteridentityservices", "cidsvc":
		service.kind = v1alpha1.ServiceKindClusterIdentityService
	case "mandate", "mandates", "mdt":
		return &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name}}, []string{"suspend"}
	default:
		return nil, nil
	}
	return service.empty(), []string{"creation", "suspend"}
}

// patchSuspend sets the field whatever else has changed: a brake must not fail because somebody edits.
func (c *cluster) patchSuspend(ctx context.Context, object client.Object, field []string, suspend bool) error {
	patch := fmt.Sprint(suspend)
	for _, name := range slices.Backward(field) {
		patch = fmt.Sprintf(`{%q:%s}`, name, patch)
	}
	return explainWrite(c.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+patch+`}`))))
}
