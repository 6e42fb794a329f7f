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
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// claim creates the record. Only after the API server has confirmed that may this process send the attempt, and no
// other process may.
func (r *reconciliation) claim(ctx context.Context) error {
	if !r.beginAttempt() {
		return nil
	}
	started := r.clock.Now()
	attempt := ledger.NewAttempt(r.facts.inputs.digest, started)
	// Not cut short: a claim whose answer is lost counts as an attempt that may have been sent.
	record, err := r.ledger.Claim(context.WithoutCancel(ctx), r.name(), r.recordOf(&attempt))
	if err != nil {
		return r.reloadIfLost(ctx, err)
	}
	r.attemptRecorded(record, started)
	return nil
}

// recordOf is what is recorded of an attempt.
func (r *reconciliation) recordOf(attempt *v1alpha1.Attempt) v1alpha1.ApplicationRecordSpec {
	return v1alpha1.ApplicationRecordSpec{
		ServiceURL: r.session.Connection.URL, Reference: r.reference, Attempt: attempt,
		MandateRef: v1alpha1.RecordedMandate{UID: r.mandate.UID},
	}
}

// beginAttempt makes a shutdown wait for the end of this reconciliation. It reports false once a shutdown has begun.
func (r *reconciliation) beginAttempt() bool {
	r.attempting = r.attempting || r.attempts.TryBegin()
	if !r.attempting {
		r.facts.failureReason = reasonStaleCache
	}
	return r.attempting
}

// retake begins another attempt on the record of an earlier one.
func (r *reconciliation) retake(ctx context.Context) error {
	if !r.beginAttempt() {
		return nil
	}
	started := r.clock.Now()
	attempt := ledger.NewAttempt(r.facts.inputs.digest, started)
	if r.facts.record.sent {
		attempt.FirstStartedTime = r.record.Spec.Attempt.FirstStartedTime
		attempt.Ordinal = r.record.Spec.Attempt.Ordinal + 1
	}
	record, err := r.ledger.Retake(context.WithoutCancel(ctx), r.record, r.recordOf(&attempt))
	if err != nil {
		return r.reloadIfLost(ctx, err)
	}
	r.attemptRecorded(record, started)
	return nil
}

// attemptRecorded takes the attempt over from the record. It started before it was written, and not when the answer
// came: other operators count from when they saw it.
func (r *reconciliation) attemptRecorded(record *v1alpha1.ApplicationRecord, started time.Time) {
	r.setRecord(record)
	r.facts.attempt = attemptFacts{active: true, started: started}
}

// verify reads the Mandate and its service past the cache and after the claim. An edit or a deletion that came in
// between must stop the attempt, and so must an id that somebody else has bound, or a namespace that is not selected
// any more. An operator that knows of an edit finds the record of the attempt that is verified here.
func (r *reconciliation) verify(ctx context.Context) {
	mandate := &v1alpha1.Mandate{}
	same, err := r.serviceIsCurrent(ctx)
	err = errors.Join(err, r.live.Get(ctx, r.name(), mandate))
	same = same && err == nil && r.current(mandate) && (usesSecrets(r.mandate) || r.takeSpec(ctx, mandate))
	r.facts.attempt.verified, r.facts.attempt.changed = same, !same
	if err != nil {
		r.facts.attempt.why = v1alpha1.ReasonRetrying
		log.FromContext(ctx).Info("Failed to read the Mandate or its service again, sent nothing",
			"error", apierror.Redact(err).Error())
	}
}

// takeSpec makes the request from the spec alone, and reports whether it is what the attempt was begun for.
func (r *reconciliation) takeSpec(ctx context.Context, live *v1alpha1.Mandate) bool {
	inputs, err := r.readInputs(ctx, live)
	r.facts.attempt.why = inputs.problem // the API server admits no problem; another version of it might
	return err == nil && inputs.digest == r.facts.inputs.digest
}

