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

// completeMandates completes the name of a Mandate, and then the name of one of its individuals if individuals is true.
func (s *session) completeMandates(individuals bool) cobra.CompletionFunc {
	return func(command *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
		c, err := s.cluster()
		switch {
		case err != nil:
		case len(arguments) == 0:
			return c.names(command.Context(), &v1alpha1.MandateList{}, client.InNamespace(c.namespace)), noFiles
		case len(arguments) == 1 && individuals:
			if mandate, err := c.mandate(command.Context(), arguments[0]); err == nil {
				return individualNames(mandate), noFiles
			}
		}
		return nil, noFiles
	}
}

// completeChecks completes the name of a check of an individual.
func (s *session) completeChecks(ctx context.Context, mandate, individual string) []string {
	c, err := s.cluster()
	if err != nil {
		return nil
	}
	m, err := c.mandate(ctx, mandate)
	if err != nil {
		return nil
	}
	var names []string
	for i := range m.Status.Individuals {
		if m.Status.Individuals[i].Name == individual {
			for _, check := range m.Status.Individuals[i].Checks {
				names = append(names, cmp.Or(printable.Text(check.Name), strconv.FormatInt(check.ID, 10)))
			}
		}
	}
	return names
}

func (s *session) completeNamespaces(
	command *cobra.Command, _ []string, _ string,
) ([]string, cobra.ShellCompDirective) {
	c, err := s.cluster()
	if err != nil {
		return nil, noFiles
	}
	return c.names(command.Context(), &corev1.NamespaceList{}), noFiles
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

func (s *session) completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	config, err := s.config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, noFiles
	}
	return slices.Sorted(maps.Keys(config.Contexts)), noFiles
}
