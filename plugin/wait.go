package plugin

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/printable"
)

// pollInterval is how long the plugin waits before it repeats a request, or reads again what it may not watch.
const pollInterval = time.Second

// A goal is what somebody waits for. It tells whether it is reached, or cannot be reached without a person.
type goal func(m *v1alpha1.Mandate) (reached bool, obstacle string)

func (s *session) waitCommand() *cobra.Command {
	target := ""
	command := &cobra.Command{
		Use:   "wait NAME...",
		Short: "Wait until Mandates are Ready, or have an outcome",
		Long: "Wait until Mandates are Ready, which means that their applications exist, or until they have an outcome. " +
			"The command ends early, with exit status 3, if a Mandate is Stalled or has another outcome. After the timeout, " +
			"the exit status is 4.",
		Example: "  kubectl mandate wait -n onboarding acme --for=ready\n" +
			"  kubectl mandate wait -n onboarding acme --for=outcome=Completed --timeout=72h",
		Args:              minimumArgs(1),
		ValidArgsFunction: s.completeMandates(),
		RunE: s.onCluster(func(ctx context.Context, c *cluster, names []string) error {
			reached, err := parseGoal(target)
			if err != nil {
				return err
			}
			ctx, cancel := s.withTimeout(ctx)
			defer cancel()
			var all []printed
			for _, name := range names {
				m, err := c.waitFor(ctx, name, reached)
				if err != nil {
					return err
				}
				v := newView(facts{mandate: m})
				all = append(all, v.printed())
				fmt.Fprintf(s.text(), "Mandate %s: %s\n", name, summary(&v, s.now))
			}
			return s.print(false, all...)
		}),
	}
	command.Flags().StringVar(&target, "for", "ready",
		"What to wait for: ready, outcome, or outcome=Completed|Rejected|Expired|Deleted.")
	s.addOutput(command)
	addTimeout(command, 10*time.Minute)
	completeFlag(command, "for", "ready", "outcome", "outcome=Completed", "outcome=Rejected")
	return command
}

func parseGoal(text string) (goal, error) {
	kind, value, valued := strings.Cut(text, "=")
	switch {
	case strings.EqualFold(kind, "ready") && !valued:
		return isReady, nil
	case strings.EqualFold(kind, "outcome") && !valued:
		return hasOutcome(""), nil
	case strings.EqualFold(kind, "outcome"):
		outcome, known := oneOf(value, v1alpha1.OutcomeCompleted, v1alpha1.OutcomeRejected, v1alpha1.OutcomeExpired,
			v1alpha1.OutcomeDeleted)
		if known {
			return hasOutcome(outcome), nil
		}
	}
	return nil, fmt.Errorf("--for %q: use ready, outcome, or outcome=Completed|Rejected|Expired|Deleted", text)
}

func isReady(m *v1alpha1.Mandate) (bool, string) {
	ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
	current := ready != nil && ready.ObservedGeneration == m.Generation
	return current && ready.Status == metav1.ConditionTrue, stalledReason(m)
}

func hasOutcome(wanted v1alpha1.Outcome) goal {
	return func(m *v1alpha1.Mandate) (bool, string) {
		switch outcome := m.Status.Outcome; {
		case outcome == "":
			return false, stalledReason(m)
		case wanted == "" || outcome == wanted:
			return true, ""
		default:
			return false, "its outcome is " + string(outcome)
		}
	}
}

// stalledReason says why nothing moves without a person; "" if it may.
func stalledReason(m *v1alpha1.Mandate) string {
	stalled := viewOf(m.Status.Conditions, v1alpha1.ConditionStalled)
	switch {
	case isUnobserved(m):
		return ""
	case m.Spec.Suspend:
		return "spec.suspend is true"
	case stalled.Status == string(metav1.ConditionTrue):
		return fmt.Sprintf("a person must act first (%s): %s", stalled.Reason, stalled.Message)
	}
	return ""
}

// waitFor waits until a Mandate reaches a goal.
func (c *cluster) waitFor(ctx context.Context, name string, reached goal) (*v1alpha1.Mandate, error) {
	m := &v1alpha1.Mandate{}
	m.Namespace, m.Name = c.namespace, name
	err := c.await(ctx, m, func() (bool, error) {
		done, obstacle := reached(m)
		if !done && obstacle != "" {
			return false, c.obstacleOf(name, obstacle)
		}
		return done, nil
	}, func() string {
		v := newView(facts{mandate: m})
		return fmt.Sprintf("the Mandate %s is %s", name, summary(&v, systemClock))
	})
	return m, err
}

// obstacleOf is the error for a Mandate that cannot reach a goal before somebody does something.
func (c *cluster) obstacleOf(name, obstacle string) error {
	name = printable.Text(name)
	return &exitError{exitNotReached, fmt.Errorf("the Mandate %s: %s\nNext: kubectl mandate status -n %s %s",
		name, obstacle, c.namespace, name)}
}

// await reads an object until done, the end of ctx, or an error that lasts: a restart of the API server does not end a
// wait of hours. state says how far it is, for the error at the end of ctx.
func (c *cluster) await(
	ctx context.Context, object client.Object, done func() (bool, error), state func() string,
) error {
	var failed error // of the last read
	for ctx.Err() == nil {
		err := c.readAgain(ctx, object)
		switch {
		case err == nil:
			failed = nil
			if reached, err := done(); reached || err != nil {
				return err
			}
			c.waitForChange(ctx, object)
		case isRefused(err):
			return explainError(err)
		case ctx.Err() == nil:
			if failed == nil {
				c.warn("%v; trying again", err)
			}
			failed = err
			idv.Sleep(ctx, pollInterval)
		}
	}
	how := state()
	if failed != nil {
		how += fmt.Sprintf("\nThat may be old, because the API server could not be read: %v", explainError(failed))
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &exitError{exitTimeout, fmt.Errorf("the timeout passed: %s", how)}
	}
	return fmt.Errorf("interrupted: %s", how)
}

// readAgain reads an object. Of what it was before, nothing stays, except if it cannot be read.
func (c *cluster) readAgain(ctx context.Context, object client.Object) error {
	value := reflect.ValueOf(object).Elem()
	read := reflect.New(value.Type())
	target, _ := reflect.TypeAssert[client.Object](read) // as the object is one
	err := c.Get(ctx, client.ObjectKeyFromObject(object), target)
	if err == nil {
		value.Set(read.Elem())
	}
	return err
}

// waitForChange returns when an object may have changed since it was read. If it cannot be watched, because the user
// may not, because the watch ended, or because the API server no longer has what happened since (410 Gone), it returns
// after a moment, so that a read follows.
func (c *cluster) waitForChange(ctx context.Context, object client.Object) {
	list := &metav1.PartialObjectMetadataList{}
	if kind, err := c.GroupVersionKindFor(object); err == nil {
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	}
	changes, err := c.Watch(ctx, list, client.InNamespace(object.GetNamespace()),
		client.MatchingFields{metav1.ObjectNameField: object.GetName()},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: object.GetResourceVersion()}})
	if err == nil {
		defer changes.Stop()
		select {
		case change, open := <-changes.ResultChan():
			if open && change.Type != watch.Error {
				return
			}
		case <-ctx.Done():
			return
		}
	}
	idv.Sleep(ctx, pollInterval)
}
