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
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// nextCreate is the create that is made now, and what is recorded of it.
func (r *reconciliation) nextCreate(now time.Time) (v1alpha1.Call, v1alpha1.ApplicationRecordSpec) {
	create, spec := ledger.New(v1alpha1.CallCreate, now), r.recordOf()
	if before := ledger.CreateOf(r.record); before != nil {
		create = ledger.Again(before, now)
		create.CandidateID = nil
		if before.Sends > 0 {
			spec.Account = r.record.Spec.Account // of the request that may have created the application
		}
	}
	create.Edited = create.Sends > 1 && (create.Edited || create.Inputs != r.facts.inputs.digest)
	create.Inputs, create.Generation = r.facts.inputs.digest, r.mandate.Generation
	create.RequestedBy = engine.RequestedBy(r.mandate)
	return create, spec
}

// recordOf is what a record says of the application of this Mandate.
func (r *reconciliation) recordOf() v1alpha1.ApplicationRecordSpec {
	salt, used := r.salt(), &r.session.Connection
	return v1alpha1.ApplicationRecordSpec{
		Salt: salt, ServiceURL: used.URL, Account: string(used.Account), Reference: r.reference,
		ServiceRef: v1alpha1.IdentityServiceReference{Kind: r.session.Key.Kind, Name: r.session.Key.Name},
		MandateRef: v1alpha1.RecordedMandate{UID: r.mandate.UID},
	}
}

// salt is that of the record, or of the one that is to be made.
func (r *reconciliation) salt() string {
	if r.record != nil {
		return r.record.Spec.Salt
	}
	if r.madeSalt == "" {
		r.madeSalt = r.newSalt()
	}
	return r.madeSalt
}

// takeSpec makes the request from the spec alone, and reports whether it is what the attempt was begun for.
func (r *reconciliation) takeSpec(ctx context.Context, live *v1alpha1.Mandate) bool {
	inputs, err := r.readInputs(ctx, live)
	r.facts.attempt.why = inputs.problem // the API server admits no problem; another version of it might
	return err == nil && inputs.digest == r.facts.inputs.digest
}

// post sends the create, once.
func (r *reconciliation) post(ctx context.Context) {
	attempt := &r.facts.attempt
	application, err := r.client.CreateApplication(ctx, r.request)
	attempt.answered = r.clock.Now()
	logger := log.FromContext(ctx).WithValues("reference", r.reference)
	if err == nil {
		attempt.id, attempt.outcome = application.ID, idv.Done
		logger.Info("Created the application", "applicationID", application.ID)
		attempt.dropLargeID(&attempt.id)
		return
	}
	attempt.outcome, attempt.answer = idv.OutcomeOf(err), refusalOf(attempt.kind, err)
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
		a.answer, a.outcome = v1alpha1.AnswerIDTooLarge, idv.Accepted
	}
}

// deposit writes the id into the record. It is known nowhere else, so that is tried until it succeeds.
func (r *reconciliation) deposit(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	logger := log.FromContext(ctx).WithValues("applicationID", r.facts.attempt.id, "reference", r.reference)
	create := ledger.CreateOf(r.record)
	repeated := create != nil && create.Sends > 1
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
	created, id := r.recordOf(), r.facts.attempt.id
	created.ApplicationID = &id
	created.CreatedTime = &metav1.Time{Time: r.facts.attempt.answered}
	created.SpecDigests = specDigests(created.Salt, &r.mandate.Spec, &r.request)
	record, err := r.ledger.Deposit(ctx, r.record, created)
	if errors.Is(err, ledger.ErrLost) || apierrors.IsInvalid(err) {
		record, err = r.depositInCurrentRecord(ctx, created)
	}
	if err == nil {
		r.setRecord(record)
	}
	return err
}

// depositInCurrentRecord is for an id whose record was retaken, deleted or given another id before the answer came.
func (r *reconciliation) depositInCurrentRecord(
	ctx context.Context, created v1alpha1.ApplicationRecordSpec,
) (*v1alpha1.ApplicationRecord, error) {
	name, before := client.ObjectKeyFromObject(r.record), r.record.Spec
	record, err := r.ledger.Get(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case record == nil:
		before.ApplicationID, before.CreatedTime = created.ApplicationID, created.CreatedTime
		before.SpecDigests = created.SpecDigests
		return r.ledger.Claim(ctx, name, before)
	case record.Spec.ApplicationID == nil && ledger.CreateOf(record) != nil &&
		(record.Spec.Account == before.Account || !r.session.Connection.HasOtherName(record)) &&
		record.Spec.ServiceURL == before.ServiceURL && record.Spec.Reference == before.Reference:
		return r.ledger.Deposit(ctx, record, created)
	case !ledger.MayExist(record): // it was deleted, and claimed again under another reference or for another service
		before.ApplicationID, before.CreatedTime = created.ApplicationID, created.CreatedTime
		before.Account = created.Account
		return r.ledger.Adopt(ctx, name, record, before)
	}
	return record, nil
}
