package mandate

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// creator creates the application of a Mandate, once, or binds one that exists: one that a person names, or one that a
// notification names after an answer was lost.
type creator struct {
	*scope
	creatorDependencies

	nextCandidate time.Duration // in how long a candidate is to be read again; 0: none is
	inputsRead    time.Time     // when the spec and its Secrets were last read
}

// creatorDependencies are what it works with.
type creatorDependencies struct {
	client        creatorClient
	cache         client.Reader
	live          client.Reader
	liveServices  *connection.LiveReader
	services      *engine.Services
	statusWriter  client.SubResourceWriter
	ledger        ledger.Ledger
	adoptionMutex *sync.Mutex
	recovered     func(RecoveredBy)
	giveUpAfter   time.Duration
	observe       func(context.Context, *idv.Application) // a candidate
}

type creatorClient interface {
	CreateApplication(ctx context.Context, application idv.NewApplication) (*idv.Application, error)
	RetrieveApplication(ctx context.Context, id int64) (*idv.Application, error)
}

// ordersStill reports whether a live Mandate asks for the application that the attempt was begun for.
func (r *creator) ordersStill(ctx context.Context, live *v1alpha1.Mandate) bool {
	if live.Status.ApplicationID != nil {
		return false
	}
	if usesSecrets(r.mandate) && engine.Elapsed(r.inputsRead, r.now()) < engine.MaxLookAge {
		r.facts.attempt.looked = r.inputsRead // the look is as old as that of the Secrets
		return true
	}
	return r.takeSpec(ctx, live)
}

// nextCreate is the create that is made now, and what is recorded of it.
func (r *creator) nextCreate(now time.Time) (v1alpha1.Call, *v1alpha1.ApplicationRecordSpec) {
	create, spec := ledger.New(v1alpha1.CallCreate, now), r.recordOf()
	if before := ledger.CreateOf(r.record); before != nil {
		create = ledger.Again(before, now)
		create.CandidateID = nil
		if before.Sends > 0 {
			spec.Account = r.record.Spec.Account // of the request that may have created the application
		}
	}
	create.Edited = create.Sends > 1 && (create.Edited || create.Inputs != r.facts.create.inputs.digest)
	create.Inputs, create.Generation = r.facts.create.inputs.digest, r.mandate.Generation
	create.RequestedBy = engine.RequestedBy(r.mandate)
	return create, &spec
}

// recordOf is what a record says of the application of this Mandate.
func (r *scope) recordOf() v1alpha1.ApplicationRecordSpec {
	salt, used := r.salt(), &r.session.Connection
	return v1alpha1.ApplicationRecordSpec{
		Salt: salt, ServiceURL: used.URL, Account: string(used.Account), Reference: r.reference,
		ServiceRef: v1alpha1.IdentityServiceReference{Kind: r.session.Key.Kind, Name: r.session.Key.Name},
		MandateRef: v1alpha1.RecordedMandate{UID: r.mandate.UID},
	}
}

// salt is that of the record, or of the one that is to be made.
func (r *scope) salt() string {
	if r.record != nil {
		return r.record.Spec.Salt
	}
	if r.madeSalt == "" {
		r.madeSalt = r.newSalt()
	}
	return r.madeSalt
}

// takeSpec makes the request from the spec alone, and reports whether it is what the attempt was begun for.
func (r *creator) takeSpec(ctx context.Context, live *v1alpha1.Mandate) bool {
	inputs, err := r.readInputs(ctx, live)
	r.facts.attempt.why = inputs.problem // the API server admits no problem; another version of it might
	return err == nil && inputs.digest == r.facts.create.inputs.digest
}

// post sends the create, once, and returns what went wrong.
func (r *creator) post(ctx context.Context, logger logr.Logger) error {
	attempt := &r.facts.attempt
	application, err := r.client.CreateApplication(ctx, r.request)
	attempt.answered = r.now()
	if err == nil {
		attempt.id, attempt.outcome = application.ID, engine.OutcomeOf(application.Accepted, nil)
		logger = logger.WithValues("applicationID", application.ID)
		engine.LogAnswer(logger, attempt.outcome, nil)
		attempt.dropLargeID(&attempt.id)
		return nil
	}
	attempt.outcome, attempt.answer = idv.OutcomeOf(err), refusalOf(attempt.kind, err)
	if failure, ok := errors.AsType[*idv.Error](err); ok {
		attempt.duplicate, attempt.candidate = failure.Problem.NamesReference(), failure.Candidate
		attempt.dropLargeID(&attempt.candidate)
	}
	r.facts.retryAfter = idv.RetryAfterOf(err)
	engine.LogAnswer(logger, attempt.outcome, err)
	return err
}

// dropLargeID forgets an id that the record cannot hold. The application may exist, and nobody can bind it.
func (a *attemptFacts) dropLargeID(id *int64) {
	if *id > v1alpha1.MaxID {
		*id = 0
		a.answer, a.outcome = v1alpha1.AnswerIDTooLarge, idv.Accepted
	}
}

