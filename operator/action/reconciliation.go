package action

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/individuals"
)

// ServiceClient is what an action needs of the client of the service. The errors are those of the client.
type ServiceClient interface {
	engine.ServiceClient
	RetrieveApplication(ctx context.Context, id int64) (*idv.Application, error)
	ResendInvites(ctx context.Context, individualID int64) (*idv.Change, error)
	ResetIndividual(ctx context.Context, individualID int64) (*idv.Change, error)
	IndividualReport(ctx context.Context, individualID, limit int64) (*idv.Report, error)
}

// localState is what this process remembers of a MandateAction.
type localState struct {
	failures      int              // reconciliations in a row
	unsent        string           // the nonce of a call whose Begin had no answer: nothing is sent for it
	open          engine.FirstSeen // the nonce of the call that is waited for
	noSecret      bool             // when the Secret for the report was looked for last
	mayStore      bool             // when the API server was asked last
	refusedDigest string           // of the Mandate's status when the service had no report
}

// reconciliation is one Reconcile of one MandateAction: the facts, and what they were made from.
type reconciliation struct {
	*Reconciler
	action     *v1alpha1.MandateAction // as it was last read or written
	session    engine.Session
	client     ServiceClient // of the session's connection
	call       v1alpha1.Call // that this reconciliation has begun
	permit     *idv.Permit   // of its request
	attempting bool          // it may e-mail somebody, and a shutdown waits for it
	deadline   engine.Deadline

	facts        facts
	record       *v1alpha1.ApplicationRecord // as it was last read or written
	entry        *v1alpha1.Call              // what the record has under the name; nil: nothing, or a digest
	open         *v1alpha1.Call              // what the record has that may be under way
	mandate      metav1.ObjectMeta           // as it was last read
	expected     []individuals.Expected      // what was sent of the individuals, as matching has them
	matching     individuals.Matching        // of the application as it was last read
	observed     *v1alpha1.Mandate           // as it was last read, with personal data if that was live
	reference    string                      // of the application
	evidence     string                      // of the individual's checks before a reset
	statusDigest string                      // of what a report depends on
	report       file                        // personal data
	downloaded   *idv.Report                 // what the report takes of the budget of all; closed by Release
	notRecorded  v1alpha1.Problem            // why the API server does not record what became of the call
}

// newReconciliation collects what the MandateAction and the cached Mandate say.
func (r *Reconciler) newReconciliation(ctx context.Context, action *v1alpha1.MandateAction) (*reconciliation, error) {
	c := &reconciliation{Reconciler: r, action: action, deadline: engine.NewDeadline(r.clock)}
	status, known := &action.Status, r.localState.Get(action)
	c.facts = facts{
		emails:   action.Spec.Type != v1alpha1.MandateActionDownloadReport,
		deleting: !action.DeletionTimestamp.IsZero(),
		ended:    status.CompletedTime != nil,
		created:  action.CreationTimestamp.Add(r.config.ServerClock.Period(0, r.clock)),
		handover: r.handover,
		secret:   secretFacts{checked: known.noSecret},
		storing:  storingFacts{checked: known.mayStore},
	}
	if ttl := action.Spec.TTLSecondsAfterFinished; c.facts.ended && ttl != nil {
		c.facts.expires = status.CompletedTime.Add(time.Duration(*ttl) * time.Second)
	}
	if c.facts.ended || c.facts.deleting { // whatever became of its Mandate
		return c, nil
	}
	c.facts.mandate.seen = sawMandate(status)
	err := c.stepFailed(ctx, stepReadMandate, c.observeMandate(ctx, false))
	return c, err
}

// Decide gives the next step.
func (r *reconciliation) Decide() decision {
	r.facts.now = r.clock.Now()
	return decide(r.facts)
}

// TryAcquire takes a slot of the connection, so that the MandateActions of one connection do not take all workers.
// Without a connection that works, no request is sent.
func (r *reconciliation) TryAcquire(s step) bool {
	if !r.facts.service.Ready || s == stepDelete || r.facts.call.phase == over {
		return true
	}
	name := client.ObjectKeyFromObject(r.action)
	return r.session.Slot.TryAcquire(r.session.Connection.Actions, name, r.class(), r.facts.emails)
}

// class is what the reconciliation is for, and what it can test at a service of which that failed.
func (r *reconciliation) class() connection.Class {
	if r.facts.emails {
		return connection.Write
	}
	return connection.Read
}

// Priority is kept: there are few MandateActions, and people wait for them.
func (r *reconciliation) Priority() *int { return nil }

// Perform performs one step and changes the facts accordingly. What the service answers is never an error here, but a
// fact.
func (r *reconciliation) Perform(ctx context.Context, s step) error {
	if s != stepDownload { // it may take longer, and the client bounds it
		bounded, cancel := r.deadline.Bound(ctx)
		defer cancel()
		ctx = bounded
	}
	if r.facts.call.phase == notBegun || s == stepSend {
		return r.stepFailed(ctx, s, r.perform(ctx, s))
	}
	if err := r.perform(context.WithoutCancel(ctx), s); err != nil { // what became of the call is known nowhere but here
		return &engine.UnrecordedError{Err: err}
	}
	return nil
}

func (r *reconciliation) perform(ctx context.Context, s step) error {
	return map[step]func(context.Context) error{
		stepReadRecord:      r.readRecord,
		stepReadMandate:     func(ctx context.Context) error { return r.observeMandate(ctx, true) },
		stepReadApplication: r.readApplication,
		stepBegin:           r.begin,
		stepVerify:          r.verify,
		stepSend:            r.send,
		stepEnd:             r.end,
		stepShowPending:     r.showPending,
		stepLookForSecret:   r.lookForSecret,
		stepCheckAccess:     r.checkAccess,
		stepDownload:        r.download,
		stepStore:           r.store,
		stepDelete:          r.expire,
	}[s](ctx)
}