// current reports whether a live Mandate is the one of this reconciliation, without an application that somebody else
// has given it since.
func (r *reconciliation) current(live *v1alpha1.Mandate) bool {
	return live.UID == r.mandate.UID && live.Generation == r.mandate.Generation &&
		live.DeletionTimestamp.IsZero() && live.Status.ApplicationID == nil
}

// post sends the create, once. A shutdown does not cut it short: the client sees to that, and Drain waits for it.
func (r *reconciliation) post(ctx context.Context) {
	attempt := &r.facts.attempt
	attempt.posted = true
	application, err := r.client.CreateApplication(ctx, r.request)
	logger := log.FromContext(ctx).WithValues("reference", r.reference)
	if err == nil {
		attempt.id = application.ID
		logger.Info("Created the application", "applicationID", application.ID)
		return
	}
	attempt.outcome = idv.OutcomeOf(err)
	attempt.kind = idv.KindOf(err)
	attempt.duplicate = isDuplicate(err)
	attempt.refusal = idv.IsRefusal(err)
	r.facts.retryAfter = idv.RetryAfterOf(err)
	message := "The application was not created"
	if attempt.outcome == idv.Unknown {
		message = "The application may or may not have been created"
	}
	logger.Info(message, "outcome", attempt.outcome.String(), "error", err.Error())
}

// isDuplicate reports whether a refusal is about a reference, the application's or an individual's.
func isDuplicate(err error) bool {
	refusal, ok := errors.AsType[*idv.Error](err)
	return ok && refusal.Problem != nil && slices.ContainsFunc(refusal.Problem.Errors, func(e idv.FieldError) bool {
		return slices.ContainsFunc(e.Path, func(s idv.PathStep) bool { return s.Field == "reference" })
	})
}

// concludeTries bounds the writing of a conclusion: without it the attempt counts as unknown, which is safe.
const concludeTries = 8

