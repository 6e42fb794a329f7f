package plugin

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mandate-io/idv/api/v1alpha1"
)

func (s *session) adoptCommand() *cobra.Command {
	timeout, output := time.Duration(0), outputFlag{}
	command := &cobra.Command{
		Use:   "adopt NAME APPLICATION_ID",
		Short: "Bind a Mandate to an application that exists",
		Long: "Bind a Mandate to an application that exists at the service, and wait for the result. Use this if the id " +
			"was lost (OutcomeUnknown), or after a restore (ReferenceConflict). The operator binds the application only if " +
			"it has the Mandate's reference. The command e-mails nobody.",
		Example:           "  kubectl mandate adopt -n onboarding acme 4711",
		Args:              exactArgs(2),
		ValidArgsFunction: s.completeMandates(false),
		RunE: func(command *cobra.Command, arguments []string) error {
			id, err := strconv.ParseInt(arguments[1], 10, 64)
			if err != nil || id < 1 {
				return fmt.Errorf("APPLICATION_ID %q: must be a whole number above 0, as the service shows it", arguments[1])
			}
			c, err := s.cluster()
			if err != nil {
				return err
			}
			name := arguments[0]
			m, err := c.mandate(command.Context(), name)
			if err != nil {
				return err
			}
			if bound := m.Status.ApplicationID; bound != nil {
				if *bound == id {
					fmt.Fprintf(output.text(s), "The Mandate %s has the application %d already. Nothing was changed.\n", name, id)
					return nil
				}
				return &exitError{exitNotReached, fmt.Errorf("the Mandate %s has the application %d, which cannot "+
					"change; nothing was changed", name, *bound)}
			}
			s.warnGitOps(m, "adopt")
			if err := c.changeMandate(command.Context(), m, func(m *v1alpha1.Mandate) {
				m.Spec.Adopt = &v1alpha1.Adoption{ApplicationID: id}
			}); err != nil {
				return err
			}
			fmt.Fprintf(output.text(s), "Set spec.adopt.applicationID of the Mandate %s to %d. The operator checks that the "+
				"application has the Mandate's reference.\n", name, id)
			ctx, cancel := withTimeout(command.Context(), timeout)
			defer cancel()
			if m, err = c.waitFor(ctx, name, isAdopted); err != nil {
				return err
			}
			fmt.Fprintln(output.text(s), "The Mandate is bound. Nobody was e-mailed. spec.adopt has no effect any more.")
			v := newView(facts{mandate: m})
			return output.print(s.Out, false, v.printed())
		},
	}
	output.addTo(command)
	addTimeout(command, &timeout, time.Minute)
	return command
}

// isAdopted also waits while the reason is one from before spec.adopt was set.
func isAdopted(m *v1alpha1.Mandate) (bool, string) {
	return m.Status.ApplicationID != nil, stalledReason(m)
}
