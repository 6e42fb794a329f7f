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
	"github.com/mandate-io/idv/operator/apierror"
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

// recordOf is what is recorded of an attempt, or of an adoption without one.
func (r *reconciliation) recordOf(attempt *v1alpha1.Attempt) v1alpha1.ApplicationRecordSpec {
	salt, used := r.salt(), &r.session.Connection
	return v1alpha1.ApplicationRecordSpec{
		Salt: salt, ServiceURL: used.URL, Account: used.Account.Digest(salt), Reference: r.reference, Attempt: attempt,
		ServiceRef: v1alpha1.IdentityServiceReference{Kind: r.session.Key.Kind, Name: r.session.Key.Name},
		MandateRef: v1alpha1.RecordedMandate{UID: r.mandate.UID},
	}
}

// salt is that of the record, or of the one that is to be made.
func (r *reconciliation) salt() string {
	if r.record != nil {
		return r.record.Spec.Salt
	}
	return r.newSalt()
}

// beginAttempt makes a shutdown wait for the end of this reconciliation. It reports false once a shutdown has begun.
func (r *reconciliation) beginAttempt() bool {
	r.attempting = r.attempting || r.runner.TryBegin()
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
	r.facts.requested = false // it is done
	attempt := ledger.NewAttempt(r.facts.inputs.digest, started)
	spec := r.recordOf(&attempt)
	if r.facts.record.sent {
		attempt.FirstStartedTime = r.record.Spec.Attempt.FirstStartedTime
		attempt.Ordinal = r.record.Spec.Attempt.Ordinal + 1
		spec.Account = r.record.Spec.Account // of the attempt that may have created the application
	}
	record, err := r.ledger.Retake(context.WithoutCancel(ctx), r.record, spec)
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
	attempt.answered = r.clock.Now()
	logger := log.FromContext(ctx).WithValues("reference", r.reference)
	if err == nil {
		attempt.id, attempt.accepted = application.ID, application.Accepted
		logger.Info("Created the application", "applicationID", application.ID)
		attempt.dropLargeID(&attempt.id)
		return
	}
	attempt.outcome = idv.OutcomeOf(err)
	attempt.kind = idv.KindOf(err)
	attempt.refusal = idv.IsRefusal(err)
	if failure, ok := errors.AsType[*idv.Error](err); ok {
		attempt.duplicate, attempt.candidate = failure.Problem.NamesReference(), failure.Candidate
		attempt.dropLargeID(&attempt.candidate)
	}
	r.facts.retryAfter = idv.RetryAfterOf(err)
	message := "The application may or may not have been created"
	if attempt.outcome.NothingDone() {
		message = "This request created no application"
	}
	logger.Info(message, "outcome", attempt.outcome.String(), "error", err.Error())
}

// dropLargeID forgets an id that the record cannot hold. The application may exist, and nobody can bind it.
func (a *attemptFacts) dropLargeID(id *int64) {
	if *id > v1alpha1.MaxID {
		*id = 0
		a.idTooLarge, a.outcome = true, idv.Accepted
	}
}

// deposit writes the id into the record. It is known nowhere else, so that is tried until it succeeds.
func (r *reconciliation) deposit(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	logger := log.FromContext(ctx).WithValues("applicationID", r.facts.attempt.id, "reference", r.reference)
	repeated := r.record != nil && r.record.Spec.Attempt != nil && r.record.Spec.Attempt.Ordinal > 1
	err := r.tryDeposit(ctx)
	if errors.Is(err, ledger.ErrNoNamespace) {
		logger.Error(nil, "Cannot record the id of a created application, its namespace is being deleted")
		if err = r.depositInMandate(ctx); err == nil {
			return nil
		}
	}
	if err != nil {
		logger.Info("The id of a created application is not recorded yet")
		return r.unrecorded(err)
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
	if r.facts.bound && repeated {
		r.observeRecovery(RecoveredByRepeat)
	}
	r.facts.attempt = attemptFacts{}
	return nil
}

// tryDeposit stores the id and takes the record over that it is then in.
func (r *reconciliation) tryDeposit(ctx context.Context) error {
	id, created := r.facts.attempt.id, metav1.NewTime(r.facts.attempt.answered)
	subscription := r.firstSubscription()
	record, err := r.ledger.Deposit(ctx, r.record, r.mandate.UID, id, created, subscription)
	if errors.Is(err, ledger.ErrLost) || apierrors.IsInvalid(err) {
		record, err = r.depositInCurrentRecord(ctx, id, created)
	}
	if err != nil {
		return err
	}
	r.setRecord(record)
	r.subscriptionStarted(subscription)
	return nil
}

// depositInCurrentRecord is for an id whose record was retaken, deleted or given another id before the answer came.
func (r *reconciliation) depositInCurrentRecord(
	ctx context.Context, id int64, created metav1.Time,
) (*v1alpha1.ApplicationRecord, error) {
	name, spec := client.ObjectKeyFromObject(r.record), r.record.Spec
	account := r.session.Connection.Account
	record, err := r.ledger.Get(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case record == nil:
		spec.ApplicationID, spec.CreatedTime = &id, &created
		return r.ledger.Claim(ctx, name, spec)
	case record.Spec.ApplicationID == nil && record.Spec.Attempt != nil &&
		(record.Spec.Account == spec.Account || account.Made(record)) &&
		record.Spec.ServiceURL == spec.ServiceURL && record.Spec.Reference == spec.Reference:
		return r.ledger.Deposit(ctx, record, r.mandate.UID, id, created, nil)
	case !ledger.MayExist(record): // it was deleted, and claimed again under another reference or for another service
		spec.ApplicationID, spec.CreatedTime = &id, &created
		spec.Account = account.Digest(record.Spec.Salt)
		return r.ledger.Adopt(ctx, name, record, spec)
	}
	return record, nil
}
