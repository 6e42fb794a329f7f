package mandate

import (
	"cmp"
	"slices"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/ledger"
)

// An order is a call on an application that the spec asks for. What the log says of it decides whether it is made now.

// decide makes the calls on the application that the spec asks for, one after the other.
func (a actFacts) decide(f facts) decision {
	if lost := decideLost(f, acceptedReason(f)); lost.Step != "" {
		return lost
	}
	return decideOrder(f)
}

// decideOrder begins the next call that the spec asks for.
func decideOrder(f facts) decision {
	switch order := nextOrder(f); {
	case order == nil:
		return waitFor(acceptedReason(f), ruleRemains(f))
	case !f.record.read():
		return decision{Step: stepReadRecord}
	case !f.service.Ready: // it was found again while writes fail
		return wait(v1alpha1.ReasonIdentityServiceNotReady)
	case f.application.reference != referenceMatched && f.record.otherURL:
		return wait(v1alpha1.ReasonIdentityServiceMismatch) // this service shows no references
	case f.record.full:
		return wait(v1alpha1.ReasonLogFull)
	default:
		return decision{Step: stepBegin}
	}
}

// acceptedReason is why nothing is to be done now for an application that exists.
func acceptedReason(f facts) string {
	reason := unblockedReason(f)
	if reason == v1alpha1.ReasonAccepted && f.application.read() && !f.final() {
		return cmp.Or(blockedReason(f), reason)
	}
	return reason
}

func unblockedReason(f facts) string {
	a := f.application
	mayLag := ledger.Within(lagAllowance, f.createdTime, f.now) && a.individuals == individualsFewer
	switch {
	case a.read() && a.unmatched() && !mayLag:
		return v1alpha1.ReasonIndividualsUnmatched
	case f.act.archive && a.read() && !a.archived:
		return v1alpha1.ReasonNotArchived
	default:
		return v1alpha1.ReasonAccepted
	}
}

// orderState is what the log says of an order.
type orderState int

const (
	orderReady     orderState = iota // it can begin, or be sent again
	orderUnderWay                    // a request may be under way
	orderEnded                       // it was made, and only a read shows more: for a day
	orderRefused                     // sent again on request, or when another order comes
	orderForbidden                   // likewise
	orderUnknown                     // whether it was made, a person has to find out
)

// openCallRequeue is how soon a call that is under way is looked for again: usually, it ends within seconds.
const openCallRequeue = 5 * time.Second

// retriedAlone are the kinds that are sent again after a refusal though nothing has changed: the application may have.
var retriedAlone = []v1alpha1.CallKind{v1alpha1.CallArchive, v1alpha1.CallDelete}

// sameOrder reports whether two calls are one: about the same evidence.
func sameOrder(a, b *v1alpha1.Call) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.Individual == b.Individual && a.Evidence == b.Evidence
}

// made is the entry of an order; nil if there is none.
func (r *recordFacts) made(order *v1alpha1.Call) *v1alpha1.Call {
	return r.last(func(c *v1alpha1.Call) bool { return sameOrder(c, order) })
}

// wasMade reports whether an order was made so long ago that only a digest of it is left.
func (r *recordFacts) wasMade(order *v1alpha1.Call) bool {
	return ledger.WasMade(&v1alpha1.ApplicationRecord{Spec: v1alpha1.ApplicationRecordSpec{Earlier: r.earlier}}, order)
}

// last is the last call that is so; nil if there is none.
func (r *recordFacts) last(is func(*v1alpha1.Call) bool) *v1alpha1.Call {
	for i := len(r.calls) - 1; i >= 0; i-- {
		if is(&r.calls[i]) {
			return &r.calls[i]
		}
	}
	return nil
}

// open is the call whose result is open; nil if there is none. There is one at most, but for a create.
func (r *recordFacts) open() *v1alpha1.Call {
	return r.last(func(c *v1alpha1.Call) bool { return c.Result == "" && c.Kind != v1alpha1.CallCreate })
}

// mayBeUnderWay reports whether another process may still send the open call.
func (f *facts) mayBeUnderWay() bool { return f.now.Before(f.record.observed.Add(f.settleDelay)) }

