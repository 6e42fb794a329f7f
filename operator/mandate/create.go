package mandate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
)

// claim creates the record. From its answer on, this process and no other may send the attempt.
func (p *pass) claim(ctx context.Context) error {
	if !p.enter() {
		return nil
	}
	started := p.Clock.Now()
	attempt := ledger.NewAttempt(p.facts.inputs.fingerprint, started)
	// Not cut short: a claim whose answer is lost counts as an attempt that may have been sent.
	record, err := p.Ledger.Claim(context.WithoutCancel(ctx), p.mandate.Namespace, v1alpha1.ApplicationRecordSpec{
		ServiceURL: p.connection.URL, Reference: p.reference, Attempt: &attempt,
		MandateRef: v1alpha1.RecordedMandate{Name: p.mandate.Name, UID: p.mandate.UID},
	})
	return p.begun(ctx, record, started, err)
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
	started := p.Clock.Now()
	attempt := ledger.NewAttempt(p.facts.inputs.fingerprint, started)
	if p.facts.records.sent {
		attempt.FirstStartedTime, attempt.Ordinal = p.record.Spec.Attempt.FirstStartedTime, p.record.Spec.Attempt.Ordinal+1
	}
	record, err := p.Ledger.Retake(context.WithoutCancel(ctx), p.record, p.mandate.UID, attempt)
	return p.begun(ctx, record, started, err)
}

// begun notes an attempt. It started before it was written, and not when the answer came: the others count from when they
// saw it.
func (p *pass) begun(ctx context.Context, record *v1alpha1.ApplicationRecord, started time.Time, err error) error {
	if err != nil {
		return p.lost(ctx, err)
	}
	p.setRecord(record)
	p.facts.attempt = attemptFacts{begun: true, started: started}
	return nil
}

// verify reads the Mandate and its service past the cache and after the claim: an edit or a deletion that came in between
// must stop the attempt, and so must an id that somebody else has bound, or a namespace that is not selected any more. An
// operator that knows of an edit looks for attempts under other references before it begins its own, and finds the one that
// is verified here.
func (p *pass) verify(ctx context.Context) {
	mandate := &v1alpha1.Mandate{}
	service, access, err := p.Connections.FindFresh(ctx, p.Live, p.ClusterServices, connection.KeyOf(p.mandate), p.mandate.Namespace)
	err = errors.Join(err, p.Live.Get(ctx, client.ObjectKeyFromObject(p.mandate), mandate))
	same := err == nil && access == connection.Granted && service.GetUID() == p.connection.UID && service.GetGeneration() == p.connection.Generation
	same = same && p.current(mandate) && (usesSecrets(p.mandate) || p.takeSpec(ctx, mandate))
	p.facts.attempt.verified, p.facts.attempt.changed = same, !same
	if err != nil {
		p.facts.attempt.why = v1alpha1.ReasonRetrying
		log.FromContext(ctx).Info("Failed to read the Mandate or its service again, sent nothing", "error", apierror.Bare(err).Error())
	}
}

// takeSpec makes the request from the spec alone, and tells whether it is what the attempt was begun for.
func (p *pass) takeSpec(ctx context.Context, live *v1alpha1.Mandate) bool {
	inputs, err := p.readInputs(ctx, live)
	p.facts.attempt.why = inputs.problem // the API server lets none pass; another one might
	return err == nil && inputs.fingerprint == p.facts.inputs.fingerprint
}

// current tells whether a live Mandate is the one of this pass, and has not been given an application by somebody else.
func (p *pass) current(live *v1alpha1.Mandate) bool {
	return live.UID == p.mandate.UID && live.Generation == p.mandate.Generation && live.DeletionTimestamp.IsZero() && live.Status.ApplicationID == nil
}

// post sends the create, once. A shutdown does not cut it short: the client sees to that, and Drain waits for it.
func (p *pass) post(ctx context.Context) {
	attempt := &p.facts.attempt
	attempt.posted = true
	application, err := p.service.CreateApplication(ctx, p.request)
	logger := log.FromContext(ctx).WithValues("reference", p.reference)
	if err != nil {
		attempt.outcome, attempt.kind, attempt.duplicate = idv.OutcomeOf(err), idv.KindOf(err), isDuplicate(err)
		attempt.refusal = idv.IsRefusal(err)
		p.facts.retryAfter = idv.RetryAfterOf(err)
		told := "The application was not created"
		if attempt.outcome == idv.Unknown {
			told = "The application may or may not have been created"
		}
		logger.Info(told, "outcome", attempt.outcome.String(), "error", err.Error())
		p.suspect(err)
		return
	}
	attempt.id = application.ID
	logger.Info("Created the application", "applicationID", application.ID)
}

// isDuplicate tells whether a refusal speaks of a reference, the application's or an individual's.
func isDuplicate(err error) bool {
	refusal, ok := errors.AsType[*idv.Error](err)
	return ok && refusal.Problem != nil && slices.ContainsFunc(refusal.Problem.Errors, func(e idv.FieldError) bool {
		return slices.ContainsFunc(e.Path, func(s idv.PathStep) bool { return s.Field == "reference" })
	})
}

