package mandate

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/budget"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/erasure"
	"github.com/mandate-io/idv/operator/individuals"
	"github.com/mandate-io/idv/operator/ledger"
)

// ServiceClient is what a Mandate needs of the client of the service. The errors are those of the client.
type ServiceClient interface {
	engine.ServiceClient
	creatorClient
	observerClient
	actorClient
	deleterClient
	webhooksClient
}

// scope is what the sub-reconcilers of one Mandate share: the facts, and what they were made from.
type scope struct {
	mandate      *v1alpha1.Mandate // as the cache has it: without personal data
	session      engine.Session
	reference    string // of the application, "" while the connection is not known
	facts        facts
	record       *v1alpha1.ApplicationRecord // as it was last read or written
	recordSet    bool                        // in this step
	madeSalt     string                      // of a record that is to be made
	request      idv.NewApplication          // set by Resolve or Verify; personal data
	comparedWith *idv.NewApplication         // of the spec that an application was compared with; personal data
	application  *idv.Application            // set by Read
	projection   *projection                 // of the application
	matching     individuals.Matching        // of the individuals of the spec and the application; set by Read

	sharedDependencies
}

// sharedDependencies are what all of them work with.
type sharedDependencies struct {
	states  *engine.LocalState[localState]
	now     func() time.Time
	newSalt func() string
}

// local is what this process remembers of the Mandate.
func (r *scope) local() localState { return r.states.Get(r.mandate) }

func (r *scope) learn(change func(*localState)) localState { return r.states.Update(r.mandate, change) }

// reconciliation is one Reconcile of one Mandate. It runs the sub-reconcilers over their scope, and makes the calls
// that they order.
type reconciliation struct {
	*Reconciler
	scope
	client        ServiceClient // of the session's connection
	deadline      engine.Deadline
	attempting    bool        // it may send a call, and a shutdown waits for it
	nonce         string      // of the call that this reconciliation makes
	permit        *idv.Permit // of this call; nil: it waits itself
	recordChanges int         // of the local state, when this began

	deleter    deleter
	creator    creator
	observer   observer
	actor      actor
	subscriber subscriber
}

// newReconciliation collects what can be known without a request to the API server or the service.
func (r *Reconciler) newReconciliation(ctx context.Context, mandate *v1alpha1.Mandate) (*reconciliation, error) {
	c := &reconciliation{Reconciler: r, scope: scope{mandate: mandate}, deadline: engine.NewDeadline(r.clock)}
	service, err := c.session.Resolve(ctx, &r.config.Services, mandate)
	if err != nil {
		return nil, err
	}
	c.connect(c.clientOf(service.Known))
	c.facts = c.newFacts(service)
	c.actor.reviewed = reviewedBefore(mandate)
	state := c.local()
	c.recordChanges = state.recordChanges
	c.facts.observe.ownAccount = c.facts.id != 0 && state.known == c.knownAccount()
	c.facts.observe.openCall = state.attempt != engine.FirstSeen{}
	c.facts.observe.readAt = c.nextRead()
	request := c.pendingRequest()
	c.facts.requested = request != "" && !engine.IsNotification(request)
	spec, status := &mandate.Spec, &mandate.Status
	switch {
	case c.facts.bound && status.Reference != "":
		c.reference = status.Reference // the prefix may have been edited since
	case service.Known && spec.Reference == "":
		c.reference = reference.Mandate(c.session.Connection.ReferencePrefix, mandate.Namespace, mandate.Name)
	case service.Known:
		c.reference = spec.Reference
	}
	c.creator.selectCandidates()
	c.facts.create.referenceNotAllowed = !c.facts.bound && !c.referenceAllowed()
	if spec.Adopt != nil && !c.facts.bound {
		c.facts.create.adopt = spec.Adopt.ApplicationID
	}
	c.yieldToOtherNamespaces()
	c.subscriber.start(&r.subscribed)
	return c, nil
}