// stateOf is what the log says of an order that the application does not show.
func stateOf(f facts, order *v1alpha1.Call) orderState {
	if f.record.open() != nil && f.mayBeUnderWay() {
		return orderUnderWay // whatever it is: one call at a time
	}
	entry, other := f.record.made(order), awaitsOther(f, order)
	switch {
	case other != nil && !ledger.IsBelieved(other.StartedTime.Time, f.now):
		return orderUnknown
	case other != nil, entry == nil && f.record.wasMade(order):
		return orderEnded
	case entry != nil && slices.Contains(endResults, entry.Result):
		if ledger.Within(acceptedPeriod, entry.StartedTime.Time, f.now) {
			return orderEnded
		}
		return orderUnknown
	case entry == nil, entry.Result == v1alpha1.CallNotSent:
		return orderReady
	default:
		if entry.Sends < ledger.MaxSends(entry.Kind) {
			return stateOfAnother(f, entry)
		}
		return orderUnknown
	}
}

// endResults are those of calls that are never sent again.
var endResults = []v1alpha1.CallResult{v1alpha1.CallDone, v1alpha1.CallAccepted}

// stateOfAnother is what the log says of one more request of a call that may not have been carried out so far. If the
// last one was refused, it waits, whatever became of those before.
func stateOfAnother(f facts, entry *v1alpha1.Call) orderState {
	switch {
	case f.requested, slices.Contains(retriedAlone, entry.Kind) && !f.now.Before(ledger.RetryTime(nil, entry, f.now)):
		return orderReady
	case entry.Result == v1alpha1.CallForbidden, entry.Answer == v1alpha1.AnswerForbidden:
		return orderForbidden
	case entry.Result == v1alpha1.CallRefused, entry.Answer == v1alpha1.AnswerRefused:
		return orderRefused
	default:
		return orderReady // it was lost, and the application does not show it
	}
}

// awaitsOther is another call that was sent, decides the same, and may still be carried out; nil if there is none. As
// long as it may, nobody can tell what an order would decide, whatever evidence it names.
func awaitsOther(f facts, order *v1alpha1.Call) *v1alpha1.Call {
	return f.record.last(func(c *v1alpha1.Call) bool {
		return c.Sends > 0 && !sameOrder(c, order) && f.application.decideSame(c, order) &&
			f.now.Sub(c.StartedTime.Time) < acceptedPeriod
	})
}

var (
	decisionKinds = []v1alpha1.CallKind{v1alpha1.CallComplete, v1alpha1.CallReject}
	reviewKinds   = []v1alpha1.CallKind{v1alpha1.CallAcceptCheck, v1alpha1.CallRejectCheck}
)

// decideSame reports whether two calls decide the application, or a check. A check that has changed may show what
// became of the first one, and then the other is about that.
func (a *applicationFacts) decideSame(sent, next *v1alpha1.Call) bool {
	if slices.Contains(decisionKinds, sent.Kind) {
		return slices.Contains(decisionKinds, next.Kind)
	}
	shows := sent.Result == v1alpha1.CallDone || a.decidedChecks[sent.Check] == sent.Kind
	review := slices.Contains(reviewKinds, sent.Kind) && slices.Contains(reviewKinds, next.Kind)
	return review && sent.Check == next.Check && (sent.Evidence == next.Evidence || !shows)
}

// archiveOrder is what spec.archived asks for.
func archiveOrder() *v1alpha1.Call { return &v1alpha1.Call{Kind: v1alpha1.CallArchive} }

// decisionOrder is what spec.decision asks for. By a rule, it is about what shows now.
func decisionOrder(f facts) *v1alpha1.Call {
	order := &v1alpha1.Call{Kind: v1alpha1.CallComplete, Evidence: f.act.decision.Evidence}
	if f.act.decision.Outcome == v1alpha1.DecisionReject {
		order.Kind = v1alpha1.CallReject
	}
	if f.act.decision.When != "" {
		order.Evidence = f.application.evidence.shown
	}
	return order
}

