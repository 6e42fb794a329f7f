package mandate

import (
	"hash/fnv"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// When an application is read is a fact, not a consequence of a reconciliation. What reconciles ten thousand Mandates
// at once, such as a start, an edit of their service or its recovery, then costs no read.

const (
	// readOverdueAfter is the shortest time without a read of an application after which its status is not trusted.
	readOverdueAfter = 10 * time.Minute
	// recentRequest is how old a notification may be at the start of a process that has not seen whether it was handled.
	recentRequest = 10 * time.Minute
	// maxStartup is how long it takes at most until a process has the Mandates in its cache.
	maxStartup = 5 * time.Minute
	// maxYield is for how long a poll waits for those of other namespaces, once its own namespace may write again.
	maxYield = 10 * time.Second
	// minDeletedInterval and maxDeletedInterval bound the time between two looks for an application that is Deleted.
	minDeletedInterval, maxDeletedInterval = 10 * time.Minute, 24 * time.Hour
	// erasureInterval is how soon an erasure is tried again that the API server refuses.
	erasureInterval = 5 * time.Minute
)

// connectionVersion is a connection as it was when an application was looked for. The zero value is none.
type connectionVersion struct {
	account     connection.Account
	credentials [32]byte // their digest
	generation  int64    // of the IdentityService
}

func (r *scope) connectionVersion() connectionVersion {
	c := &r.session.Connection
	return connectionVersion{c.Account, c.Credentials, c.Generation}
}

// nextRead is when the application is to be read; the zero time means at once.
func (r *reconciliation) nextRead() time.Time {
	state := r.local()
	started := state.firstSeen.IsZero()
	if started {
		state.firstSeen = r.facts.now
		state.handledRequest = r.handledBefore()
	}
	scheduled := !state.readAt.IsZero() || !r.facts.service.Known
	if !scheduled {
		state.readAt = r.firstRead()
		state.due = state.readAt
	}
	before := state.known
	if used := &r.session.Connection; used.Account != "" {
		sought := used.AccountState == connection.AccountSought
		state.forgetAccount(r.facts.now, r.knownAccount(), sought, r.phase(used.LookWithin))
	}
	if started || !scheduled || state.known != before {
		r.learn(func(s *localState) {
			state.recordChanges = s.recordChanges // others count them
			*s = state
		})
	}
	changed := state.lastReadBy != connectionVersion{} && state.lastReadBy != r.connectionVersion()
	deleted := r.facts.outcome == v1alpha1.OutcomeDeleted
	if !r.carriedOut() || r.continues() || r.pendingRequest() != "" || deleted && changed || state.recordOutdated() {
		return time.Time{}
	}
	return state.readAt
}

// carriedOut reports whether the status says that everything is as the spec of this generation asks for. If not, each
// reconciliation reads the application.
func (r *reconciliation) carriedOut() bool {
	ready := meta.FindStatusCondition(r.mandate.Status.Conditions, v1alpha1.ConditionReady)
	return r.facts.bound && !r.facts.deletion.requested && !r.facts.act.archive &&
		r.mandate.Status.ObservedGeneration == r.mandate.Generation &&
		ready != nil && (ready.Status == metav1.ConditionTrue || ready.Reason == string(v1alpha1.OutcomeDeleted))
}

// interrupted reports whether the process before this one may have left a decision or a review undone that could be
// carried out, or not have subscribed a new application.
func (r *reconciliation) interrupted() bool {
	state := idv.State{Name: r.mandate.Status.State}
	inReview := r.session.Connection.States.Stage(state) == lifecycle.InReview
	unsubscribed := r.session.Connection.Subscriptions != nil && r.mandate.Status.Subscription == "" &&
		ledger.Within(time.Hour, r.facts.createdTime, r.facts.now)
	stalled := meta.IsStatusConditionTrue(r.mandate.Status.Conditions, v1alpha1.ConditionStalled)
	return unsubscribed || !stalled &&
		(r.facts.act.decision.Outcome != "" && inReview || len(r.actor.reviewed) < len(r.mandate.Spec.CheckReviews))
}

// firstRead is when a process that has just started reads the application. If the last read is not known, each Mandate
// has a time of its own within the interval. It depends on the clock and not on the start, so that a process that is
// restarted again and again reaches every Mandate. A time that has passed during a long start counts: the read is due
// at once. Later it does not, or whatever reconciles many Mandates for the first time would have all of them read.
//
// After a notification that may have been missed, the interval is the one that holds without notifications.
func (r *reconciliation) firstRead() time.Time {
	now, interval := r.facts.now, r.pollInterval()
	if r.interrupted() {
		return now
	}
	if r.missedNotification() {
		interval = min(interval, r.interval(r.session.Connection.MinPoll, r.session.Connection.MaxPoll))
	}
	if next := r.lastRead().Add(interval); next.After(now) {
		return next
	}
	from := now
	if now.Sub(r.started) < min(interval/2, maxStartup) {
		from = r.started
	}
	passed := (from.UnixNano() - r.phase(interval).Nanoseconds()) % interval.Nanoseconds()
	return from.Add(interval - time.Duration(passed))
}

// phase is a time up to longest that only depends on the Mandate, and spreads Mandates evenly.
func (r *reconciliation) phase(longest time.Duration) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(r.mandate.UID))
	return time.Duration(float64(longest) * float64(hash.Sum64()>>11) / (1 << 53))
}