// connect gives the sub-reconcilers what they work with: each only what it uses.
func (r *reconciliation) connect(service ServiceClient) {
	of, shared := r.Reconciler, &r.scope
	r.client = service
	shared.sharedDependencies = sharedDependencies{
		states: &of.localState, now: func() time.Time { return of.clock.Now() }, newSalt: of.newSalt,
	}
	r.deleter = deleter{
		scope: shared, client: service, live: of.config.Live, metadata: of.config.Metadata, events: of.config.Events,
	}
	r.creator.scope, r.creator.creatorDependencies = shared, creatorDependencies{
		client: service, cache: of.config.Cache, live: of.config.Live, liveServices: of.liveServices,
		services: &of.config.Services, statusWriter: of.config.Status, ledger: of.config.Ledger,
		adoptionMutex: &of.adoptionMutex, recovered: of.config.Recovered,
		giveUpAfter: of.giveUpAfter(), observe: r.observer.observeCandidate,
	}
	r.observer = observer{
		scope: shared, client: service, live: of.config.Live, services: &of.config.Services, missing: &of.missing,
	}
	r.actor.scope, r.actor.client = shared, service
	r.actor.fromStatus = of.config.StandIn != nil
	r.subscriber.scope = shared
	r.subscriber.client, r.subscriber.live = service, of.config.Live
}

// yieldToOtherNamespaces delays a poll while the polls of its namespace write more than their share. Those that are
// delayed do not come back together.
func (r *reconciliation) yieldToOtherNamespaces() {
	delay := r.written.Delay(r.mandate.Namespace, r.facts.now)
	if delay == 0 || r.urgent() {
		return
	}
	spread := rand.N(maxYield) //nolint:gosec // it needs no cryptographic randomness
	if earliest := r.facts.now.Add(delay + spread); earliest.After(r.facts.observe.readAt) {
		r.facts.observe.readAt = earliest
	}
}

// referenceAllowed reports whether the service allows the reference in this namespace.
func (r *reconciliation) referenceAllowed() bool {
	used := &r.session.Connection
	return !used.NamespacedReferences || reference.InNamespace(r.reference, used.ReferencePrefix, r.mandate.Namespace)
}

// newFacts are those of the Mandate and its connection.
func (r *reconciliation) newFacts(service engine.ServiceFacts) facts {
	spec := &r.mandate.Spec
	status := &r.mandate.Status
	used := &r.session.Connection
	f := facts{
		now:         r.now(),
		settleDelay: r.config.SettleDelay,
		suspended:   spec.Suspend,
		outcome:     status.Outcome,
		service:     service,
		deletion:    newDeletionFacts(r.mandate, r.giveUpAfter()),
		create: createFacts{
			neverReconciled:   status.ObservedGeneration < r.mandate.Generation && len(status.Conditions) == 0,
			tooManyUnrecorded: r.runner.UnrecordedOf(r.session.Key) >= engine.MaxUnrecorded,
		},
		observe: observeFacts{
			seen:         status.Progress != "",
			confirmDelay: min(10*used.MinPoll, 30*time.Second),
		},
		act: actFacts{
			decision:  ptr.Deref(spec.Decision, v1alpha1.Decision{}),
			archive:   spec.Archived && !status.Archived,
			ruleDelay: r.config.RuleDelay,
		},
	}
	f.create.erased = r.hasErased()
	if erasure.IsDue(r.mandate, used.AfterOutcome) && r.config.StandIn == nil { // a plan erases nothing
		f.erasure = erasureDue
	}
	if status.ApplicationID != nil {
		f.id = *status.ApplicationID
		f.bound = true
	}
	if created := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionCreated); created != nil {
		f.create.unknown = created.Status == metav1.ConditionUnknown
	}
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	f.create.awaitsBudget = ready != nil && ready.ObservedGeneration == r.mandate.Generation &&
		ready.Reason == v1alpha1.ReasonCreationBudgetReached
	if f.id == 0 && service.Known {
		f.create.budgetWait = r.config.Budgets.Wait(r.session.Key, used, r.waiter())
	}
	f.observe.unmatched = ready != nil && ready.Reason == v1alpha1.ReasonIndividualsUnmatched
	if spec.CreateBefore != nil {
		f.create.createBefore = spec.CreateBefore.Time
	}
	if status.CreatedTime != nil {
		f.createdTime = status.CreatedTime.Time
	}
	reasonExpired := string(v1alpha1.OutcomeExpired)
	f.observe.vanished = f.outcome == v1alpha1.OutcomeExpired ||
		f.outcome == v1alpha1.OutcomeDeleted && overdue(f.now, f.createdTime) ||
		ready != nil && ready.ObservedGeneration == r.mandate.Generation && ready.Reason == reasonExpired
	confirming := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReconciling)
	if confirming != nil && confirming.Reason == v1alpha1.ReasonConfirming &&
		ledger.IsBelieved(confirming.LastTransitionTime.Time, f.now) {
		f.observe.missingSince = confirming.LastTransitionTime.Time
	}
	return f
}