// nextOrder is the call on the application that can be made now; nil if there is none. On request, archiving comes
// last: it is tried again by itself, and the others are not.
func nextOrder(f facts) *v1alpha1.Call {
	archive := f.act.archive && !f.application.archived && stateOf(f, archiveOrder()) == orderReady
	review := nextReview(f)
	switch {
	case f.deletion.requested:
		return f.deletion.order()
	case archive && !f.requested:
		return archiveOrder()
	case review != nil:
		return review
	case decisionReason(f) == "":
		return decisionOrder(f)
	case archive:
		return archiveOrder()
	default:
		return nil
	}
}

// nextReview is that of spec.checkReviews which can be sent now; nil if there is none.
func nextReview(f facts) *v1alpha1.Call {
	if f.application.unmatched() || f.final() {
		return nil
	}
	for i := range f.application.reviews {
		if review := &f.application.reviews[i]; stateOf(f, review) == orderReady {
			return review
		}
	}
	return nil
}

// reviewRefused reports whether one of spec.checkReviews needs a person.
func reviewRefused(f facts) bool {
	return slices.ContainsFunc(f.application.reviews, func(review v1alpha1.Call) bool {
		return needsPerson(stateOf(f, &review))
	})
}

func needsPerson(state orderState) bool {
	return slices.Contains([]orderState{orderRefused, orderForbidden, orderUnknown}, state)
}

// isShown reports whether the application shows that a call was carried out.
func isShown(f facts, call *v1alpha1.Call) bool {
	a := f.application
	switch call.Kind {
	case v1alpha1.CallComplete:
		return a.read() && a.stage == lifecycle.Completed
	case v1alpha1.CallReject:
		return a.read() && a.stage == lifecycle.Rejected
	case v1alpha1.CallArchive:
		return a.read() && a.archived
	case v1alpha1.CallDelete: // after a lost answer, a 404 says no more than at any other time
		confirmed := a.missing() && !a.unproven() && !f.record.otherURL && !f.otherAccount()
		return confirmed || a.read() && a.stage == lifecycle.Closed
	case v1alpha1.CallAcceptCheck, v1alpha1.CallRejectCheck:
		return a.read() && a.reviewShown
	default:
		return false
	}
}

// decideLost is for a call of a process that has ended: no step if there is none, or if it is sent again.
func decideLost(f facts, reason string) decision {
	open := f.record.open()
	switch {
	case open == nil:
		return decision{}
	case f.mayBeUnderWay():
		passed := f.now.Sub(f.record.observed)
		return waitFor(reason, min(max(openCallRequeue, passed), f.settleDelay-passed))
	case !isShown(f, open) && isOrdered(f, open) && open.Sends < ledger.MaxSends(open.Kind):
		return decision{}
	default:
		return decision{Step: stepResolveLost}
	}
}

// isOrdered reports whether a call is what the spec asks for next.
func isOrdered(f facts, call *v1alpha1.Call) bool {
	next := nextOrder(f)
	return next != nil && sameOrder(next, call)
}

// decisionBlocked are the reasons for which spec.decision waits for a person.
var decisionBlocked = []string{
	v1alpha1.ReasonDecisionOutdated, v1alpha1.ReasonDecisionRefused, v1alpha1.ReasonDecisionForbidden,
	v1alpha1.ReasonDecisionUnknown, v1alpha1.ReasonStateUnknown,
}

// decisionReason is why spec.decision is not sent now; "" if it is. It is sent only about evidence that its author has
// named, or by its rule, and never while a review of the same spec is not done.
func decisionReason(f facts) string {
	a, wanted := f.application, f.act.decision
	switch {
	case wanted.Outcome == "":
		return v1alpha1.ReasonNoDecision
	case f.final(), a.unmatched():
		return v1alpha1.ReasonDecisionWaiting
	case wanted.When == "" && !a.evidence.holds(wanted.Evidence):
		return v1alpha1.ReasonDecisionOutdated
	case len(a.reviews) > 0, a.reviewOutdated, awaitsReset(f):
		return v1alpha1.ReasonDecisionWaiting
	}
	switch stateOfDecision(f) {
	case orderRefused:
		return v1alpha1.ReasonDecisionRefused
	case orderForbidden:
		return v1alpha1.ReasonDecisionForbidden
	case orderUnknown:
		return v1alpha1.ReasonDecisionUnknown
	case orderUnderWay, orderEnded:
		return v1alpha1.ReasonDecisionWaiting
	}
	switch {
	case a.stage == lifecycle.Unknown && (wanted.When == "" || a.evidence.checks == checksPassed):
		return v1alpha1.ReasonStateUnknown
	case wanted.When != "" && !ruleHolds(f):
		return v1alpha1.ReasonDecisionWaiting
	case a.stage == lifecycle.Open && a.evidence.checks >= checksSettled && isHeld(f):
		return v1alpha1.ReasonStateUnknown
	case a.stage != lifecycle.InReview:
		return v1alpha1.ReasonDecisionWaiting
	default:
		return ""
	}
}

