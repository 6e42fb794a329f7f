package mandate

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/ledger"
)

// claim creates the record. From its answer on, this process and no other may send the attempt.
func (p *pass) claim(ctx context.Context) error {
	if !p.enter() {
		return nil
	}
	attempt := ledger.NewAttempt(p.facts.inputs.fingerprint)
	record, err := p.Ledger.Claim(ctx, p.mandate.Namespace, v1alpha1.ApplicationRecordSpec{
		ServiceURL: p.connection.URL, Reference: p.reference, Attempt: &attempt,
		MandateRef: v1alpha1.RecordedMandate{Name: p.mandate.Name, UID: p.mandate.UID},
	})
	return p.begun(ctx, record, err)
}

// enter makes a shutdown wait for the end of this pass. Once a shutdown waits, no attempt begins any more.
func (p *pass) enter() bool {
	if p.entered || p.attempts.TryRLock() {
		p.entered = true
		return true
	}
	p.facts.trouble = reasonBehind
	return false
}

// retake begins another attempt on the record of an earlier one.
func (p *pass) retake(ctx context.Context) error {
	if !p.enter() {
		return nil
	}
	attempt := ledger.NewAttempt(p.facts.inputs.fingerprint)
	if p.facts.records.sent {
		attempt.FirstStartedTime, attempt.Ordinal = p.record.Spec.Attempt.FirstStartedTime, p.record.Spec.Attempt.Ordinal+1
	}
	record, err := p.Ledger.Retake(ctx, p.record, p.mandate.UID, attempt)
	return p.begun(ctx, record, err)
}

func (p *pass) begun(ctx context.Context, record *v1alpha1.ApplicationRecord, err error) error {
	if err != nil {
		return p.lost(ctx, err)
	}
	p.setRecord(record)
	p.facts.attempt = attemptFacts{begun: true, started: record.Spec.Attempt.StartedTime.Time}
	return nil
}

// verify reads the Mandate once more, past the cache and after the claim: an edit or a deletion that came in between
// must stop the attempt, and so must an id that somebody else has bound.
func (p *pass) verify(ctx context.Context) {
	live := &v1alpha1.Mandate{}
	err := p.Live.Get(ctx, client.ObjectKeyFromObject(p.mandate), live)
	same := err == nil && live.UID == p.mandate.UID && live.Generation == p.mandate.Generation &&
		live.DeletionTimestamp.IsZero() && live.Status.ApplicationID == nil
	p.facts.attempt.verified, p.facts.attempt.changed = same, !same
}

// post sends the create, once. A shutdown does not cut it short: the client sees to that, and Drain waits for it.
func (p *pass) post(ctx context.Context) {
	attempt := &p.facts.attempt
	attempt.posted = true
	application, err := p.connection.Client.CreateApplication(ctx, p.request)
	logger := log.FromContext(ctx).WithValues("reference", p.reference)
	if err != nil {
		attempt.outcome, attempt.kind = idv.OutcomeOf(err), idv.KindOf(err)
		p.facts.retryAfter = idv.RetryAfterOf(err)
		logger.Info("The application was not created, or may not have been", "outcome", attempt.outcome.String(), "error", err.Error())
		if attempt.kind == idv.KindCredentials || attempt.outcome != idv.Refused {
			p.Suspect(serviceName(p.mandate))
		}
		return
	}
	attempt.id = application.ID
	logger.Info("Created the application", "applicationID", application.ID)
}

// deposit writes the id into the record, however long it takes: it is known nowhere else.
func (p *pass) deposit(ctx context.Context) error {
	id, created := p.facts.attempt.id, metav1.Now()
	ctx = context.WithoutCancel(ctx)
	for failures := 1; ; failures++ {
		record, err := p.Ledger.Deposit(ctx, p.record, id, created)
		switch {
		case err == nil:
			p.facts.attempt = attemptFacts{}
			p.setRecord(record)
			p.facts.bound = true
			return nil
		case errors.Is(err, ledger.ErrIncomplete):
			return err
		case errors.Is(err, ledger.ErrLost), apierrors.IsNotFound(err):
			if err := p.depositElsewhere(ctx, id, created); err == nil {
				return nil
			}
		}
		log.FromContext(ctx).Info("Storing the id of the application failed; trying again", "applicationID", id, "reference", p.reference, "error", reasonOf(err))
		wait(ctx, min(100*time.Millisecond<<min(failures, 6), 5*time.Second))
	}
}

// depositElsewhere is for an id whose record was taken over, or deleted, while the answer was on its way.
func (p *pass) depositElsewhere(ctx context.Context, id int64, created metav1.Time) error {
	record, err := p.Ledger.Get(ctx, p.mandate.Namespace, p.connection.URL, p.reference)
	switch {
	case err != nil:
		return err
	case record == nil:
		spec := p.record.Spec
		spec.ApplicationID, spec.CreatedTime = &id, &created
		record, err = p.Ledger.Claim(ctx, p.mandate.Namespace, spec)
	case record.Spec.ApplicationID == nil:
		record, err = p.Ledger.Deposit(ctx, record, id, created)
	}
	if err != nil {
		return err
	}
	p.facts.attempt = attemptFacts{}
	p.setRecord(record)
	p.facts.bound = record.Spec.ApplicationID != nil && *record.Spec.ApplicationID == id
	return nil
}

// concludeTries bounds the writing of a conclusion: without it the attempt counts as unknown, which is safe.
const concludeTries = 8

// conclude writes down that an attempt created nothing, or that it proved what an earlier one did.
func (p *pass) conclude(ctx context.Context) error {
	verdict, behind := verdictOf(p.facts.attempt), p.facts.attempt.changed
	conclusion := *p.record.Spec.Attempt
	switch {
	case conclusion.Ordinal == 1:
		conclusion.Sent, conclusion.Verdict = false, verdict
	case verdict == v1alpha1.VerdictNotSent:
		conclusion.Ordinal-- // this attempt did not happen; an earlier one may have
	default:
		// After an attempt whose answer was lost, a refusal proves nothing but that there is no way to learn the id: a
		// duplicate may show at the reference, or at an individual's.
		conclusion.Verdict = v1alpha1.VerdictTaken
	}
	p.facts.attempt = attemptFacts{}
	if verdict == v1alpha1.VerdictNotSent {
		p.facts.trouble = reasonRetrying
	}
	if behind {
		p.facts.trouble = reasonBehind
	}
	ctx = context.WithoutCancel(ctx)
	for try := 1; ; try++ {
		record, err := p.Ledger.Conclude(ctx, p.record, conclusion)
		switch {
		case err == nil:
			p.setRecord(record)
			return nil
		case errors.Is(err, ledger.ErrLost):
			return p.lost(ctx, err)
		case try == concludeTries:
			return err
		}
		wait(ctx, 100*time.Millisecond<<min(try, 5))
	}
}

// verdictOf says what an attempt that created nothing means for the next one: only what the service said about the
// application itself keeps it from being sent again.
func verdictOf(a attemptFacts) v1alpha1.Verdict {
	if !a.posted || a.outcome == idv.NotSent {
		return v1alpha1.VerdictNotSent
	}
	switch a.kind {
	case idv.KindDuplicateReference:
		return v1alpha1.VerdictTaken
	case idv.KindInvalid, idv.KindRejected:
		return v1alpha1.VerdictRefused
	default:
		return v1alpha1.VerdictNotSent
	}
}

// reasonOf is what may be logged of an error of the API server.
func reasonOf(err error) string {
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}
	return "no answer, or one that cannot be used"
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