// waiter is the Mandate, as the budget of its service knows it.
func (r *reconciliation) waiter() budget.Waiter { return budget.Waiter{NamespacedName: r.name()} }

func (r *scope) name() types.NamespacedName { return client.ObjectKeyFromObject(r.mandate) }

// Decide gives the next step.
func (r *reconciliation) Decide() decision {
	r.facts.now = r.now()
	return r.decide()
}

func (r *reconciliation) decide() decision { return decide(r.facts) }

// TryAcquire takes a slot of the connection, so that the Mandates of one connection do not take all workers. What leads
// up to a request is in the slot, too: it is not done twice. Without a connection that works, no request is sent.
func (r *reconciliation) TryAcquire(s step) bool {
	recovers := slices.Contains(recovers, s)
	if !r.facts.service.Ready && !recovers || slices.Contains(needsNoSlot, s) ||
		r.session.Slot.IsFor(connection.Subscription) {
		return true
	}
	if recovers || s == stepReadRecord && r.readsCandidatesFirst() {
		return r.acquireSlot(connection.Recovery)
	}
	// What follows may be a create. A read keeps the slot: a reconciliation that waited for another one would come back
	// for this one, again and again.
	if r.session.Slot.IsFor(connection.Recovery) && r.class() != connection.Read {
		r.session.Slot.Release()
	}
	if s == stepRead && r.class() == connection.Read && r.session.Slot.IsFor(connection.Write) && r.readsAreSlow() {
		r.session.Slot.Release() // a read does not take a slot that others need for a create
	}
	return r.acquireSlot(r.class())
}

// acquireSubscriptionSlot takes a slot for subscriptions, in the place of the one that the reconciliation has.
func (r *reconciliation) acquireSubscriptionSlot() {
	r.session.Slot.Release()
	used := &r.session.Connection
	r.subscriber.acquired(r.session.Slot.TryAcquire(used.Mandates, r.name(), connection.Subscription, false))
}

func (r *reconciliation) acquireSlot(class connection.Class) bool {
	return r.session.Slot.TryAcquire(r.session.Connection.Mandates, r.name(), class, r.urgent())
}

// readsCandidatesFirst reports whether the Mandate may have a candidate's application, and nothing else is to be done
// before that is read.
func (r *reconciliation) readsCandidatesFirst() bool {
	return r.facts.id == 0 && r.facts.create.adopt == 0 && r.facts.create.unknown && len(r.facts.create.candidates) > 0 &&
		!r.facts.deletion.requested
}

func (r *reconciliation) readsAreSlow() bool { return r.session.Connection.Mandates.ReadsAreSlow() }

// nextSlot takes another slot for the read that follows a call on people, because others may have waited for longer. A
// service that is fast costs one reconciliation for both.
func (r *reconciliation) nextSlot() {
	if r.facts.act.phase != actNone && decideNext(r.facts).Step == stepRead && r.readsAreSlow() {
		r.session.Slot.Release()
		r.facts.act.phase = actReadWaits
		if r.acquireSlot(r.class()) {
			r.facts.act.phase = actSent
		}
	}
}

