package plugin

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// noFiles is how every completion of the plugin ends: no argument is a file.
const noFiles = cobra.ShellCompDirectiveNoFileComp

// completeMandates completes the name of a Mandate, and then the name of one of its individuals if individuals is true.
func (s *session) completeMandates(individuals bool) cobra.CompletionFunc {
	return func(command *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
		c, err := s.cluster()
		if err != nil {
			return nil, noFiles
		}
		switch {
		case len(arguments) == 0:
			list := &v1alpha1.MandateList{}
			if err := c.List(command.Context(), list, client.InNamespace(c.namespace)); err != nil {
				return nil, noFiles
			}
			var names []string
			for i := range list.Items {
				names = append(names, list.Items[i].Name)
			}
			return names, noFiles
		case len(arguments) == 1 && individuals:
			mandate, err := c.mandate(command.Context(), arguments[0])
			if err != nil {
				return nil, noFiles
			}
			var names []string
			for i := range mandate.Spec.Individuals {
				names = append(names, mandate.Spec.Individuals[i].Name)
			}
			return names, noFiles
		}
		return nil, noFiles
	}
}

func (s *session) completeNamespaces(
	command *cobra.Command, _ []string, _ string,
) ([]string, cobra.ShellCompDirective) {
	c, err := s.cluster()
	if err != nil {
		return nil, noFiles
	}
	list := &corev1.NamespaceList{}
	if err := c.List(command.Context(), list); err != nil {
		return nil, noFiles
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, noFiles
}

func (s *session) completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	config, err := s.config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, noFiles
	}
	return slices.Sorted(maps.Keys(config.Contexts)), noFiles
}
