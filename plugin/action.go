package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/mandate-io/idv/api/v1alpha1"
)

func (s *session) resendCommand() *cobra.Command {
	return s.actionCommand(&cobra.Command{
		Use:   "resend NAME INDIVIDUAL",
		Short: "E-mail an individual a new invite",
		Long: "E-mail an individual of a Mandate an invite with a new code. The command creates a MandateAction and waits " +
			"for its result. It asks for confirmation on a terminal, and needs --yes otherwise.",
		Example: "  kubectl mandate resend -n onboarding acme director",
	}, v1alpha1.MandateActionResendInvite, "E-mail %s of the Mandate %s a new invite? This cannot be undone.")
}

func (s *session) resetCommand() *cobra.Command {
	return s.actionCommand(&cobra.Command{
		Use:   "reset NAME INDIVIDUAL",
		Short: "Discard what an individual has done, and e-mail a new code",
		Long: "Discard what an individual of a Mandate has entered, reset the checks, and e-mail a new code to begin " +
			"again. The command creates a MandateAction and waits for its result. It asks for confirmation on a terminal, " +
			"and needs --yes otherwise.",
		Example: "  kubectl mandate reset -n onboarding acme director",
	}, v1alpha1.MandateActionResetIndividual,
		"Discard what %s of the Mandate %s has done, and e-mail a code to begin again? This cannot be undone.")
}

func (s *session) actionCommand(
	command *cobra.Command, kind v1alpha1.MandateActionType, question string,
) *cobra.Command {
	command.Args, command.ValidArgsFunction = exactArgs(2), s.completeIn(1)
	command.RunE = s.onCluster(func(ctx context.Context, c *cluster, arguments []string) error {
		m, err := c.mandateOf(ctx, arguments[0], arguments[1])
		if err != nil {
			return err
		}
		asked := fmt.Sprintf(question, arguments[1], c.namespace+"/"+arguments[0])
		sent := fmt.Sprintf("An e-mail with a new code is on its way to %s.", arguments[1])
		if m.Spec.SuppressEmailNotification {
			sent = "spec.suppressEmailNotification is true: the service may send no e-mail."
			asked += " " + sent
		}
		if err := s.confirm(ctx, asked); err != nil {
			return err
		}
		ctx, cancel := s.withTimeout(ctx)
		defer cancel()
		action := newAction(c.namespace, arguments[0], arguments[1], kind)
		if err := c.carryOut(ctx, action); err != nil {
			return err
		}
		fmt.Fprintf(s.text(), "%s\nNext: kubectl mandate status -n %s %s\n", sent, c.namespace, arguments[0])
		return s.print(false, printedOf(action, newActionView(action)))
	})
	s.addYes(command)
	s.addOutput(command)
	addTimeout(command, time.Minute)
	return command
}

// mandateOf reads a Mandate, which must have an individual of a name.
func (c *cluster) mandateOf(ctx context.Context, mandate, name string) (*v1alpha1.Mandate, error) {
	m, err := c.mandate(ctx, mandate)
	if err != nil {
		return nil, err
	}
	names := individualNames(m)
	if !slices.Contains(names, name) {
		return nil, fmt.Errorf("the Mandate %s has no individual %q; it has %s", mandate, name, strings.Join(names, ", "))
	}
	return m, nil
}

// newAction is an action with a name that no action had before: a name is carried out once, ever.
func newAction(namespace, mandate, individual string, kind v1alpha1.MandateActionType) *v1alpha1.MandateAction {
	action := &v1alpha1.MandateAction{}
	action.Namespace = namespace
	action.Name = fmt.Sprintf("%.200s-%s-%s", mandate, verbs[string(kind)], rand.String(10))
	action.Spec = v1alpha1.MandateActionSpec{
		MandateRef: v1alpha1.MandateReference{Name: mandate}, Type: kind, Individual: individual,
	}
	return action
}

// carryOut creates an action, waits for its end, and prints the result.
func (c *cluster) carryOut(ctx context.Context, action *v1alpha1.MandateAction) error {
	// Before the create: without its answer, or if this program is killed, the name tells what became of it.
	out := c.text()
	fmt.Fprintf(out, "Creating the MandateAction %s: %s for %s.\n",
		action.Name, action.Spec.Type, action.Spec.Individual)
	if err := c.create(ctx, action); err != nil {
		return err
	}
	err := c.await(ctx, action, func() (bool, error) {
		return newActionView(action).Result != "Pending", nil
	}, func() string {
		why := "the operator has not seen it yet. Check that it runs: " + findOperator
		if waiting := viewOf(action.Status.Conditions, v1alpha1.ConditionReconciling); waiting.Reason != "" {
			why = waiting.Reason + ": " + waiting.Message
		}
		return fmt.Sprintf("the MandateAction %s waits: %s\nThe operator carries it out later. To cancel it: "+
			"kubectl delete mandateaction -n %s %s", action.Name, why, action.Namespace, action.Name)
	})
	if err != nil {
		return err
	}
	if meta.IsStatusConditionTrue(action.Status.Conditions, v1alpha1.ConditionFailed) {
		return failure(action)
	}
	done := viewOf(action.Status.Conditions, v1alpha1.ConditionComplete)
	fmt.Fprintf(out, "Complete, %s: %s\n", done.Reason, done.Message)
	return nil
}

// failure says why an action failed, and what to do.
func failure(action *v1alpha1.MandateAction) error {
	failed := viewOf(action.Status.Conditions, v1alpha1.ConditionFailed)
	p := &printer{width: defaultWidth}
	p.line("the action failed, ", failed.Reason, ": ", failed.Message)
	if e, ok := explanationOf(kindAction, failed.Reason); ok {
		p.steps("  ", e.Steps)
	}
	return &exitError{exitNotReached, errors.New(strings.TrimSpace(p.String()))}
}
