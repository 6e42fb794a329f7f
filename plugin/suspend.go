package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
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

// suspendable are the kinds that can be suspended, with the fields of their specs that do it.
var suspendable = map[string]struct {
	kind  string
	empty func() client.Object
	field []string
}{
	"identityservice": {
		"IdentityService", func() client.Object { return &v1alpha1.IdentityService{} }, []string{"creation", "suspend"},
	},
	"clusteridentityservice": {
		"ClusterIdentityService", func() client.Object { return &v1alpha1.ClusterIdentityService{} },
		[]string{"creation", "suspend"},
	},
	"mandate": {"Mandate", func() client.Object { return &v1alpha1.Mandate{} }, []string{"suspend"}},
}

// kindNames are further names of these kinds, as kubectl takes them.
var kindNames = map[string]string{
	"identityservices": "identityservice", "idsvc": "identityservice", "mandates": "mandate", "mdt": "mandate",
	"clusteridentityservices": "clusteridentityservice", "cidsvc": "clusteridentityservice",
}

// setSuspend suspends or resumes objects, one after the other.
func (s *session) setSuspend(ctx context.Context, arguments []string, suspend, yes bool) error {
	c, err := s.cluster()
	if err != nil {
		return err
	}
	for _, argument := range arguments {
		typed, name, found := strings.Cut(argument, "/")
		typed = strings.ToLower(typed)
		if full := kindNames[typed]; full != "" {
			typed = full
		}
		target, known := suspendable[typed]
		if !found || !known || name == "" {
			return usageError("%q: use identityservice/NAME, clusteridentityservice/NAME or mandate/NAME", argument)
		}
		object := target.empty()
		key := c.key(name)
		if typed == "clusteridentityservice" {
			key.Namespace = ""
		}
		if err := c.Get(ctx, key, object); err != nil {
			return explainError(err)
		}
		question := fmt.Sprintf("Resume the %s %s? The operator then e-mails what has waited.", target.kind, name)
		if err := s.confirm(yes, question); err != nil {
			return err
		}
		if err := c.patchSuspend(ctx, object, target.field, suspend); err != nil {
			return err
		}
		s.warnGitOps(object, target.field[0])
		fmt.Fprintf(s.Out, "Set spec.%s of the %s %s to %t.\n", strings.Join(target.field, "."), target.kind, name, suspend)
	}
	return nil
}

// patchSuspend sets the field whatever else has changed: a brake must not fail because somebody edits.
func (c *cluster) patchSuspend(ctx context.Context, object client.Object, field []string, suspend bool) error {
	patch := fmt.Sprint(suspend)
	for _, name := range slices.Backward(field) {
		patch = fmt.Sprintf(`{%q:%s}`, name, patch)
	}
	return explainWrite(c.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+patch+`}`))))
}
