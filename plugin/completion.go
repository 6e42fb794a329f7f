package plugin

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/printable"
)

// noFiles is how every completion of the plugin ends: no argument is a file.
const noFiles = cobra.ShellCompDirectiveNoFileComp

// completeFlag completes a flag that the command has.
func completeFlag(command *cobra.Command, flag string, values ...string) {
	_ = command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, noFiles)) // the flag exists
}

// complete completes with what is found in the cluster; with nothing if that cannot be read.
func (s *session) complete(
	find func(ctx context.Context, c *cluster, arguments []string) []string,
) cobra.CompletionFunc {
	return func(command *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
		c, err := s.cluster()
		if err != nil {
			return nil, noFiles
		}
		return find(command.Context(), c, arguments), noFiles
	}
}

// completeMandates completes the name of a Mandate.
func (s *session) completeMandates() cobra.CompletionFunc { return s.completeIn(0) }

// completeIn completes the name of a Mandate and, to a depth of 1 or 2, those of an individual in it, and of a check.
// After them come the last ones.
func (s *session) completeIn(depth int, last ...string) cobra.CompletionFunc {
	return s.complete(func(ctx context.Context, c *cluster, arguments []string) []string {
		switch {
		case len(arguments) == 0:
			return c.names(ctx, &v1alpha1.MandateList{}, client.InNamespace(c.namespace))
		case len(arguments) > depth:
			return last
		}
		m, err := c.mandate(ctx, arguments[0])
		switch {
		case err != nil:
			return nil
		case len(arguments) == 1:
			return individualNames(m)
		default:
			return checksOf(m, arguments[1])
		}
	})
}

// checksOf are the names of the checks of an individual.
func checksOf(m *v1alpha1.Mandate, individual string) (names []string) {
	for i := range m.Status.Individuals {
		if m.Status.Individuals[i].Name == individual {
			for _, check := range m.Status.Individuals[i].Checks {
				names = append(names, cmp.Or(printable.Text(check.Name), strconv.FormatInt(check.ID, 10)))
			}
		}
	}
	return names
}

// names are those of the objects of a list; none if they cannot be read.
func (c *cluster) names(ctx context.Context, list client.ObjectList, options ...client.ListOption) []string {
	var names []string
	err := c.each(ctx, list, func(object client.Object) {
		names = append(names, printable.Text(object.GetName()))
	}, options...)
	if err != nil {
		return nil
	}
	return names
}

func individualNames(m *v1alpha1.Mandate) []string {
	var names []string
	for i := range m.Spec.Individuals {
		names = append(names, printable.Text(m.Spec.Individuals[i].Name))
	}
	return names
}

func (s *session) completeNamespaces() cobra.CompletionFunc {
	return s.complete(func(ctx context.Context, c *cluster, _ []string) []string {
		return c.names(ctx, &corev1.NamespaceList{})
	})
}

func (s *session) completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	config, err := s.config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, noFiles
	}
	return slices.Sorted(maps.Keys(config.Contexts)), noFiles
}
