package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/printable"
)

func (s *session) exportCommand() *cobra.Command {
	file, selector := "", ""
	command := &cobra.Command{
		Use:   "export --file FILE",
		Short: "Write Mandates, their records and their services into a file, to move them to another cluster",
		Long: "Write Mandates with their statuses, their ApplicationRecords, and the services that they name into a new " +
			"file that only you can read. It has the personal data that is inline in Mandates, and no Secret. Services in it " +
			"are suspended, so that who applies the file creates nothing. The command changes nothing.",
		Example: "  kubectl mandate export -n onboarding --file onboarding.yaml\n" +
			"  kubectl mandate export -A --file all.yaml",
		Args: exactArgs(0),
		RunE: func(command *cobra.Command, _ []string) error {
			target, err := newFile(file)
			if err != nil {
				return err
			}
			if err = errors.Join(s.export(command.Context(), target, selector), target.Close()); err != nil {
				_ = os.Remove(target.Name()) // a part of an export is none
			}
			return err
		},
	}
	command.Flags().StringVarP(&file, "file", "f", "", "Write to this new file.")
	_ = errors.Join(command.MarkFlagRequired("file"), command.MarkFlagFilename("file")) // the flag exists
	command.Flags().BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "Export the Mandates of all namespaces.")
	command.Flags().StringVarP(&selector, "selector", "l", "",
		"Export the Mandates with these labels, and what belongs to them. Default: all.")
	return command
}

func (s *session) export(ctx context.Context, target *os.File, selector string) error {
	c, err := s.cluster()
	if err != nil {
		return err
	}
	found, err := c.readForExport(ctx, selector)
	if err != nil {
		return err
	}
	if err := c.writeTo(target, found); err != nil {
		return err
	}
	if slices.ContainsFunc(found.mandates, hasInlineData) {
		c.warn("%s has personal data of individuals: protect it as a backup, and delete it after the import", target.Name())
	}
	fmt.Fprintf(s.Out, "Wrote %s, %s and %s to %s. It has no Secrets: copy those that they name first.\nNext, in the "+
		"other cluster: kubectl mandate import --file %[4]s\n", plural(int64(len(found.services)), "service"),
		plural(int64(len(found.records)), "ApplicationRecord"), plural(int64(len(found.mandates)), "Mandate"),
		printable.Text(target.Name()))
	return nil
}

func hasInlineData(m *v1alpha1.Mandate) bool {
	return slices.ContainsFunc(m.Spec.Individuals, func(i v1alpha1.Individual) bool { return i.HasInline() })
}

// readForExport reads the Mandates before their records, so that each record has what the status has.
func (c *cluster) readForExport(ctx context.Context, selector string) (*moved, error) {
	mandates, err := c.mandates(ctx, nil, selector)
	if err != nil {
		return nil, err
	}
	found, used := &moved{}, map[serviceKey]bool{}
	chosen := map[client.ObjectKey]bool{}
	for i := range mandates {
		m := &mandates[i]
		if m.DeletionTimestamp != nil {
			c.warn("the Mandate %s/%s is being deleted, and is not exported", m.Namespace, m.Name)
			continue
		}
		chosen[client.ObjectKeyFromObject(m)], used[serviceOf(m)] = true, true
		found.mandates = append(found.mandates, m)
	}
	services, records := &v1alpha1.IdentityServiceList{}, &v1alpha1.ApplicationRecordList{}
	err = c.each(ctx, services, func(object client.Object) {
		key := serviceKey{v1alpha1.ServiceKindIdentityService, object.GetNamespace(), object.GetName()}
		if selector == "" || used[key] {
			found.add(object)
		}
	}, client.InNamespace(c.namespace))
	if err != nil {
		return nil, explainError(err)
	}
	for key := range used {
		if key.kind != v1alpha1.ServiceKindClusterIdentityService {
			continue
		}
		service, err := c.read(ctx, key)
		if err != nil {
			return nil, err
		}
		found.add(service)
	}
	return found, explainError(c.each(ctx, records, func(object client.Object) {
		if selector == "" || chosen[client.ObjectKeyFromObject(object)] {
			found.add(object)
		}
	}, client.InNamespace(c.namespace)))
}

// writeTo writes objects as YAML documents.
func (c *cluster) writeTo(target *os.File, found *moved) error {
	content := &bytes.Buffer{}
	for _, object := range found.objects() {
		kind, err := c.GroupVersionKindFor(object)
		if err != nil {
			return err
		}
		makePortable(object)
		object.GetObjectKind().SetGroupVersionKind(kind)
		document, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		content.WriteString("---\n")
		content.Write(document)
	}
	_, err := target.Write(content.Bytes())
	return err
}