// awaitsReset reports whether a reset may still be carried out: the round that a decision is about would end with it.
func awaitsReset(f facts) bool {
	return !f.application.resetSent.IsZero() && f.now.Sub(f.application.resetSent) < acceptedPeriod
}

// stateOfDecision is what the log says of spec.decision. By a rule, it is one decision, whatever shows: after a request
// that may have been carried out, only a person sends it about other evidence, by naming that. A record that was
// restored may lack such a request.
func stateOfDecision(f facts) orderState {
	order := decisionOrder(f)
	state := stateOf(f, order)
	before := f.record.last(func(c *v1alpha1.Call) bool {
		return c.Kind == order.Kind && c.Sends > 0 && !sameOrder(c, order)
	})
	if state == orderReady && f.act.decision.When != "" && (before != nil || f.record.restored) {
		return orderUnknown
	}
	return state
}

// ruleHolds reports whether spec.decision.when is so, and was when the application was read some time before: checks
// may come one after the other.
func ruleHolds(f facts) bool {
	return f.application.evidence.checks == checksPassed && isHeld(f)
}

// isHeld reports whether the evidence has been as it is for long enough.
func isHeld(f facts) bool { return f.now.Sub(f.application.evidence.since) >= f.act.ruleDelay }

// ruleRemains is for how long the evidence still has to stay as it is; 0 if nothing waits for that.
func ruleRemains(f facts) time.Duration {
	e, unknown := f.application.evidence, f.application.stage == lifecycle.Unknown
	if f.act.decision.Outcome == "" || f.final() || !f.application.read() || e.checks < checksSettled || unknown {
		return 0
	}
	return max(0, f.act.ruleDelay-f.now.Sub(e.since))
}

// blockedReason is why the spec is not carried out before a person acts; "" if it is, or waits for others.
func blockedReason(f facts) string {
	switch {
	case reviewRefused(f):
		return v1alpha1.ReasonReviewRefused
	case f.application.reviewOutdated:
		return v1alpha1.ReasonReviewOutdated
	}
	if reason := decisionReason(f); slices.Contains(decisionBlocked, reason) {
		return reason
	}
	return ""
}

// deletionFacts is what the end of the Mandate means for the application.
type deletionFacts struct {
	policy     v1alpha1.DeletionPolicy
	finalizer  bool      // ours is on the Mandate, which cannot go before it is taken off
	requested  bool      // the Mandate is being deleted
	giveUpTime time.Time // when it is let go, whatever the service says
	refused    bool      // by the API server, to switch the finalizer: once in a reconciliation
}

// wantsFinalizer: without one, the deletion would be over before anything can be done.
func (d deletionFacts) wantsFinalizer() bool {
	return d.policy == v1alpha1.DeletionPolicyArchive || d.policy == v1alpha1.DeletionPolicyDelete
}

// decide switches the finalizer, and carries out deletionPolicy once the Mandate is being deleted.
func (d deletionFacts) decide(f facts) decision {
	switch {
	case d.requested:
		return d.decideRequested(f)
	case f.failureReason == "" && d.wantsFinalizer() != d.finalizer:
		return decision{Step: stepFinalizer}
	}
	return decision{}
}

