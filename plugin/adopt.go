package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mandate-io/idv/api/v1alpha1"
)

func (s *session) adoptCommand() *cobra.Command {
	file := ""
	command := &cobra.Command{
		Use:   "adopt NAME APPLICATION_ID | --from FILE",
		Short: "Bind Mandates to applications that exist",
		Long: "Bind a Mandate to an application that exists at the service, and wait for the result. Use this if the id " +
			"was lost (OutcomeUnknown), or after a restore (ReferenceConflict). The operator binds the application only if " +
			"it has the Mandate's reference. With --from, bind all Mandates of a file, and say which ones are not bound: of " +
			"lines or CSV with NAME and APPLICATION_ID, of a JSON list with name and applicationID, or of an export. The " +
			"command e-mails nobody.",
		Example: "  kubectl mandate adopt -n onboarding acme 4711\n" +
			"  kubectl mandate adopt -n onboarding --from ids.csv",
		ValidArgsFunction: s.completeMandates(),
	}
	command.Args = func(command *cobra.Command, arguments []string) error {
		if file != "" {
			return exactArgs(0)(command, arguments)
		}
		return exactArgs(2)(command, arguments)
	}
	command.RunE = s.onCluster(func(ctx context.Context, c *cluster, arguments []string) error {
		wanted, err := s.adoptionsOf(ctx, arguments, file)
		if err != nil {
			return err
		}
		return c.adopt(ctx, wanted)
	})
	command.Flags().StringVar(&file, "from", "", "Bind the Mandates of this file, or with - of the standard input.")
	_ = command.MarkFlagFilename("from") // the flag exists
	s.addOutput(command)
	addTimeout(command, time.Minute)
	return command
}

// adoptionsOf are those of the arguments or of the file.
func (s *session) adoptionsOf(ctx context.Context, arguments []string, file string) ([]adoption, error) {
	if file == "" {
		id, err := strconv.ParseInt(arguments[1], 10, 64)
		if err != nil || id < 1 {
			return nil, fmt.Errorf("APPLICATION_ID %q: must be a whole number above 0, as the service shows it", arguments[1])
		}
		return []adoption{{Name: arguments[0], ApplicationID: id}}, nil
	}
	content, err := s.readFile(ctx, file)
	if err != nil {
		return nil, err
	}
	return readAdoptions(content)
}

// adopt has the operator bind all Mandates, and then waits for each.
func (c *cluster) adopt(ctx context.Context, wanted []adoption) error {
	ctx, cancel := c.withTimeout(ctx)
	defer cancel()
	var problems []error
	begun := slices.DeleteFunc(slices.Clone(wanted), func(a adoption) bool {
		isBegun, err := c.in(a.Namespace).beginAdoption(ctx, a)
		if err != nil {
			problems = append(problems, err)
		}
		return !isBegun
	})
	var all []printed
	for _, a := range begun {
		m, err := c.in(a.Namespace).waitFor(ctx, a.Name, a.isReached)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		fmt.Fprintf(c.text(), "The Mandate %s is bound. Nobody was e-mailed. spec.adopt has no effect any more.\n", a.Name)
		v := newView(facts{mandate: m})
		all = append(all, v.printed())
	}
	if len(wanted) > 1 && len(problems) > 0 {
		problems = append(problems, fmt.Errorf("%d of %d Mandates are not bound", len(problems), len(wanted)))
	}
	if len(all) > 0 {
		problems = append(problems, c.print(false, all...))
	}
	return errors.Join(problems...)
}

// beginAdoption sets spec.adopt, and reports whether to wait for the operator.
func (c *cluster) beginAdoption(ctx context.Context, a adoption) (bool, error) {
	m, err := c.mandate(ctx, a.Name)
	if err != nil {
		return false, err
	}
	if bound := m.Status.ApplicationID; bound != nil {
		if *bound == a.ApplicationID {
			fmt.Fprintf(c.text(), "The Mandate %s has the application %d already. Nothing was changed.\n", a.Name, *bound)
			return false, nil
		}
		return false, &exitError{exitNotReached, fmt.Errorf("the Mandate %s has the application %d, which cannot "+
			"change; nothing was changed", a.Name, *bound)}
	}
	if set := m.Spec.Adopt; set != nil && set.ApplicationID == a.ApplicationID {
		fmt.Fprintf(c.text(), "spec.adopt.applicationID of the Mandate %s is %d already. Nothing was changed.\n", a.Name,
			a.ApplicationID)
		return true, nil
	}
	c.warnGitOps(m, "adopt")
	if err := c.changeMandate(ctx, m, func(m *v1alpha1.Mandate) {
		m.Spec.Adopt = &v1alpha1.Adoption{ApplicationID: a.ApplicationID}
	}); err != nil {
		return false, fmt.Errorf("the Mandate %s: %w", a.Name, err)
	}
	fmt.Fprintf(c.text(), "Set spec.adopt.applicationID of the Mandate %s to %d. The operator checks that the "+
		"application has the Mandate's reference.\n", a.Name, a.ApplicationID)
	return true, nil
}

// isReached also waits while the reason is one from before spec.adopt was set.
func (a adoption) isReached(m *v1alpha1.Mandate) (bool, string) {
	bound := m.Status.ApplicationID
	if bound != nil && *bound != a.ApplicationID {
		return false, fmt.Sprintf("it has the application %d, which was bound meanwhile and cannot change", *bound)
	}
	return bound != nil, stalledReason(m)
}
