package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/evidence"
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
	seen, check, err := s.untilShown(ctx, mandate, "the check as it is", nil)
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
		check.Evidence, decision, outcome), requests...)
}

// rejectApplication decides on what the status shows.
func (s *scenario) rejectApplication(ctx context.Context) error {
	seen, _, err := s.untilShown(ctx, rejected, "the evidence", nil)
	if err != nil {
		return err
	}
	return s.editSpec(ctx, rejected,
		fmt.Sprintf(`{"decision": {"outcome": "Reject", "evidence": %q}}`, seen.Status.Evidence), rejectCheck, reject)
}

// waitForgotten waits until the status shows jane's check as it is at the service, and no review of it.
func (s *scenario) waitForgotten(ctx context.Context) error {
	_, _, err := s.untilShown(ctx, rejected, "no review", func(status *v1alpha1.MandateStatus) bool {
		return len(status.Reviews) == 0
	})
	return err
}

// waitReviewed waits until the status shows the rejection of jane's check.
func (s *scenario) waitReviewed(ctx context.Context) error {
	_, _, err := s.untilShown(ctx, rejected, "the review", func(status *v1alpha1.MandateStatus) bool {
		return slices.ContainsFunc(status.Reviews, func(r v1alpha1.ReviewStatus) bool {
			return r.Individual == "jane" && r.Check == "address" && r.Decision == v1alpha1.CheckDecisionReject
		})
	})
	return err
}

// untilShown waits until a status shows jane's check as the service and the record have it, and what else is wanted.
func (s *scenario) untilShown(
	ctx context.Context, mandate, what string, shown func(*v1alpha1.MandateStatus) bool,
) (m *v1alpha1.Mandate, check v1alpha1.CheckStatus, err error) {
	err = s.until(ctx, func() string {
		m = s.mandate(mandate)
		if err := cluster.watched.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
			return err.Error()
		}
		found, current, err := s.janesCheck(ctx, m)
		check = found
		switch {
		case err != nil:
			return err.Error()
		case current && (shown == nil || shown(&m.Status)):
			return ""
		}
		return fmt.Sprintf("%s does not show %s: %s", mandate, what, s.statusWords(m))
	})
	return m, check, err
}

// janesCheck is jane's check as a status shows it. current reports whether its evidence is what the service and the
// record make it now: a reset may leave ids and states as they were.
func (s *scenario) janesCheck(
	ctx context.Context, m *v1alpha1.Mandate,
) (shown v1alpha1.CheckStatus, current bool, err error) {
	i := slices.IndexFunc(m.Status.Individuals, func(i v1alpha1.IndividualStatus) bool { return i.Name == "jane" })
	if i < 0 || len(m.Status.Individuals[i].Checks) == 0 {
		return shown, false, nil
	}
	jane := m.Status.Individuals[i]
	application, err := s.direct.RetrieveApplication(ctx, *m.Status.ApplicationID)
	if err != nil {
		return shown, false, err
	}
	record := &v1alpha1.ApplicationRecord{}
	if err := cluster.Get(ctx, client.ObjectKeyFromObject(m), record); err != nil {
		return shown, false, err
	}
	_, reset := evidence.LastReset(record, jane.Name)
	for i := range application.Individuals {
		if now := &application.Individuals[i]; now.ID == jane.ID {
			_, checks := evidence.Key(record.Spec.Salt).For(m.UID, record.UID).Individual(now, reset)
			shown, _ := evidence.Parse(jane.Checks[0].Evidence)
			return jane.Checks[0], slices.Contains(checks, shown), nil
		}
	}
	return shown, false, fmt.Errorf("%s has no jane at the service", m.Name)
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
