package mandate

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// searchInterval is how often a subscription that may exist is looked for.
const searchInterval = 24 * time.Hour

// writeTimeout bounds a write that a shutdown does not cut short.
const writeTimeout = 3 * time.Second

// knownSubscription is what this process knows of the subscription of an application. It is replaced, never changed.
type knownSubscription struct {
	// The one in the record, as it was last read or written: whether this process recorded it and has not sent it, and
	// since when this process knows it.
	ordinal int32
	started time.Time
	mine    bool
	seen    time.Time
	// state is how it ended, while the status still says over.
	state, over v1alpha1.SubscriptionState
	by          connectionVersion // the connection, when it ended
	lookAt      time.Time         // when to look for one that may exist
	accepted    time.Time         // when the service accepted it, to make it later
	unwitnessed bool              // there was no other one then, to see whether the service shows them
	failures    int               // in a row
}

func (r *reconciliation) knownSubscription() knownSubscription {
	if known := r.localState.Get(r.mandate).subscription; known != nil {
		return *known
	}
	return knownSubscription{}
}

func (r *reconciliation) learnSubscription(change func(*knownSubscription)) knownSubscription {
	known := r.knownSubscription()
	before := known
	change(&known)
	if known != before {
		r.localState.Update(r.mandate, func(s *localState) { s.subscription = &known })
	}
	return known
}

// newSubscriptionFacts are those of a Mandate whose status shows its application, and whose service has the operator
// subscribe it.
func (r *reconciliation) newSubscriptionFacts() subscriptionFacts {
	status, used := &r.mandate.Status, &r.session.Connection
	if used.Subscriptions == nil || status.ApplicationID == nil || status.Outcome != "" || status.Archived {
		return subscriptionFacts{}
	}
	known := r.knownSubscription()
	s := subscriptionFacts{
		wanted: true, mine: known.mine, seen: known.seen,
		accepted:   r.facts.now.Before(known.accepted.Add(acceptedPeriod)),
		readHere:   r.facts.ownAccount && r.localState.Get(r.mandate).readBy == r.knownAccount(),
		witness:    r.subscribed.witness(accountOf(used), *status.ApplicationID) != 0,
		believable: r.subscribed.shows(accountOf(used)),
	}
	state := status.Subscription
	if known.state != "" && known.over == state {
		state = known.state
	}
	switch state {
	case "":
		return s
	case v1alpha1.SubscriptionSubscribed:
		sent := engine.ParseNotificationRequest(engine.ReconcileRequest(r.mandate)).Time
		r.subscribed.notified(accountOf(used), *status.ApplicationID, r.facts.createdTime, sent)
	case v1alpha1.SubscriptionRefused, v1alpha1.SubscriptionOutcomeUnknown:
		s.again = r.subscribesAgain(state)
	}
	if !s.again {
		s.ended = state
	}
	return s
}

// subscribesAgain reports whether to go on with a subscription that was refused, or may exist. After a refusal, only a
// person has it sent again.
func (r *reconciliation) subscribesAgain(state v1alpha1.SubscriptionState) bool {
	known := r.learnSubscription(func(k *knownSubscription) {
		if k.by == (connectionVersion{}) {
			k.by, k.lookAt = r.connectionVersion(), r.facts.now.Add(r.phase(searchInterval))
			k.unwitnessed = !r.subscribed.any(accountOf(&r.session.Connection))
		}
	})
	asked := r.pendingRequest()
	switch {
	case asked != "" && !engine.IsNotification(asked), known.by != r.connectionVersion():
		return true
	case state == v1alpha1.SubscriptionRefused:
		return false
	default:
		return !r.facts.now.Before(known.lookAt) ||
			known.unwitnessed && r.subscribed.any(accountOf(&r.session.Connection))
	}
}

// setSubscription takes over what the record says.
func (r *reconciliation) setSubscription() {
	s := &r.facts.subscription
	s.started, s.refused = false, false
	s.mine = false
	if r.record == nil || r.record.Spec.Subscription == nil {
		return
	}
	recorded := r.record.Spec.Subscription
	s.started, s.refused = true, recorded.Refused
	if r.session.Connection.Subscriptions == nil {
		return
	}
	known := r.learnSubscription(func(k *knownSubscription) {
		if k.ordinal != recorded.Ordinal || !k.started.Equal(recorded.StartedTime.Time) {
			k.ordinal, k.started = recorded.Ordinal, recorded.StartedTime.Time
			k.mine, k.seen = false, r.facts.now
		}
	})
	s.mine, s.seen = known.mine, known.seen
}

