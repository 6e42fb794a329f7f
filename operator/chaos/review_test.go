package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// resetDuringReview accepts a check, and resets the individual while the operator sends that. The individual gives
// other evidence, under another id.
func (s *scenario) resetDuringReview(ctx context.Context) error {
	known, err := s.waitSettled(ctx, rejected)
	if err != nil || !known {
		return errors.Join(err, s.apply(ctx, resetManifest))
	}
	return inOrder(
		func() error { return s.giveEvidence(ctx) },
		func() error { return s.waitForgotten(ctx) },
		func() error { return s.reviewCheck(ctx, rejected, v1alpha1.CheckDecisionAccept) },
		func() error { return s.until(ctx, func() string { return s.notSent(acceptCheck) }) },
		func() error { return s.apply(ctx, resetManifest) },
		func() error { return s.waitEnded(ctx, reset) },
		func() error { return s.giveEvidence(ctx) },
	)
}

// reject takes the review back, looks at the evidence, and rejects the check and the application.
func (s *scenario) reject(ctx context.Context) error {
	if known, err := s.waitSettled(ctx, rejected); err != nil || !known {
		return err
	}
	return inOrder(
		func() error { return s.editSpec(ctx, rejected, `{"checkReviews": null}`) },
		func() error { return s.waitForgotten(ctx) },
		func() error { return s.reviewCheck(ctx, rejected, v1alpha1.CheckDecisionReject) },
		func() error { return s.waitReviewed(ctx) },
		func() error { return s.rejectApplication(ctx) },
	)
}

// inOrder does one thing after another, up to the first that fails.
func inOrder(things ...func() error) error {
	for _, do := range things {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

func (s *scenario) giveEvidence(ctx context.Context) error {
	_, err := s.sandbox.Play(ctx, control.Play{Reference: s.reference(rejected), Result: control.ResultReview})
	return err
}

// reviewCheck decides jane's check as it is at the service now, when the status shows it. Who decides the application
// decides both at once.
func (s *scenario) reviewCheck(ctx context.Context, mandate string, decision v1alpha1.CheckDecision) error {
	var check control.Check
	var seen *v1alpha1.Mandate
	err := s.untilShown(ctx, mandate, "the check as it is", func(m *v1alpha1.Mandate, now control.Check) bool {
		check, seen = now, m
		return evidenceOf(m, now) != ""
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.reviewed[reviewOf{reviewRequest[decision], checkTarget(check.ID)}] = true
	s.mu.Unlock()
	requests, outcome := []string{reviewRequest[decision]}, ""
	if mandate == decided {
		requests = append(requests, complete)
		outcome = fmt.Sprintf(`, "decision": {"outcome": "Complete", "evidence": %q}`, seen.Status.Evidence)
	}
	return s.editSpec(ctx, mandate, fmt.Sprintf(`{"checkReviews": [
		{"individual": "jane", "check": "address", "evidence": %q, "decision": %q, "comment": "canary-comment"}]%s}`,
		evidenceOf(seen, check), decision, outcome), requests...)
}

// evidenceOf is what a status shows of a check; "" if it does not show it as it is.
func evidenceOf(m *v1alpha1.Mandate, check control.Check) string {
	for _, individual := range m.Status.Individuals {
		for _, c := range individual.Checks {
			if c.ID == check.ID && c.State != nil && c.State.Name == check.State {
				return c.Evidence
			}
		}
	}
	return ""
}

// rejectApplication decides on what the status shows.
func (s *scenario) rejectApplication(ctx context.Context) error {
	var seen string
	err := s.untilShown(ctx, rejected, "the evidence", func(m *v1alpha1.Mandate, now control.Check) bool {
		seen = m.Status.Evidence
		return evidenceOf(m, now) != ""
	})
	if err != nil {
		return err
	}
	return s.editSpec(ctx, rejected,
		fmt.Sprintf(`{"decision": {"outcome": "Reject", "evidence": %q}}`, seen), rejectCheck, reject)
}

func (s *scenario) janesCheck(ctx context.Context, mandate string) (control.Check, error) {
	applications, err := s.sandbox.Applications(ctx)
	for i := range applications {
		for _, individual := range applications[i].Individuals {
			if individual.Reference == s.reference(mandate)+".jane" {
				return individual.Checks[0], nil
			}
		}
	}
	return control.Check{}, errors.Join(err, fmt.Errorf("%s has no jane at the service", mandate))
}

// waitForgotten waits until the status shows jane's check as it is at the service, and no review of it.
func (s *scenario) waitForgotten(ctx context.Context) error {
	return s.untilShown(ctx, rejected, "no review", func(m *v1alpha1.Mandate, check control.Check) bool {
		return len(m.Status.Reviews)+len(m.Status.PendingReviews) == 0 && evidenceOf(m, check) != ""
	})
}

// waitReviewed waits until the status shows the rejection of jane's check. If the check was reset since the status
// showed it, its author looks again, as a person would.
func (s *scenario) waitReviewed(ctx context.Context) error {
	seen := ""
	return s.untilShown(ctx, rejected, "the review", func(m *v1alpha1.Mandate, check control.Check) bool {
		ready, now := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady), evidenceOf(m, check)
		outdated := ready != nil && ready.Reason == v1alpha1.ReasonReviewOutdated &&
			ready.ObservedGeneration == m.Generation && len(m.Spec.CheckReviews) == 1
		if outdated && now != "" && now != seen && now != m.Spec.CheckReviews[0].Evidence {
			seen = now
			_ = s.reviewCheck(ctx, rejected, v1alpha1.CheckDecisionReject) // until shows what is still missing
		}
		return slices.ContainsFunc(m.Status.Reviews, func(r v1alpha1.ReviewStatus) bool {
			return r.Individual == "jane" && r.Check == "address" && r.Decision == v1alpha1.CheckDecisionReject
		})
	})
}

func (s *scenario) untilShown(
	ctx context.Context, mandate, what string, shown func(*v1alpha1.Mandate, control.Check) bool,
) error {
	return s.until(ctx, func() string {
		check, err := s.janesCheck(ctx, mandate)
		m := s.mandate(mandate)
		if err := errors.Join(err, cluster.watched.Get(ctx, client.ObjectKeyFromObject(m), m)); err != nil {
			return err.Error()
		}
		if shown(m, check) {
			return ""
		}
		return fmt.Sprintf("%s does not show %s: %s", mandate, what, s.statusWords(m))
	})
}

// notSent reports that a request about the Mandate was not sent.
func (s *scenario) notSent(what string) string {
	sent := slices.ContainsFunc(s.occurrences(), func(o occurrence) bool {
		return o.effect.what == what && o.effect.about == rejected
	})
	if sent {
		return ""
	}
	return "there is no " + what
}

// waitEnded waits until an action is Complete or Failed.
func (s *scenario) waitEnded(ctx context.Context, name string) error {
	return s.until(ctx, func() string {
		action := &v1alpha1.MandateAction{}
		if err := cluster.watched.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, action); err != nil {
			return err.Error()
		}
		if action.Status.CompletedTime != nil {
			return ""
		}
		return name + " has not ended: " + conditionsText(action.Status.Conditions)
	})
}
