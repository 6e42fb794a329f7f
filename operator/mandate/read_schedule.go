package mandate

import (
	"hash/fnv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
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
	inReview := r.session.Connection.States.Stage(state) == idv.StageInReview
	unsubscribed := r.session.Connection.Subscriptions != nil && r.mandate.Status.Subscription == "" &&
		r.facts.now.Sub(r.facts.createdTime) < time.Hour
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
	if last := r.mandate.Status.LastReadTime; last != nil && last.Add(interval).After(now) {
		return last.Add(interval)
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
	request, last := engine.ReconcileRequest(r.mandate), r.mandate.Status.LastReadTime
	sent := engine.ParseNotificationRequest(request).Time
	return !sent.IsZero() && request != r.mandate.Status.LastHandledReconcileAt && (last == nil || !last.After(sent))
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
