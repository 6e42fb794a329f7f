package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/printable"
)

func (s *session) eraseCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "erase NAME...",
		Short: "Remove inline personal data from Mandates that have an outcome",
		Long: "Remove inline personal data from Mandates that have an outcome: reference, email, title, names, dateOfBirth " +
			"and gender of each individual, and the copy of the manifest that kubectl apply keeps. Each individual then has " +
			"erased: true, and nothing is created for the Mandate again. The command lists what is left, and what the record " +
			"keeps. It asks for confirmation on a terminal, and needs --yes otherwise. Where a GitOps tool owns the " +
			"individuals, it changes nothing, and prints what to commit.",
		Example: "  kubectl mandate erase -n onboarding acme",
		Args:    minimumArgs(1),

		ValidArgsFunction: s.completeMandates(),
		RunE: s.onCluster(func(ctx context.Context, c *cluster, names []string) error {
			mandates, err := c.mandates(ctx, names)
			if err != nil {
				return err
			}
			question := fmt.Sprintf("Erase inline personal data of %s? This cannot be undone.", strings.Join(names, ", "))
			if err := s.confirm(ctx, question); err != nil {
				return err
			}
			problems := make([]error, len(mandates))
			for i := range mandates {
				problems[i] = c.erase(ctx, &mandates[i])
			}
			return errors.Join(problems...)
		}),
	}
	s.addYes(command)
	return command
}

func (c *cluster) erase(ctx context.Context, m *v1alpha1.Mandate) error {
	if m.Status.Outcome == "" {
		return &exitError{exitNotReached, fmt.Errorf("the Mandate %s has no outcome yet; nothing was changed. See kubectl "+
			"mandate wait -n %s %s --for=outcome", printable.Text(m.Name), printable.Text(m.Namespace),
			printable.Text(m.Name))}
	}
	individuals := erasedIndividuals(m.Spec.Individuals)
	if reason := gitOpsWarning(m, "individuals"); reason != "" && !slices.Equal(individuals, m.Spec.Individuals) {
		return &exitError{exitNotReached, fmt.Errorf("the Mandate %s: %s Nothing was changed. Replace inline fields of each "+
			"individual by erased: true", printable.Text(m.Name), reason)}
	}
	err := c.changeMandate(ctx, m, func(changed *v1alpha1.Mandate) {
		changed.Spec.Individuals = individuals
		changed.Annotations = maps.Clone(changed.Annotations)
		delete(changed.Annotations, corev1.LastAppliedConfigAnnotation)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "Erased inline personal data of the Mandate %s.\n", printable.Text(m.Name))
	printLeft(c.Out, m)
	return nil
}

// erasedIndividuals are individuals without inline personal data. One that has none stays as it is.
func erasedIndividuals(individuals []v1alpha1.Individual) []v1alpha1.Individual {
	erased := slices.Clone(individuals)
	for i := range erased {
		if individuals[i].HasInline() {
			erased[i] = individuals[i].WithoutInline()
			erased[i].Erased = true
		}
	}
	return erased
}

// printLeft says where personal data of a Mandate that was erased can still be.
func printLeft(out io.Writer, m *v1alpha1.Mandate) {
	fmt.Fprintln(out, "What is left, for you to delete:")
	for i := range m.Spec.Individuals {
		if secret := m.Spec.Individuals[i].DetailsSecretRef; secret != nil {
			fmt.Fprintf(out, "  the Secret %s, if it still exists\n", printable.Text(secret.Name))
		}
	}
	for i := range m.Spec.CheckReviews {
		if m.Spec.CheckReviews[i].Comment != "" {
			fmt.Fprintln(out, "  comments in spec.checkReviews, and spec.name, if they say who somebody is")
			break
		}
	}
	fmt.Fprintln(out, "  reports that MandateActions have stored in Secrets\n"+
		"  manifests in files and in Git, with their history\n"+
		"  backups, and what etcd keeps until its next compaction, and in its files *.wal\n"+
		"  audit logs of the API server, if they record bodies of requests\n"+
		"  the data at the service, until it deletes the application")
	fmt.Fprintln(out, "What the status and the ApplicationRecord keep: ids, states and results of checks, times, calls "+
		"with their authors, and keyed digests of the details.")
}
