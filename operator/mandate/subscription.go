package mandate

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// writeTimeout bounds a write that a shutdown does not cut short.
const writeTimeout = 3 * time.Second

// knownSubscription is what this process knows of the subscription of an application.
type knownSubscription struct {
	// state is how it ended, while the status still says over.
	state, over v1alpha1.SubscriptionState
	by          connectionVersion // the connection, when it ended
	failures    int               // in a row
}

func (r *reconciliation) learnSubscription(change func(*knownSubscription)) knownSubscription {
	return r.localState.Update(r.mandate, func(s *localState) { change(&s.subscription) }).subscription
}

// newSubscriptionFacts are those of a Mandate whose status shows its application, and whose service has the operator
// subscribe it.
func (r *reconciliation) newSubscriptionFacts() subscriptionFacts {
	status, used := &r.mandate.Status, &r.session.Connection
	if used.Subscriptions == nil || status.ApplicationID == nil || status.Outcome != "" || status.Archived {
		return subscriptionFacts{}
	}
	local := r.localState.Get(r.mandate)
	s := subscriptionFacts{wanted: true, readHere: r.facts.ownAccount && local.readBy == r.knownAccount()}
	state := status.Subscription
	if known := local.subscription; known.state != "" && known.over == state {
		state = known.state
	}
	switch state {
	case v1alpha1.SubscriptionSubscribed:
		sent := engine.ParseNotificationRequest(engine.ReconcileRequest(r.mandate)).Time
		r.subscribed.notified(used.Account, *status.ApplicationID, r.facts.createdTime, sent)
	case v1alpha1.SubscriptionRefused, v1alpha1.SubscriptionOutcomeUnknown:
		s.again = r.subscribesAgain()
	}
	if !s.again {
		s.ended = state
	}
	return s
}

// subscribesAgain reports whether to go on with a subscription that was refused, or may exist: because a person asks
// for it, or because the service was edited.
func (r *reconciliation) subscribesAgain() bool {
	now, asked := r.connectionVersion(), r.pendingRequest()
	known := r.learnSubscription(func(k *knownSubscription) {
		if k.by == (connectionVersion{}) {
			k.by = now
		}
	})
	return asked != "" && !engine.IsNotification(asked) || known.by != now
}

// pauseSubscription ends what is done for it in this reconciliation.
func (r *reconciliation) pauseSubscription(retryAfter time.Duration) {
	r.facts.subscription.paused = true
	known := r.learnSubscription(func(k *knownSubscription) { k.failures++ })
	r.resubscribe = max(retryAfter, engine.RequeueBackoff.After(known.failures))
}

// subscriptionFailed has what failed tried again later.
func (r *reconciliation) subscriptionFailed(ctx context.Context, what string, err error) {
	log.FromContext(ctx).Info(what, "error", apierror.Redact(err).Error())
	r.pauseSubscription(0)
}

// showSubscription shows what is known of it.
func (r *reconciliation) showSubscription(status *v1alpha1.MandateStatus) {
	state := subscriptionState(r.facts)
	if state == "" || status.ApplicationID == nil {
		return
	}
	if status.Subscription != state || r.facts.subscription.again {
		now := r.connectionVersion()
		r.learnSubscription(func(k *knownSubscription) {
			*k = knownSubscription{state: state, over: r.mandate.Status.Subscription, by: now}
		})
	}
	status.Subscription = state
}

// writeSubscription writes it when nothing else is to be written.
func (r *reconciliation) writeSubscription(ctx context.Context) error {
	updated := r.mandate.Status.DeepCopy()
	r.showSubscription(updated)
	if updated.Subscription == r.mandate.Status.Subscription {
		return nil
	}
	// A shutdown does not keep the status from saying what was just sent.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	_, err := r.patchStatus(ctx, updated)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err): // the cache is stale; of an own write, no event comes
		r.resubscribe = time.Second
		return nil
	case err != nil:
		return err
	}
	r.recordEvent(&r.mandate.Status, updated)
	return nil
}

// subscriptionDue is when to reconcile again, with regard to the subscription; 0 is never.
func (r *reconciliation) subscriptionDue(wait time.Duration) time.Duration {
	s, f := &r.facts.subscription, &r.facts
	due := r.resubscribe
	switch {
	case r.session.Connection.Subscriptions == nil, r.mandate.Status.Outcome != "":
		return wait
	case due > 0:
	case r.mandate.Status.ApplicationID == nil && f.bound: // the cache will show the application soon
		due = 2 * nextCallDelay
	case s.wanted && s.ended == "" && f.record.open() != nil && f.mayBeUnderWay():
		due = f.record.observed.Add(f.settleDelay).Sub(f.now)
	default:
		return wait
	}
	if wait == 0 {
		return engine.Jitter(due)
	}
	return min(wait, engine.Jitter(due))
}

// isNotified reports whether notifications of the application can be relied on: somebody else has subscribed all
// applications, or this one is subscribed, and the service keeps more than one subscription.
func (r *reconciliation) isNotified() bool {
	if r.session.Connection.Subscriptions == nil {
		return true
	}
	subscribed := r.localState.Get(r.mandate).subscription.state == v1alpha1.SubscriptionSubscribed ||
		r.mandate.Status.Subscription == v1alpha1.SubscriptionSubscribed
	return subscribed && r.subscribed.coexist(r.session.Connection.Account)
}

// acquireSubscriptionSlot takes a slot for subscriptions, in the place of the one that the reconciliation has. If there
// is none, the Mandate is woken up later.
func (r *reconciliation) acquireSubscriptionSlot() bool {
	if r.session.Slot.IsFor(connection.Subscription) {
		return true
	}
	r.session.Slot.Release()
	return r.session.Slot.TryAcquire(r.session.Connection.Mandates, r.name(), connection.Subscription, false)
}
