package plugin

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
)

// What a part of an installation looks like.
const (
	partWorks   = "ok"
	partFails   = "!" // a person has to do something
	partUnknown = "?" // the user may not see it
)

// A part is what check found of one part of an installation.
type part struct {
	Name   string `json:"part"`
	Result string `json:"result"`
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"`
}

func (s *session) checkCommand(version string) *cobra.Command {
	command := &cobra.Command{
		Use:   "check",
		Short: "Check the installation in the cluster, and say what to do next",
		Long: "Check the CRDs, the admission policies, the operator and its leader, the receiver of notifications, what " +
			"you may do in the namespace, and the connections that Mandates of the namespace can use. The command only reads. " +
			"What you may not see is unknown (?). If a person has to do something (!), the exit status is 3.",
		Example: "  kubectl mandate check -n onboarding",
		Args:    exactArgs(0),
		RunE: s.onCluster(func(ctx context.Context, c *cluster, _ []string) error {
			parts, err := c.parts(ctx, version)
			if err != nil {
				return err
			}
			if err := s.showParts(parts); err != nil {
				return err
			}
			if slices.ContainsFunc(parts, func(p part) bool { return p.Result == partFails }) {
				return &exitError{code: exitNotReached} // the table has said it
			}
			return nil
		}),
	}
	s.addOutput(command)
	return command
}

func (s *session) showParts(parts []part) error {
	lines := [][]string{{"", "PART", "DETAIL"}}
	for _, p := range parts {
		lines = append(lines, []string{p.Result, p.Name, p.Detail})
		if p.Next != "" {
			lines = append(lines, []string{"", "", "Next: " + p.Next})
		}
	}
	all := []printed{{kind: "Installation", name: operatorName, view: map[string]any{"parts": parts}}}
	return s.show(false, all, func(p *printer) { p.columns(lines) })
}

// parts looks at each part of the installation.
func (c *cluster) parts(ctx context.Context, version string) ([]part, error) {
	crds, err := c.crdPart()
	if err != nil || crds.Detail == notInstalled {
		return []part{crds}, explainError(err)
	}
	parts := []part{crds, c.policyPart(ctx)}
	parts = append(parts, c.operatorParts(ctx, version)...)
	parts = append(parts, c.permissionPart(ctx))
	return append(parts, c.connectionParts(ctx)...), nil
}