// class is what the reconciliation is for, and what it can test at a service of which that failed.
func (r *reconciliation) class() connection.Class {
	create := r.facts.id == 0 && r.facts.create.adopt == 0
	if create || r.facts.act.archive || r.facts.deletion.requested {
		return connection.Write
	}
	return connection.Read
}

// urgent is what people wait for. Polls must not delay it.
func (r *reconciliation) urgent() bool {
	edited := r.mandate.Status.ObservedGeneration != r.mandate.Generation
	return r.facts.id == 0 || r.facts.deletion.requested || edited || r.continues() || r.pendingRequest() != ""
}

// Priority returns the priority in the workqueue of the wake-up for which the Mandate waits.
func (r *reconciliation) Priority() *int { return engine.Priority(r.urgent()) }

// Perform performs one step and changes the facts accordingly. What the service answers is never an error here, but a
// fact.
func (r *reconciliation) Perform(ctx context.Context, s step) error {
	ctx, cancel := r.deadline.Bound(ctx)
	defer cancel()
	if s == stepSend && r.facts.attempt.kind != v1alpha1.CallSubscribe {
		r.facts.act.phase = actSent
	}
	before := r.application
	if err := r.perform(ctx, s); err != nil {
		return r.stepFailed(ctx, s, err)
	}
	if r.application != nil && r.application != before {
		r.actor.observeEvidence()
		r.noteDecidable()
		r.facts.subscription.readHere = true
	}
	if r.recordSet {
		r.takeRecord()
	}
	r.nextSlot()
	return nil
}

// takeRecord has the sub-reconcilers take over what a record says.
func (r *reconciliation) takeRecord() {
	r.recordSet = false
	begun := r.mandate.Status.ApplicationID == nil && r.record != nil && ledger.MayExist(r.record)
	r.config.Services.Connections.SetBegun(r.session.Key, r.name(), begun)
	if r.facts.record.candidate != 0 {
		r.creator.selectCandidates()
	}
	r.actor.computeEvidence()
	r.dropUnsent()
}

func (r *reconciliation) perform(ctx context.Context, s step) error {
	switch s {
	case stepReadRecord:
		return r.readRecord(ctx)
	case stepResolve:
		return r.creator.resolve(ctx)
	case stepClaim:
		return r.begin(ctx, nil)
	case stepBegin:
		return r.begin(ctx, r.order())
	case stepVerify:
		r.verify(ctx)
	case stepSend:
		r.send(ctx)
	case stepConclude:
		return r.conclude(ctx)
	case stepDeposit:
		return r.creator.deposit(ctx)
	case stepResolveLost:
		return r.resolveLost(ctx)
	case stepSettle:
		return r.settle(ctx)
	case stepShowPending:
		r.showPending(ctx)
	case stepRead:
		r.observer.read(ctx)
	case stepProbe:
		r.observer.probe(ctx)
	case stepAdopt:
		return r.creator.adopt(ctx)
	case stepReadCandidate:
		r.creator.readCandidate(ctx)
	case stepBind:
		return r.creator.bindFound(ctx)
	case stepFinalizer:
		return r.deleter.setFinalizer(ctx)
	case stepErase:
		return r.deleter.erase(ctx)
	case stepAcquireSlot:
		r.acquireSubscriptionSlot()
	case stepBeginSubscription:
		r.subscriber.retryOn(ctx, "Failed to record the subscription, sent nothing", r.begin(ctx, subscribeOrder()))
	case stepFindSubscription:
		r.subscriber.find(ctx)
	case stepResolveSubscription:
		entry := r.facts.record.made(subscribeOrder())
		err := r.endOther(ctx, ledger.Ended(*entry, r.subscriber.result(), r.now()))
		r.subscriber.retryOn(ctx, "Failed to record the subscription that was found", err)
	}
	return nil
}