// conclude records that an attempt created nothing, or that it proved what an earlier one did.
func (r *reconciliation) conclude(ctx context.Context) error {
	attempt, conclusion := r.facts.attempt, *r.record.Spec.Attempt
	switch verdict := verdictOf(attempt); {
	case conclusion.Ordinal == 1:
		conclusion.Sent = false
		conclusion.Verdict = verdict
	case attempt.duplicate:
		// The application of an earlier attempt whose answer was lost, or its individuals: there is no way to learn the id.
		conclusion.Verdict = v1alpha1.VerdictTaken
	default:
		conclusion.Ordinal-- // what became of the earlier attempts is still open
		conclusion.Verdict = verdict
	}
	r.facts.attempt = attemptFacts{}
	switch {
	case attempt.changed:
		r.facts.failureReason = cmp.Or(attempt.why, reasonStaleCache)
	case conclusion.Verdict == v1alpha1.VerdictNotSent:
		r.facts.failureReason = v1alpha1.ReasonRetrying
	}
	ctx = context.WithoutCancel(ctx)
	for failures := 1; ; failures++ {
		record, err := r.ledger.Conclude(ctx, r.record, conclusion)
		switch {
		case err == nil:
			r.setRecord(record)
			return nil
		case errors.Is(err, ledger.ErrLost):
			return r.reloadIfLost(ctx, err)
		case failures == concludeTries:
			return err
		}
		r.pause(ctx, engine.WriteBackoff.After(failures))
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
func (r *reconciliation) deposit(ctx context.Context) error {
	ctx, created := context.WithoutCancel(ctx), metav1.NewTime(r.clock.Now())
	logger := log.FromContext(ctx).WithValues("applicationID", r.facts.attempt.id, "reference", r.reference)
	for failures := 1; ; failures++ {
		err := r.tryDeposit(ctx, created)
		if errors.Is(err, ledger.ErrNoNamespace) {
			logger.Error(nil, "Cannot record the id of a created application, its namespace is being deleted")
			if err = r.depositInMandate(ctx); err == nil {
				return nil
			}
		}
		if err != nil {
			logger.Info("Failed to record the id of the application, will retry", "error", apierror.Redact(err).Error())
			r.pause(ctx, engine.WriteBackoff.After(failures))
			continue
		}
		r.facts.bound = r.facts.record.id == r.facts.attempt.id
		if !r.facts.bound {
			logger.Error(
				nil,
				"The ApplicationRecord has another application or reference now, look for this application at the service",
				"recordedID",
				r.facts.record.id,
			)
		}
		r.facts.attempt = attemptFacts{}
		return nil
	}
}

// depositInMandate is for an id that the ledger cannot take because its namespace is being deleted. If the Mandate
// still exists, the reconciliation goes on with it as it is now: its deletionPolicy is carried out, or the status shows
// the id.
func (r *reconciliation) depositInMandate(ctx context.Context) error {
	id, live := r.facts.attempt.id, &v1alpha1.Mandate{}
	if err := client.IgnoreNotFound(r.live.Get(ctx, r.name(), live)); err != nil {
		return err
	}
	if live.UID != r.mandate.UID { // another one, or none
		r.facts.attempt = attemptFacts{}
		r.facts.failureReason = reasonStaleCache
		return nil
	}
	r.mandate = r.mandate.DeepCopy() // which, unlike the live one, holds no personal data
	r.mandate.ResourceVersion = live.ResourceVersion
	r.mandate.Status = live.Status
	updated := live.Status.DeepCopy()
	updated.ApplicationID, updated.Reference = &id, r.reference
	version, err := r.patchStatus(ctx, updated)
	if err != nil {
		return err
	}
	r.mandate.ResourceVersion = version
	r.mandate.Status = *updated
	if live.DeletionTimestamp != nil { // the deletion made another generation, whose policy is carried out
		r.mandate.Generation = live.Generation
		r.mandate.DeletionTimestamp = live.DeletionTimestamp
		r.mandate.Spec.DeletionPolicy = live.Spec.DeletionPolicy
	}
	r.mandate.Finalizers = live.Finalizers
	r.facts.attempt = attemptFacts{}
	r.facts.id = id
	r.facts.bound = true
	r.facts.deletion = r.newDeletionFacts(r.mandate)
	r.facts.acted = false // the service goes with the namespace, so what deletionPolicy says cannot wait
	return nil
}

// tryDeposit stores the id and takes the record over that it is then in.
func (r *reconciliation) tryDeposit(ctx context.Context, created metav1.Time) error {
	id := r.facts.attempt.id
	record, err := r.ledger.Deposit(ctx, r.record, r.mandate.UID, id, created)
	if errors.Is(err, ledger.ErrLost) || apierrors.IsInvalid(err) {
		record, err = r.depositInCurrentRecord(ctx, id, created)
	}
	if err != nil {
		return err
	}
	r.setRecord(record)
	return nil
}

// depositInCurrentRecord is for an id whose record was retaken, deleted or given another id before the answer came.
func (r *reconciliation) depositInCurrentRecord(
	ctx context.Context, id int64, created metav1.Time,
) (*v1alpha1.ApplicationRecord, error) {
	name, spec := client.ObjectKeyFromObject(r.record), r.record.Spec
	record, err := r.ledger.Get(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case record == nil:
		spec.ApplicationID, spec.CreatedTime = &id, &created
		return r.ledger.Claim(ctx, name, spec)
	case record.Spec.ApplicationID == nil && record.Spec.Attempt != nil &&
		record.Spec.ServiceURL == spec.ServiceURL && record.Spec.Reference == spec.Reference:
		return r.ledger.Deposit(ctx, record, r.mandate.UID, id, created)
	case !ledger.MayExist(record): // it was deleted, and claimed again under another reference or for another service
		spec.ApplicationID, spec.CreatedTime = &id, &created
		return r.ledger.Adopt(ctx, name, record, spec)
	}
	return record, nil
}

func (r *reconciliation) pause(ctx context.Context, d time.Duration) {
	timer := r.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}
