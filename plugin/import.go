package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/plan"
)

func (s *session) importCommand() *cobra.Command {
	file := ""
	command := &cobra.Command{
		Use:   "import --file FILE",
		Short: "Move Mandates of another cluster here, from the file of an export",
		Long: "Write the services, ApplicationRecords and Mandates of a file into this cluster, in this order, so that " +
			"each Mandate finds its application. A Mandate whose record is not in the file gets one from its status. New " +
			"services are suspended. What exists stays as it is, but for a Mandate without an application that the file " +
			"knows. The command e-mails nobody. It can be repeated, and continues after an interruption.",
		Example: "  kubectl mandate import --file onboarding.yaml",
		Args:    exactArgs(0),
		RunE: s.onCluster(func(ctx context.Context, c *cluster, _ []string) error {
			content, err := s.readFile(ctx, file)
			if err != nil {
				return err
			}
			return c.importFrom(ctx, content)
		}),
	}
	command.Flags().StringVarP(&file, "file", "f", "", "Read this file, or with - the standard input.")
	_ = errors.Join(command.MarkFlagRequired("file"), command.MarkFlagFilename("file")) // the flag exists
	return command
}

// importFrom writes nothing before all is read and allowed.
func (c *cluster) importFrom(ctx context.Context, content []byte) error {
	found, err := readMoved(content, c.namespace)
	if err != nil {
		return err
	}
	if err := c.mayImport(ctx, found); err != nil {
		return err
	}
	i := &importer{
		cluster: c, strict: client.WithFieldValidation(c, metav1.FieldValidationStrict),
		services: map[plan.ObjectKey]service{}, records: map[client.ObjectKey]*v1alpha1.ApplicationRecord{},
	}
	if err := i.write(ctx, found); err != nil {
		return fmt.Errorf("%w\nNext: repeat the command, which continues", err)
	}
	return c.printImport(found, i.results)
}

// mayImport looks for what would end an import on its way: namespaces and permissions.
func (c *cluster) mayImport(ctx context.Context, found []client.Object) error {
	needed := sets.Set[authorizationv1.ResourceAttributes]{}
	need := func(namespace, resource, subresource string, verbs ...string) {
		for _, verb := range verbs {
			needed.Insert(authorizationv1.ResourceAttributes{
				Group: groupName, Namespace: namespace, Resource: resource, Subresource: subresource, Verb: verb,
			})
		}
	}
	namespaces := sets.Set[string]{}
	for _, object := range found {
		namespaces.Insert(object.GetNamespace())
		if s, ok := object.(service); ok {
			need(s.GetNamespace(), strings.ToLower(kindOf(s))+"s", "", "get", "create")
			continue
		}
		need("", "applicationrecords", "", "record")
		need(object.GetNamespace(), "applicationrecords", "", "get", "create", "patch")
		need(object.GetNamespace(), "mandates", "", "get", "create", "patch")
		need(object.GetNamespace(), "mandates", "status", "patch")
	}
	var problems []error
	for _, name := range sets.List(namespaces.Delete("")) {
		namespace := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
		if apierrors.IsNotFound(c.Get(ctx, client.ObjectKey{Name: name}, namespace)) {
			problems = append(problems, fmt.Errorf("there is no namespace %s: create it, with its Secrets", name))
		}
	}
	for attributes := range needed {
		allowed, err := c.may(ctx, attributes)
		if err != nil {
			return explainError(err)
		}
		if !allowed {
			where := "all namespaces"
			if attributes.Namespace != "" {
				where = "the namespace " + attributes.Namespace
			}
			problems = append(problems, fmt.Errorf("you may not %s %s in %s", attributes.Verb,
				strings.TrimSuffix(attributes.Resource+"/"+attributes.Subresource, "/"), where))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return fmt.Errorf("nothing was written: %w\nAsk for ClusterRoleBindings of idv-restorer and idv-editor, and of "+
		"idv-platform for a ClusterIdentityService, for the time of the import", errors.Join(problems...))
}

// printImport shows what needs a person, and counts the others.
func (s *session) printImport(found []client.Object, results []importResult) error {
	p, counts := newPrinter(s.Out), map[string]int64{}
	lines := [][]string{{"KIND", "NAMESPACE", "NAME", "RESULT", "NEXT"}}
	for _, r := range results {
		counts[r.result]++
		if r.next != "" {
			lines = append(lines, orDashes(kindOf(r.object), r.object.GetNamespace(), r.object.GetName(), r.result, r.next))
		}
	}
	if len(lines) > 1 {
		p.columns(lines)
		p.line()
	}
	p.line(countsOf(found), " in the file.")
	for _, result := range sortedKeys(counts) {
		p.line(fmt.Sprintf("%s: %d", result, counts[result]))
	}
	p.line("Nobody was e-mailed. Next, when the operator knows them: kubectl mandate status -A")
	fmt.Fprint(s.Out, p.String())
	if counts[resultFailed] > 0 {
		return &exitError{exitFailure, fmt.Errorf("%d of the objects were not written", counts[resultFailed])}
	}
	if counts[resultPerson] > 0 {
		return &exitError{exitNotReached, fmt.Errorf("%d of the objects need a person", counts[resultPerson])}
	}
	return nil
}

// refusedFields says which fields the API server refuses. Its message can quote personal data, and is left out.
func refusedFields(err error) error {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsInvalid(err) || status.ErrStatus.Details == nil {
		return explainError(err)
	}
	var fields []string
	for _, cause := range status.ErrStatus.Details.Causes {
		fields = append(fields, printableLine(cause.Field))
	}
	return fmt.Errorf("the API server refuses %s", strings.Join(fields, ", "))
}