// Finish writes the status and says when to reconcile again.
func (r *reconciliation) Finish(ctx context.Context, decided decision) (reconcile.Result, error) {
	staleCache := reconcile.Result{RequeueAfter: time.Second}
	if r.continues() { // the cache lacks only what this process has just written
		staleCache.RequeueAfter = 3 * nextCallDelay
	}
	switch decided.Reason {
	case reasonDeleting:
		return reconcile.Result{}, nil
	case reasonStaleCache:
		return staleCache, nil
	case reasonNotDue:
		err := r.writeSubscription(ctx) // before it is due: a conflict has it written again
		after := sooner(decided.RequeueAfter, engine.Jitter(r.subscriber.due()))
		return reconcile.Result{RequeueAfter: after, Priority: engine.Priority(false)}, err
	}
	r.sayContradiction()
	failures := r.countFailure(decided.Reason)
	err := r.writeStatus(ctx, decided.Reason, failures)
	callsLeft := callsRemain(r.facts)
	r.continueLater(callsLeft || apierrors.IsConflict(err))
	switch {
	case apierrors.IsConflict(err):
		return staleCache, nil
	case err != nil:
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	switch {
	case r.readsCandidatesFirst() && r.facts.service.Known && !r.facts.service.MayRecover():
		r.session.Connection.Mandates.Await(r.name(), connection.Recovery, r.urgent())
	case r.awaitsService(decided.Reason):
		r.session.Connection.Mandates.Await(r.name(), r.class(), r.urgent())
	}
	// Polls must not delay a Mandate that has no application yet, whether it is new or tried again.
	priority := engine.Priority(r.facts.id == 0 || callsLeft)
	after := r.requeueAfter(decided, failures)
	final := r.facts.bound && r.facts.final() || decided.Reason == reasonVanished
	if r.facts.erasure != erasureNone && r.facts.outcome == "" && final {
		after = sooner(after, time.Second) // the status has the outcome now
	}
	if r.facts.erasure == erasureRefused {
		after = sooner(after, engine.Jitter(erasureInterval))
	}
	if again := r.creator.due(); after > 0 {
		after = sooner(after, engine.Jitter(again))
	}
	r.scheduleRead(decided.Reason, after)
	after = sooner(after, engine.Jitter(r.subscriber.due()))
	return reconcile.Result{RequeueAfter: after, Priority: priority}, nil
}

// continues reports whether the reconciliation before left something to do.
func (r *scope) continues() bool {
	return r.local().left == r.mandate.Generation
}

// continueLater remembers whether this reconciliation leaves something to do, or has to write its status again.
func (r *reconciliation) continueLater(left bool) {
	generation := int64(0)
	if left {
		generation = r.mandate.Generation
	}
	if generation != r.local().left {
		r.learn(func(s *localState) { s.left = generation })
	}
}

// awaitsService reports whether the Mandate waits for a connection that cannot be used now. It wakes the Mandate up.
func (r *reconciliation) awaitsService(reason string) bool {
	waits := reason == v1alpha1.ReasonIdentityServiceNotReady || reason == v1alpha1.ReasonDeletionWaiting
	return waits && r.facts.service.Known && !r.facts.service.Ready
}

// Park gives the slot back while the end of the attempt cannot be recorded.
func (r *reconciliation) Park() connection.Key {
	r.session.Slot.Release()
	return r.session.Key
}

// Release ends the reconciliation.
func (r *reconciliation) Release() {
	if r.attempting {
		r.runner.Done()
	}
	r.permit.Close()
	r.session.Slot.Release()
}

// requestFailed ends the reconciliation with a reason after a request that failed.
func (r *scope) requestFailed(ctx context.Context, err error, reason string) {
	r.facts.failureReason = reason
	r.facts.retryAfter = idv.RetryAfterOf(err)
	r.failed(engine.ServiceProblem("status.applicationID", "", err))
	log.FromContext(ctx).Info("Request to the service failed", "error", err.Error())
}