// Finish writes the status and says when to reconcile again.
func (r *reconciliation) Finish(ctx context.Context, decided decision) (reconcile.Result, error) {
	if r.facts.call.phase != notBegun { // a shutdown waits for it
		ctx = context.WithoutCancel(ctx)
	}
	if same, err := r.isStillUnsent(ctx, decided.Reason); err != nil {
		return reconcile.Result{}, err
	} else if !same {
		decided = wait(reasonStaleCache)
	}
	if r.facts.call.phase != notBegun || decided.Reason == v1alpha1.ReasonOutcomeUnknown {
		r.tellOfReset() // before the action ends: who waits for that looks at the evidence of the Mandate next
	}
	if err := r.writeStatus(ctx, decided.Reason); apierrors.IsConflict(err) {
		decided = wait(reasonStaleCache)
	} else if err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if ttl := r.action.Spec.TTLSecondsAfterFinished; ttl != nil && conditionSpecs[decided.Reason].progress != progressing {
		// At least a second: the cache has to learn of the end first.
		decided.RequeueAfter = max(time.Duration(*ttl)*time.Second, time.Second)
	}
	if decided.Reason == v1alpha1.ReasonIdentityServiceNotReady && r.awaitsService() {
		r.session.Connection.Actions.Await(client.ObjectKeyFromObject(r.action), r.class(), r.facts.emails)
	}
	return reconcile.Result{RequeueAfter: r.requeueAfter(decided)}, nil
}

// isStillUnsent reports whether an action may fail without a call: no other operator has begun one since the record was
// read. An operator that begins one later sees, before it sends, that the action has ended.
func (r *reconciliation) isStillUnsent(ctx context.Context, reason string) (bool, error) {
	unsent := r.facts.emails && r.facts.call.phase == notBegun
	if r.record == nil || !unsent || conditionSpecs[reason].progress != failed {
		return true, nil
	}
	live, err := engine.ReadMetadata(ctx, r.config.Live, "ApplicationRecord", client.ObjectKeyFromObject(r.record))
	return err == nil && live != nil && live.ResourceVersion == r.record.ResourceVersion, err
}

// awaitsService reports whether the connection exists and cannot be used now. It wakes up those that wait for it.
func (r *reconciliation) awaitsService() bool { return r.facts.service.Known && !r.facts.service.Ready }

// Park gives the slot back while the end of the attempt cannot be recorded.
func (r *reconciliation) Park() connection.Key {
	r.session.Slot.Release()
	return r.session.Key
}

// Release ends the reconciliation.
func (r *reconciliation) Release() {
	if r.attempting {
		r.Done()
	}
	if r.downloaded != nil {
		r.downloaded.Close()
	}
	r.permit.Close()
	r.session.Slot.Release()
}

// maxServiceRequeue is short: to look whether there is a connection costs nothing.
const maxServiceRequeue = 15 * time.Second

// requeueAfter says when to reconcile if nothing happens; 0 is never. Mandates are watched.
func (r *reconciliation) requeueAfter(decided decision) time.Duration {
	switch decided.Reason {
	case reasonStaleCache:
		return engine.Jitter(time.Second)
	case v1alpha1.ReasonIdentityServiceNotFound, v1alpha1.ReasonIdentityServiceNotAllowed,
		v1alpha1.ReasonIdentityServiceNotReady:
		if r.awaitsService() {
			return engine.JitterWithin(connection.FallbackRequeue)
		}
		return min(r.backoff(), engine.JitterWithin(maxServiceRequeue))
	case v1alpha1.ReasonCreationSuspended: // an edit of the service wakes the action up
		return engine.JitterWithin(connection.FallbackRequeue)
	case v1alpha1.ReasonCreationBudgetReached:
		return min(engine.Jitter(decided.RequeueAfter), engine.JitterWithin(connection.FallbackRequeue))
	case v1alpha1.ReasonRetrying, v1alpha1.ReasonSecretRefused, v1alpha1.ReasonIndividualsUnmatched,
		v1alpha1.ReasonAccountChanged,
		v1alpha1.ReasonRecordNotFound:
		return max(r.backoff(), engine.Jitter(decided.RequeueAfter))
	}
	r.localState.Update(r.action, func(s *localState) { s.failures = 0 })
	if decided.RequeueAfter > 0 {
		return decided.RequeueAfter + time.Second
	}
	return 0
}

// backoff counts one more failure, and says how long to wait after it.
func (r *reconciliation) backoff() time.Duration {
	failures := r.localState.Update(r.action, func(s *localState) { s.failures++ }).failures
	return engine.RequeueBackoff.After(failures)
}

// expire deletes the MandateAction. If it was changed meanwhile, its time to live may have been, too.
func (r *reconciliation) expire(ctx context.Context) error {
	r.facts.failureReason = reasonDeleting
	asRead := client.Preconditions{UID: &r.action.UID, ResourceVersion: &r.action.ResourceVersion}
	err := r.config.Writer.Delete(ctx, r.action, asRead)
	if apierrors.IsConflict(err) {
		r.facts.failureReason = reasonStaleCache
		return nil
	}
	return client.IgnoreNotFound(err)
}

// requestFailed ends the reconciliation after a request that failed.
func (r *reconciliation) requestFailed(ctx context.Context, err error) {
	r.facts.failureReason = v1alpha1.ReasonRetrying
	r.facts.retryAfter = idv.RetryAfterOf(err)
	r.failed(err)
	log.FromContext(ctx).Info("Request to the service failed", "error", err.Error())
}
