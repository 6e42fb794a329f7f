package mandate

import (
	"slices"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// localState is what this process remembers of a Mandate.
type localState struct {
	changed      time.Time        // when the application was last seen to change
	failures     int              // reconciliations in a row
	attempt      engine.FirstSeen // the call whose result is open; zero: none
	known        knownAccount     // of the record, as it was last read or written; zero: another one, or not known
	readBy       knownAccount     // the account that the application was last read with
	contradicted bool             // an event has said that the application contradicts its outcome
	unsent       string           // the nonce of a call whose begin had no answer; it was not sent
	left         int64            // the generation of which the reconciliation before left something to do; 0: none
	evidence     seenEvidence     // what decisions are compared with
	// recordChanges is how many changes of the record by others this process was told of, and recordShown how many of them
	// the evidence in the status is of.
	recordChanges, recordShown int
	// identities is a digest of who the individuals are, as last compared with what was sent.
	identities uint64

	firstSeen      time.Time         // when this process first reconciled the Mandate
	read           time.Time         // when the application was last read
	readAt         time.Time         // when it is to be read next; zero: this process does not know yet
	lastReadBy     connectionVersion // the connection that was asked for it last
	handledRequest string            // the last request to reconcile that was handled
	// due is readAt, but for reads that fail, which leave it as it was; zero: never.
	due time.Time
	// candidateReads is what was learned of candidates. It is not changed, but replaced.
	candidateReads *candidateReads
	subscription   knownSubscription
}

// recheckInputs is how soon a corrected Secret is noticed. Secrets are not watched.
const recheckInputs = 15 * time.Second

// retriedReasons are tried again soon, and less and less often while they last.
var retriedReasons = []string{
	v1alpha1.ReasonRetrying, v1alpha1.ReasonReadFailed, v1alpha1.ReasonAdoptionRefused,
	v1alpha1.ReasonDeletionWaiting, v1alpha1.ReasonDeletionRefused, v1alpha1.ReasonLedgerUnavailable,
}

// countFailure gives the number of reconciliations in a row that failed, this one included. One that the service kept
// from doing anything neither failed nor succeeded.
func (r *reconciliation) countFailure(reason string) int {
	return r.learn(func(s *localState) {
		switch {
		case slices.Contains(retriedReasons, reason):
			s.failures++
		case reason != v1alpha1.ReasonIdentityServiceNotReady:
			s.failures = 0
		}
	}).failures
}

// requeueAfter says when to reconcile if nothing happens; 0 is never.
func (r *reconciliation) requeueAfter(decided decision, failures int) time.Duration {
	after := r.retryAfter(decided.Reason, failures)
	switch {
	case decided.RequeueAfter > 0:
		return engine.Jitter(decided.RequeueAfter)
	case after > 0 && r.facts.deletion.requested:
		return min(after, r.facts.deletion.giveUpTime.Sub(r.facts.now))
	default:
		return after
	}
}

// retryAfter is when a reconciliation that ended with a reason is made again.
func (r *reconciliation) retryAfter(reason string, failures int) time.Duration {
	if slices.Contains(retriedReasons, reason) && !r.awaitsService(reason) {
		return engine.RequeueBackoff.After(failures)
	}
	switch reason {
	case v1alpha1.ReasonDeletionWaiting:
		return engine.JitterWithin(connection.FallbackRequeue)
	case v1alpha1.ReasonAccountChanged, reasonOtherAccount, // correct credentials wake the Mandate up
		v1alpha1.ReasonReadForbidden, v1alpha1.ReasonDecisionOutdated, v1alpha1.ReasonDecisionRefused,
		v1alpha1.ReasonDecisionForbidden, v1alpha1.ReasonDecisionUnknown, v1alpha1.ReasonStateUnknown,
		v1alpha1.ReasonReviewRefused, v1alpha1.ReasonReviewOutdated, v1alpha1.ReasonLogFull:
		return r.pollInterval()
	case v1alpha1.ReasonConfirming:
		return engine.Jitter(r.facts.observe.confirmDelay)
	case v1alpha1.ReasonSecretNotFound, v1alpha1.ReasonSecretNotForThis, v1alpha1.ReasonSecretInvalid,
		v1alpha1.ReasonRefused:
		return engine.Jitter(recheckInputs)
	case v1alpha1.ReasonIdentityServiceNotReady:
		fallback := engine.JitterWithin(connection.FallbackRequeue)
		if shown := r.readOverdueAt().Sub(r.facts.now); shown > 0 && r.facts.id != 0 {
			return min(shown, fallback)
		}
		return fallback
	case v1alpha1.ReasonIdentityServiceNotFound, v1alpha1.ReasonIdentityServiceNotAllowed:
		return engine.JitterWithin(connection.FallbackRequeue) // all that ends it wakes the Mandate up
	case v1alpha1.ReasonIdentityServiceMismatch, v1alpha1.ReasonMandateTypeNotFound, v1alpha1.ReasonReferenceConflict,
		v1alpha1.ReasonReferenceNotAllowed, v1alpha1.ReasonApplicationExists, v1alpha1.ReasonOutcomeUnknown:
		return engine.JitterWithin(engine.MaxRequeue)
	case v1alpha1.ReasonSpecDiffers:
		if usesSecrets(r.mandate) {
			return engine.Jitter(recheckInputs)
		}
		return engine.JitterWithin(engine.MaxRequeue)
	case v1alpha1.ReasonIndividualsUnmatched:
		return min(r.pollInterval(), engine.JitterWithin(engine.MaxRequeue))
	case reasonVanished:
		if !r.facts.observe.vanished && r.facts.id != 0 && !overdue(r.facts.now, r.creationTime()) {
			return r.interval(minDeletedInterval, maxDeletedInterval) // Deleted can be taken back
		}
		return 0
	case v1alpha1.ReasonAccepted, v1alpha1.ReasonNotArchived:
		if r.facts.id == 0 || r.facts.final() && overdue(r.facts.now, r.creationTime()) {
			return 0
		}
		if reason == v1alpha1.ReasonNotArchived { // no notification comes of that
			return r.interval(r.session.Connection.MinPoll, r.session.Connection.MaxPoll)
		}
		return r.pollInterval()
	default:
		return 0
	}
}

// While notifications arrive, an application is only read in case one of them was lost. A connection counts as notified
// for notifiedWindow after the last one.
const (
	maxSkew                                  = 10 * time.Minute // of clocks
	notifiedWindow                           = 7 * 24 * time.Hour
	minNotifiedInterval, maxNotifiedInterval = 23 * time.Hour, 24 * time.Hour
)

// pollInterval grows with the time since the application last changed: people who are in the middle of it are watched
// closely, those who have done nothing for days are not. What is Deleted is looked for again less and less often, too.
// The interval differs between Mandates, so that applications that were created together are not read together for
// ever.
func (r *reconciliation) pollInterval() time.Duration {
	if r.facts.outcome == v1alpha1.OutcomeDeleted {
		return r.interval(minDeletedInterval, maxDeletedInterval)
	}
	used := &r.session.Connection
	if r.facts.final() || r.notifiedRecently() && r.isNotified() {
		return r.interval(max(minNotifiedInterval, used.MinPoll), max(maxNotifiedInterval, used.MaxPoll))
	}
	return r.interval(used.MinPoll, used.MaxPoll)
}

// notifiedRecently reports whether a notification has arrived within the window. A time from the future, of a replica
// whose clock was fast, is not believed.
func (r *reconciliation) notifiedRecently() bool {
	passed := r.facts.now.Sub(r.session.Connection.Notified)
	return passed < notifiedWindow && passed > -maxSkew
}

// isNotified reports whether notifications of the application can be relied on: somebody else has subscribed all
// applications, or this one is subscribed, and the service keeps more than one subscription.
func (r *reconciliation) isNotified() bool {
	if r.session.Connection.Subscriptions == nil {
		return true
	}
	subscribed := r.local().subscription.state == v1alpha1.SubscriptionSubscribed ||
		r.mandate.Status.Subscription == v1alpha1.SubscriptionSubscribed
	return subscribed && r.subscribed.coexist(r.session.Connection.Account)
}

// sooner is the smaller of two requeues; 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// interval grows from least to most. It differs by a tenth between Mandates, and by a fiftieth when it has grown: that
// spreads them within two days, and an application at which nobody moves is not read much more often than asked for.
func (r *reconciliation) interval(least, most time.Duration) time.Duration {
	d := max(min(r.facts.now.Sub(r.lastChange())/4, most), least)
	shortest := max(d-min(d/10, most-d+most/50), least)
	longest := max(min(d+d/10, most), d)
	return shortest + r.phase(longest-shortest)
}

// lastChange is when the application last changed, as far as this process has seen or the conditions say.
func (r *reconciliation) lastChange() time.Time {
	last := r.local().changed
	for _, c := range r.mandate.Status.Conditions {
		if c.LastTransitionTime.After(last) {
			last = c.LastTransitionTime.Time
		}
	}
	if last.IsZero() {
		return r.facts.now
	}
	return last
}
