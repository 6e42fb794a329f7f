package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/printable"
	"github.com/mandate-io/idv/operator/plan"
)

func (s *session) exportCommand() *cobra.Command {
	file := ""
	command := &cobra.Command{
		Use:   "export --file FILE",
		Short: "Write Mandates, their records and their services into a file, to move them to another cluster",
		Long: "Write Mandates with their statuses, their ApplicationRecords, and the services that they name into a new " +
			"file that only you can read. It has the personal data that is inline in Mandates, and no Secret. Services in it " +
			"are suspended, so that who applies the file creates nothing. The command changes nothing.",
		Example: "  kubectl mandate export -n onboarding --file onboarding.yaml\n" +
			"  kubectl mandate export -A --file all.yaml",
		Args: exactArgs(0),
		RunE: s.onCluster(func(ctx context.Context, c *cluster, _ []string) error {
			target, err := newFile(file)
			if err != nil {
				return err
			}
			if err = errors.Join(c.export(ctx, target), target.Close()); err != nil {
				_ = os.Remove(target.Name()) // a part of an export is none
			}
			return err
		}),
	}
	command.Flags().StringVarP(&file, "file", "f", "", "Write to this new file.")
	_ = errors.Join(command.MarkFlagRequired("file"), command.MarkFlagFilename("file")) // the flag exists
	command.Flags().BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "Export the Mandates of all namespaces.")
	command.Flags().StringVarP(&s.selector, "selector", "l", "",
		"Export the Mandates with these labels, and what belongs to them. Default: all.")
	return command
}

func (c *cluster) export(ctx context.Context, target *os.File) error {
	found, err := c.readForExport(ctx)
	if err != nil {
		return err
	}
	for _, object := range found {
		makePortable(object)
		object.GetObjectKind().SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(kindOf(object)))
		document, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(target, "---\n%s", document); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(of[*v1alpha1.Mandate](found), hasInlineData) {
		c.warn("%s has personal data of individuals: protect it as a backup, and delete it after the import", target.Name())
	}
	fmt.Fprintf(c.Out, "Wrote %s to %s. It has no Secrets: copy those that they name first.\nNext, in the other cluster: "+
		"kubectl mandate import --file %[2]s\n", countsOf(found), printable.Text(target.Name()))
	return nil
}

func hasInlineData(m *v1alpha1.Mandate) bool {
	return slices.ContainsFunc(m.Spec.Individuals, func(i v1alpha1.Individual) bool { return i.HasInline() })
}

// readForExport reads the Mandates before their records, so that each record has what the status has. With --selector,
// it leaves out what does not belong to them.
func (c *cluster) readForExport(ctx context.Context) (found []client.Object, err error) {
	mandates, err := c.mandates(ctx, nil)
	if err != nil {
		return nil, err
	}
	chosen, moving := sets.Set[plan.ObjectKey]{}, []client.Object(nil)
	for i := range mandates {
		m := &mandates[i]
		if m.DeletionTimestamp != nil {
			c.warn("the Mandate %s/%s is being deleted, and is not exported", m.Namespace, m.Name)
			continue
		}
		key := serviceOf(m)
		if key.Kind == kindClusterService && !chosen.Has(key) {
			shared, err := c.read(ctx, key)
			if err != nil {
				return nil, err
			}
			found = append(found, shared)
		}
		chosen.Insert(key, plan.ObjectKey{Kind: kindRecord, Namespace: m.Namespace, Name: m.Name})
		moving = append(moving, m)
	}
	for _, list := range []client.ObjectList{&v1alpha1.IdentityServiceList{}, &v1alpha1.ApplicationRecordList{}} {
		err := c.each(ctx, list, func(object client.Object) {
			if c.selector == "" || chosen.Has(plan.KeyOf(object)) {
				found = append(found, object)
			}
		}, client.InNamespace(c.namespace))
		if err != nil {
			return nil, explainError(err)
		}
	}
	return append(found, moving...), nil
}