// firstSubscription is recorded together with the id of the application, so that it costs no write of its own. nil if
// there is to be none, or if the id was not recorded in a first try: the answer to that one may have been lost, and
// another operator have started a subscription since.
func (r *reconciliation) firstSubscription() *v1alpha1.RecordedSubscription {
	if r.session.Connection.Subscriptions == nil || r.facts.attempt.unrecorded || r.facts.deletion.requested {
		return nil
	}
	return r.newSubscription(1)
}

// newSubscription is one that starts now: by the clock of this process, and before it is recorded. Others count from
// when they see it.
func (r *reconciliation) newSubscription(ordinal int32) *v1alpha1.RecordedSubscription {
	r.subscribing = r.clock.Now()
	return &v1alpha1.RecordedSubscription{StartedTime: ledger.MicroTime(r.subscribing), Ordinal: ordinal}
}

// subscriptionStarted is for a subscription that this process has just recorded: it may send it.
func (r *reconciliation) subscriptionStarted(started *v1alpha1.RecordedSubscription) {
	s, recorded := &r.facts.subscription, r.record.Spec.Subscription
	if started == nil || recorded == nil || recorded.Ordinal != started.Ordinal ||
		!recorded.StartedTime.Equal(&started.StartedTime) {
		return
	}
	known := r.learnSubscription(func(k *knownSubscription) { k.mine, k.seen = true, r.subscribing })
	s.mine, s.seen = true, known.seen
	s.lookup, s.checked = notLooked, false
}

// endSubscription keeps how it ended until the cache has a status that says so.
func (r *reconciliation) endSubscription(state v1alpha1.SubscriptionState) {
	r.facts.subscription.ended = state
	r.learnSubscription(func(k *knownSubscription) {
		k.mine, k.failures = false, 0
		k.state, k.over = state, r.mandate.Status.Subscription
		k.by = r.connectionVersion()
	})
}

// pauseSubscription ends what is done for it in this reconciliation.
func (r *reconciliation) pauseSubscription(retryAfter time.Duration) {
	r.facts.subscription.paused = true
	known := r.learnSubscription(func(k *knownSubscription) { k.failures++ })
	r.resubscribe = max(retryAfter, engine.RequeueBackoff.After(known.failures))
}

// showSubscription shows what is known of it.
func (r *reconciliation) showSubscription(status *v1alpha1.MandateStatus) {
	state := subscriptionState(r.facts)
	if state == "" || status.ApplicationID == nil {
		return
	}
	status.Subscription = state
	if state == v1alpha1.SubscriptionOutcomeUnknown && r.facts.subscription.lookup != notLooked {
		r.learnSubscription(func(k *knownSubscription) {
			k.by, k.lookAt = r.connectionVersion(), r.facts.now.Add(engine.JitterWithin(searchInterval))
			k.unwitnessed = !r.facts.subscription.witness
			k.state, k.over = state, r.mandate.Status.Subscription
		})
	}
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
	s := &r.facts.subscription
	due := r.resubscribe
	switch {
	case r.session.Connection.Subscriptions == nil, r.mandate.Status.Outcome != "":
		return wait
	case due > 0:
	case r.mandate.Status.ApplicationID == nil && r.facts.bound: // the cache will show the application soon
		due = 2 * nextCallDelay
	case s.wanted && s.ended == "" && s.started && !s.mine && r.facts.now.Before(s.seen.Add(r.facts.settleDelay)):
		due = s.seen.Add(r.facts.settleDelay).Sub(r.facts.now)
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
	subscribed := r.knownSubscription().state == v1alpha1.SubscriptionSubscribed ||
		r.mandate.Status.Subscription == v1alpha1.SubscriptionSubscribed
	return subscribed && r.subscribed.coexist(accountOf(&r.session.Connection))
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