// decideRequested does what deletionPolicy says before the Mandate goes. A Mandate without the finalizer is as good as
// gone. The IdentityService may have been pointed at another service since, where the id is nothing, or another
// application: the ledger says which service it was, and the application is read before anything is done to it. A
// service that has just moved shows the reference.
func (d deletionFacts) decideRequested(f facts) decision {
	a, r := f.application, f.record
	switch {
	case !d.finalizer:
		return wait(reasonDeleting)
	case f.failureReason == reasonStaleCache: // the API server would refuse to remove the finalizer
		return wait(reasonStaleCache)
	case !d.refused && (!d.wantsFinalizer() || f.observe.vanished || !f.now.Before(d.giveUpTime)):
		return decision{Step: stepFinalizer}
	case d.refused, f.failureReason != "":
		return waitFor(v1alpha1.ReasonDeletionWaiting, f.retryAfter)
	case !r.read():
		return decision{Step: stepReadRecord}
	case f.id == 0 && r.id == 0:
		return decision{Step: stepFinalizer} // there is no application, or none that can be named
	case a.missing():
		return decideDeletedMissing(f)
	case f.service.UnusableReason() != "":
		return wait(v1alpha1.ReasonDeletionWaiting)
	case f.id == 0:
		return wait(v1alpha1.ReasonDeletionRefused)
	case !a.read():
		return decision{Step: stepRead}
	case f.otherAccount() && (a.reference != referenceOther || !r.otherURL):
		return wait(f.accountReason())
	case a.reference == referenceOther, a.differs, (r.otherURL || forgotten(f)) && a.reference != referenceMatched:
		return wait(v1alpha1.ReasonDeletionRefused)
	}
	if lost := decideLost(f, v1alpha1.ReasonDeletionWaiting); lost.Step != "" {
		return lost
	}
	return d.decideOrder(f)
}

// decideDeletedMissing is for a Mandate in deletion whose application the service does not show. That is believed if
// the service has said that it deletes it, or by the service's own word.
func decideDeletedMissing(f facts) decision {
	if lost := decideLost(f, v1alpha1.ReasonDeletionWaiting); lost.Step != "" {
		return lost // the log says what became of it before the Mandate goes
	}
	switch a, r := f.application, f.record; {
	case wasDeleted(f), f.outcome == v1alpha1.OutcomeDeleted: // another look says so, too
		return decision{Step: stepFinalizer}
	case lags(f):
		return waitFor(v1alpha1.ReasonDeletionWaiting, lagRequeue)
	case a.unproven():
		return wait(v1alpha1.ReasonDeletionWaiting)
	case mayCome(f):
		return waitFor(v1alpha1.ReasonDeletionWaiting, time.Minute)
	case r.otherURL, forgotten(f):
		return wait(v1alpha1.ReasonDeletionRefused)
	case f.otherAccount():
		return wait(f.accountReason())
	default:
		return decision{Step: stepFinalizer}
	}
}

// forgotten: no record says any more which service and account have the application, and this process does not know it.
func forgotten(f facts) bool { return f.record.lookup == recordMissing && !f.observe.ownAccount }

// decideOrder sends what deletionPolicy says, and waits until the service shows it: what an answer says may
// never come true.
func (d deletionFacts) decideOrder(f facts) decision {
	order := d.order()
	switch state := stateOf(f, order); {
	case isShown(f, order):
		return decision{Step: stepFinalizer}
	case f.record.full:
		return wait(v1alpha1.ReasonDeletionRefused)
	case state == orderReady:
		return decision{Step: stepBegin}
	case state == orderRefused || state == orderForbidden:
		return wait(v1alpha1.ReasonDeletionRefused)
	default:
		return wait(v1alpha1.ReasonDeletionWaiting)
	}
}

// carriedOut reports whether nothing is left to do at the service: it shows that, or the application is gone.
func (d deletionFacts) carriedOut(f facts) bool {
	return f.observe.vanished || f.application.missing() || isShown(f, d.order())
}

// order is what deletionPolicy asks for.
func (d deletionFacts) order() *v1alpha1.Call {
	if d.policy == v1alpha1.DeletionPolicyArchive {
		return archiveOrder()
	}
	return &v1alpha1.Call{Kind: v1alpha1.CallDelete}
}