// deposit writes the id into the record. It is known nowhere else, so that is tried until it succeeds.
func (r *creator) deposit(ctx context.Context) error {
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
func (r *creator) tryDeposit(ctx context.Context) error {
	created, id := r.recordOf(), r.facts.attempt.id
	created.ApplicationID = &id
	created.CreatedTime = &metav1.Time{Time: r.facts.attempt.answered}
	created.SpecDigests = specDigests(created.Salt, &r.mandate.Spec, &r.request)
	record, err := r.ledger.Deposit(ctx, r.record, created, r.facts.attempt.created())
	if errors.Is(err, ledger.ErrLost) || apierrors.IsInvalid(err) {
		record, err = r.depositInCurrentRecord(ctx, created)
	}
	if err == nil {
		r.setRecord(record)
	}
	return err
}

// created is the result of a create whose answer shows the application: the service may create it later.
func (a *attemptFacts) created() v1alpha1.CallResult {
	if a.outcome == idv.Accepted {
		return v1alpha1.CallAccepted
	}
	return v1alpha1.CallDone
}

// depositInCurrentRecord is for an id whose record was retaken or given another id before the answer came.
func (r *creator) depositInCurrentRecord(
	ctx context.Context, created v1alpha1.ApplicationRecordSpec,
) (*v1alpha1.ApplicationRecord, error) {
	name, before := client.ObjectKeyFromObject(r.record), r.record.Spec
	record, err := r.ledger.Get(ctx, name)
	switch {
	case err != nil, record == nil: // the next try makes it again
		return nil, cmp.Or(err, ledger.ErrLost)
	case record.Spec.ApplicationID == nil && ledger.CreateOf(record) != nil &&
		(record.Spec.Account == before.Account || !r.session.Connection.HasOtherName(record)) &&
		record.Spec.ServiceURL == before.ServiceURL && record.Spec.Reference == before.Reference:
		return r.ledger.Deposit(ctx, record, created, r.facts.attempt.created())
	case !ledger.MayExist(record): // it was deleted, and claimed again under another reference or for another service
		before.ApplicationID, before.CreatedTime = created.ApplicationID, created.CreatedTime
		before.Account = created.Account
		return r.ledger.Adopt(ctx, name, record, before)
	}
	return record, nil
}

// resolve finds out what the application is to be made from, before there is an attempt. Where that is all in the spec,
// its generation is enough, and verify reads the spec itself. Secrets may be missing or of no use, which must
// not cost an attempt: then the live Mandate is read with them. The cache holds no personal data, and may be stale.
func (r *creator) resolve(ctx context.Context) error {
	r.request = idv.NewApplication{}
	if !usesSecrets(r.mandate) {
		r.facts.create.inputs = r.specInputs()
		return nil
	}
	live := &v1alpha1.Mandate{}
	if err := r.live.Get(ctx, r.name(), live); err != nil {
		return err
	}
	if !r.isCurrent(live) || live.Status.ApplicationID != nil {
		// The cache is stale. Its next event starts a new reconciliation.
		r.facts.failureReason = reasonStaleCache
		return nil
	}
	inputs, err := r.readInputs(ctx, live)
	if err != nil {
		return err
	}
	r.facts.create.inputs = inputs
	return nil
}

// specInputs are the inputs of a Mandate that uses no Secrets.
func (r *creator) specInputs() inputsFacts {
	mandateType, ok := r.mandateTypeID(r.mandate.Spec.MandateType)
	if !ok {
		return r.noMandateType(r.mandate)
	}
	return inputsFacts{digest: inputsDigest(versionsOf(r.mandate, mandateType))}
}

// noMandateType are the inputs of a Mandate whose spec selects no mandate type.
func (r *creator) noMandateType(mandate *v1alpha1.Mandate) inputsFacts {
	found := r.mandateTypeProblem(mandate.Spec.MandateType)
	r.facts.problems.inputs = []v1alpha1.Problem{found}
	return inputsFacts{problem: found.Reason}
}

func (r *creator) readInputs(ctx context.Context, live *v1alpha1.Mandate) (inputsFacts, error) {
	r.inputsRead = r.now()
	mandateType, ok := r.mandateTypeID(live.Spec.MandateType)
	if !ok {
		return r.noMandateType(live), nil
	}
	spec, err := r.readSpec(ctx, r.live, live, mandateType)
	if err != nil || spec.problem != "" {
		r.facts.problems.inputs = spec.problems
		return inputsFacts{problem: spec.problem}, err
	}
	r.request = spec.request
	return inputsFacts{digest: spec.inputs}, nil
}

// depositInMandate is for an id that the ledger cannot take because its namespace is being deleted. If the Mandate
// still exists, the reconciliation goes on with it as it is now: its deletionPolicy is carried out, or the status shows
// the id.
func (r *creator) depositInMandate(ctx context.Context) error {
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
	r.showApplication(updated, id)
	version, err := r.patchStatus(ctx, r.statusWriter, updated)
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
	r.facts.deletion = newDeletionFacts(r.mandate, r.giveUpAfter)
	r.facts.act.phase = actNone // the service goes with the namespace, so what deletionPolicy says cannot wait
	return nil
}
