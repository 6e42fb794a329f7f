package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// versionLabel on the Deployment of an operator has its version, if the chart installed it.
const versionLabel = "app.kubernetes.io/version"

// versions are what version prints.
type versions struct {
	Client    string       `json:"clientVersion"`
	Operators []deployment `json:"operators,omitempty"`
}

// A deployment is what the Deployment of an operator or receiver says.
type deployment struct {
	Namespace string `json:"namespace"`
	Version   string `json:"version,omitempty"`
	Image     string `json:"image,omitempty"`
	Ready     int64  `json:"readyReplicas"`
}

func (s *session) versionCommand(version string) *cobra.Command {
	clientOnly := false
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the plugin and of the operator",
		Long: "Print the versions of the plugin and of the operators in the cluster. For the operators, you need to be " +
			"allowed to list Deployments in all namespaces, or in that of --namespace.",
		Example: "  kubectl mandate version --client\n  kubectl mandate version -n mandate-operator-system",
		Args:    exactArgs(0),
		RunE: func(command *cobra.Command, _ []string) error {
			v := versions{Client: version}
			fmt.Fprintln(s.text(), version)
			var err error
			if !clientOnly {
				v.Operators, err = s.showOperators(command.Context())
			}
			return errors.Join(err, s.print(false, printed{kind: "Versions", name: program, view: &v}))
		},
	}
	command.Flags().BoolVar(&clientOnly, "client", false, "Print the version of the plugin only. Default: false.")
	s.addOutput(command)
	return command
}

func (s *session) showOperators(ctx context.Context) ([]deployment, error) {
	c, err := s.cluster()
	if err != nil {
		return nil, err
	}
	found, err := c.deployments(ctx, "", operatorName)
	if apierrors.IsForbidden(err) {
		found, err = c.deployments(ctx, c.namespace, operatorName)
	}
	switch {
	case apierrors.IsForbidden(err):
		fmt.Fprintln(s.ErrOut, "The version of the operator cannot be read: you may not list Deployments. Set --namespace "+
			"to that of the operator, or ask who installed it.")
		return nil, nil
	case err != nil:
		return nil, explainError(err)
	case len(found) == 0:
		fmt.Fprintln(s.ErrOut, "No Deployment has the label "+operatorPods+": the operator is not installed here.")
	}
	for _, o := range found {
		fmt.Fprintf(s.text(), "%s %s (namespace %s, image %s)\n",
			operatorName, cmp.Or(o.Version, "of an unknown version"), o.Namespace, o.Image)
	}
	return found, nil
}

// deployments are those with a name as their label, in a namespace, or in all namespaces if it is "".
func (c *cluster) deployments(ctx context.Context, namespace, name string) ([]deployment, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DeploymentList"))
	err := c.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{operatorLabel: name})
	var found []deployment
	for i := range list.Items {
		d := &appsv1.Deployment{}
		_ = runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, d) // the API server wrote it
		d = printableCopy(d)
		shown := deployment{Namespace: d.Namespace, Version: d.Labels[versionLabel], Ready: int64(d.Status.ReadyReplicas)}
		if containers := d.Spec.Template.Spec.Containers; len(containers) > 0 {
			shown.Image = containers[0].Image
		}
		found = append(found, shown)
	}
	return found, err
}