// concludeTries bounds the writing of a conclusion: without it the attempt counts as unknown, which is safe.
const concludeTries = 8

// conclude writes down that an attempt created nothing, or that it proved what an earlier one did.
func (p *pass) conclude(ctx context.Context) error {
	attempt, conclusion := p.facts.attempt, *p.record.Spec.Attempt
	switch verdict := verdictOf(attempt); {
	case conclusion.Ordinal == 1:
		conclusion.Sent, conclusion.Verdict = false, verdict
	case attempt.duplicate:
		// The application of an earlier attempt whose answer was lost, or its individuals: there is no way to learn the id.
		conclusion.Verdict = v1alpha1.VerdictTaken
	default:
		conclusion.Ordinal, conclusion.Verdict = conclusion.Ordinal-1, verdict // what became of the earlier ones is still open
	}
	p.facts.attempt = attemptFacts{}
	switch {
	case attempt.changed:
		p.facts.trouble = cmp.Or(attempt.why, reasonBehind)
	case conclusion.Verdict == v1alpha1.VerdictNotSent:
		p.facts.trouble = v1alpha1.ReasonRetrying
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
		p.wait(ctx, 100*time.Millisecond<<min(try, 5))
	}
}

// verdictOf says what an attempt that created nothing means for the next one: only what the service said about the
// application itself keeps it from being sent again.
func verdictOf(a attemptFacts) v1alpha1.Verdict {
	if !a.posted || !a.refusal {
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

// deposit writes the id into the record, however long it takes: it is known nowhere else.
func (p *pass) deposit(ctx context.Context) error {
	ctx, created := context.WithoutCancel(ctx), metav1.NewTime(p.Clock.Now())
	logger := log.FromContext(ctx).WithValues("applicationID", p.facts.attempt.id, "reference", p.reference)
	for failures := 1; ; failures++ {
		err := p.tryDeposit(ctx, created)
		if errors.Is(err, ledger.ErrNoNamespace) {
			logger.Error(nil, "Cannot record the id of a created application, its namespace is being deleted")
			if err = p.depositInMandate(ctx); err == nil {
				return nil
			}
		}
		if err != nil {
			logger.Info("Failed to record the id of the application, will retry", "error", apierror.Bare(err).Error())
			p.wait(ctx, min(100*time.Millisecond<<min(failures, 6), 5*time.Second))
			continue
		}
		p.facts.bound = p.facts.records.id == p.facts.attempt.id
		if !p.facts.bound {
			logger.Error(nil, "Another application or Mandate took the ApplicationRecord, look for this application at the service", "recordedID", p.facts.records.id)
		}
		p.facts.attempt = attemptFacts{}
		return nil
	}
}

// depositInMandate is for an id that the ledger of a namespace that is being deleted does not take any more. If the Mandate
// still exists, this pass goes on with it as it is now: its deletionPolicy is carried out, or the status shows the id.
func (p *pass) depositInMandate(ctx context.Context) error {
	id, live := p.facts.attempt.id, &v1alpha1.Mandate{}
	if err := client.IgnoreNotFound(p.Live.Get(ctx, client.ObjectKeyFromObject(p.mandate), live)); err != nil {
		return err
	}
	p.facts.attempt = attemptFacts{}
	if live.UID != p.mandate.UID { // another one, or none
		p.facts.trouble = reasonBehind
		return nil
	}
	p.mandate = p.mandate.DeepCopy() // which, unlike the live one, holds no personal data
	p.mandate.ResourceVersion, p.mandate.DeletionTimestamp, p.mandate.Finalizers = live.ResourceVersion, live.DeletionTimestamp, live.Finalizers
	p.mandate.Status = live.Status
	p.facts.id, p.facts.bound, p.facts.deletion = id, true, p.deletionOf(p.mandate)
	return nil
}

// tryDeposit stores the id and takes over the record that it is then in.
func (p *pass) tryDeposit(ctx context.Context, created metav1.Time) error {
	id := p.facts.attempt.id
	record, err := p.Ledger.Deposit(ctx, p.record, id, created)
	if errors.Is(err, ledger.ErrLost) || apierrors.IsInvalid(err) {
		record, err = p.depositElsewhere(ctx, id, created)
	}
	if err != nil {
		return err
	}
	p.setRecord(record)
	return nil
}

// depositElsewhere is for an id whose record was taken over, or deleted, or given another id, while the answer was on its
// way.
func (p *pass) depositElsewhere(ctx context.Context, id int64, created metav1.Time) (*v1alpha1.ApplicationRecord, error) {
	record, err := p.Ledger.Get(ctx, p.mandate.Namespace, p.connection.URL, p.reference)
	switch {
	case err != nil:
		return nil, err
	case record == nil:
		spec := p.record.Spec
		spec.ApplicationID, spec.CreatedTime = &id, &created
		return p.Ledger.Claim(ctx, p.mandate.Namespace, spec)
	case record.Spec.ApplicationID == nil && record.Spec.MandateRef.Name == p.mandate.Name:
		return p.Ledger.Deposit(ctx, record, id, created)
	}
	return record, nil
}

func (p *pass) wait(ctx context.Context, d time.Duration) {
	timer := p.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}
