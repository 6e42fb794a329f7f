package plugin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/plan"
)

func (s *session) statusCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "status [NAME...]",
		Short: "Show Mandates, and what to do next",
		Long: "Show one Mandate as a tree: its application, connection and record, its individuals with their checks, its " +
			"actions, and what to do next. Without a name, show a table of Mandates. Those that need a person come first. " +
			"The command shows individuals by their names in the spec, and no personal data.",
		Example: "  kubectl mandate status -A\n  kubectl mandate status -n onboarding acme\n" +
			"  kubectl mandate status -A -o json | jq '.items[] | select(.attention == \"NeedsPerson\").metadata.name'",
		ValidArgsFunction: s.completeMandates(),
		RunE: s.onCluster(func(ctx context.Context, c *cluster, names []string) error {
			if len(names) > 0 && (s.selector != "" || s.allNamespaces) {
				return fmt.Errorf("a name goes with neither --selector nor --all-namespaces; remove one of them")
			}
			views, err := c.views(ctx, names)
			if err != nil {
				return err
			}
			return s.showViews(views, len(names) > 0)
		}),
	}
	s.addOutput(command, "wide")
	command.Flags().BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "Show the Mandates of all namespaces.")
	command.Flags().StringVarP(&s.selector, "selector", "l", "", "Show the Mandates with these labels. Default: all.")
	return command
}

func (s *session) showViews(views []view, named bool) error {
	var all []printed
	for i := range views {
		all = append(all, views[i].printed())
	}
	isWide := s.output.format == "wide"
	return s.show(!named, all, func(p *printer) {
		switch {
		case named && !isWide:
			for i := range views {
				if i > 0 {
					p.line()
				}
				p.tree(&views[i], s.now)
			}
		case len(views) == 0:
			fmt.Fprintln(s.ErrOut, "There are no Mandates here; --all-namespaces shows those of all namespaces.")
		default:
			p.table(views, s.allNamespaces, isWide, s.now)
		}
	})
}

func (c *cluster) views(ctx context.Context, names []string) ([]view, error) {
	mandates, err := c.mandates(ctx, names)
	if err != nil {
		return nil, err
	}
	services, views := map[plan.ObjectKey]service{}, []view{} // and not null in JSON
	for i := range mandates {
		key := serviceOf(&mandates[i])
		if _, isRead := services[key]; !isRead {
			services[key], _ = c.read(ctx, key) // without one, the tree says why it may not be there
		}
		f := facts{mandate: &mandates[i], service: services[key]}
		if len(names) > 0 {
			if err := c.addDetails(ctx, &f); err != nil {
				return nil, err
			}
		}
		views = append(views, newView(f))
	}
	sortViews(views)
	return views, nil
}

// sortViews puts those that need a person first.
func sortViews(views []view) {
	slices.SortStableFunc(views, func(a, b view) int {
		return cmp.Or(
			cmp.Compare(slices.Index(attentions, a.Attention), slices.Index(attentions, b.Attention)),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		)
	})
}

// mandates are those named, or else those that --selector selects.
func (c *cluster) mandates(ctx context.Context, names []string) ([]v1alpha1.Mandate, error) {
	var found []v1alpha1.Mandate
	for _, name := range names {
		mandate, err := c.mandate(ctx, name)
		if err != nil {
			return nil, err
		}
		found = append(found, *mandate)
	}
	if len(names) > 0 {
		return found, nil
	}
	labelSelector, err := labels.Parse(c.selector)
	if err != nil {
		return nil, fmt.Errorf("--selector: %w", err)
	}
	err = c.each(ctx, &v1alpha1.MandateList{}, func(object client.Object) {
		found = append(found, *object.(*v1alpha1.Mandate)) //nolint:forcetypeassert // the list has no others
	}, client.InNamespace(c.namespace), client.MatchingLabelsSelector{Selector: labelSelector})
	return found, explainError(err)
}

// addDetails reads what only the tree shows.
func (c *cluster) addDetails(ctx context.Context, f *facts) error {
	record := &v1alpha1.ApplicationRecord{}
	switch err := c.Get(ctx, client.ObjectKeyFromObject(f.mandate), record); {
	case err == nil:
		f.record = record
	case !apierrors.IsNotFound(err):
		return explainError(err)
	}
	actions := &v1alpha1.MandateActionList{}
	err := c.List(ctx, actions, client.InNamespace(f.mandate.Namespace),
		client.MatchingFields{"spec.mandateRef.name": f.mandate.Name})
	f.actions = actions.Items
	return explainError(err)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