// scheduleRead records what a reconciliation means for the next read, once its status is written. After one that failed
// or found something amiss, each reconciliation reads.
func (r *reconciliation) scheduleRead(reason string, after time.Duration) {
	a := &r.facts.application
	read := a.read() || a.missing()
	if !read && r.facts.failureReason == "" {
		return
	}
	r.learn(func(s *localState) {
		s.readAt, s.lastReadBy = r.facts.now, r.connectionVersion()
		if read {
			s.due = time.Time{}
			if after != 0 {
				s.due = r.facts.now.Add(after)
			}
		}
		if a.evidence.shown != "" {
			s.recordShown = r.recordChanges
		}
		switch reason {
		case v1alpha1.ReasonAccepted, v1alpha1.ReasonNotArchived, reasonVanished:
			s.readAt = r.facts.now.Add(after)
		}
	})
}

// readIsOverdue reports whether the application could not be read for three intervals, readOverdueAfter at least.
func (r *reconciliation) readIsOverdue() bool {
	return r.facts.service.Known && !r.facts.now.Before(r.readOverdueAt())
}

// readOverdueAt is when readIsOverdue becomes true, if the application is not read before.
func (r *reconciliation) readOverdueAt() time.Time {
	state := r.local()
	last := state.firstSeen
	if state.read.After(last) {
		last = state.read
	}
	return last.Add(max(3*r.pollInterval(), readOverdueAfter))
}

// pendingRequest is the request to reconcile that was not handled yet; "" if there is none.
func (r *scope) pendingRequest() string {
	request := engine.ReconcileRequest(r.mandate)
	if request == r.mandate.Status.LastHandledReconcileAt || request == r.local().handledRequest {
		return ""
	}
	return request
}

// handledBefore is a request that the process before this one has probably handled: the status does not acknowledge
// each notification. "" if there is none.
func (r *reconciliation) handledBefore() string {
	request := engine.ReconcileRequest(r.mandate)
	sent := engine.ParseNotificationRequest(request).Time
	if !sent.IsZero() && r.facts.now.Sub(sent) > recentRequest {
		return request
	}
	return ""
}

// missedNotification reports whether the application may not have been read since the last notification, because there
// was no leader or reads failed. One that was read and had not changed looks the same: the status does not say so.
func (r *reconciliation) missedNotification() bool {
	request := engine.ReconcileRequest(r.mandate)
	sent := engine.ParseNotificationRequest(request).Time
	return !sent.IsZero() && request != r.mandate.Status.LastHandledReconcileAt && !r.lastRead().After(sent)
}

// lastRead is when the application was last read, as the status says; zero if that is not known.
func (r *scope) lastRead() time.Time {
	last := r.mandate.Status.LastReadTime
	if last == nil || !ledger.IsBelieved(last.Time, r.facts.now) {
		return time.Time{}
	}
	return last.Time
}

// Lag is for how long the application of a Mandate has been due to be read; 0 while it is not due. It is not read at an
// interval while something is wrong with the Mandate itself, nor once there is an outcome.
func (r *Reconciler) Lag(mandate *v1alpha1.Mandate) time.Duration {
	status := &mandate.Status
	if mandate.Spec.Suspend || !mandate.DeletionTimestamp.IsZero() || status.ApplicationID == nil ||
		status.Outcome != "" || meta.IsStatusConditionFalse(status.Conditions, v1alpha1.ConditionReady) {
		return 0
	}
	due := r.localState.Get(mandate).due
	if due.IsZero() {
		return 0
	}
	return max(0, r.clock.Now().Sub(due))
}

// localState is what this process remembers of a Mandate.
type localState struct {
	changed      time.Time        // when the application was last seen to change
	failures     int              // reconciliations in a row
	attempt      engine.FirstSeen // the call whose result is open; zero: none
	known        knownAccount     // of the record, as it was last read or written; zero: another one, or not known
	readBy       knownAccount     // the account that the application was last read with
	contradicted bool             // an event has said that the application contradicts its outcome
	unsent       unsentNonces     // of calls that were not sent
	left         int64            // the generation of which the reconciliation before left something to do; 0: none
	evidence     seenEvidence     // what decisions are compared with
	unstable     *instability     // of the evidence
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
	// decidable is since when a decision about an application in review waits; zero: none does.
	decidable time.Time
	// candidateReads is what was learned of candidates. It is not changed, but replaced.
	candidateReads *candidateReads
	subscription   knownSubscription
	// refused is what a call was refused with, until a status says it. It is not changed, but replaced.
	refused *refusal
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
	case decided.RequeueAfter > 0 && decided.Reason == v1alpha1.ReasonAccepted: // until a rule has held
		return sooner(after, engine.Jitter(decided.RequeueAfter))
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
	case v1alpha1.ReasonIdentityServiceNotFound, v1alpha1.ReasonIdentityServiceNotAllowed,
		v1alpha1.ReasonCreationSuspended:
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

// notifiedRecently reports whether a notification has arrived within the window.
func (r *reconciliation) notifiedRecently() bool {
	return ledger.Within(notifiedWindow, r.session.Connection.Notified, r.facts.now)
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
		if c.LastTransitionTime.After(last) && ledger.IsBelieved(c.LastTransitionTime.Time, r.facts.now) {
			last = c.LastTransitionTime.Time
		}
	}
	if last.IsZero() {
		return r.facts.now
	}
	return last
}
