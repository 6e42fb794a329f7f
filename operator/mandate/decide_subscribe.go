package mandate

import (
	"slices"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// subscriptionFacts is what is known of the webhook subscription of the application.
type subscriptionFacts struct {
	wish   subscriptionWish
	phase  subscriptionPhase
	lookup subscriptionLookup
	// readHere: the last read of the application was by way of this connection.
	readHere bool
	// ended is how it ended; "" if that is not known, or is to change.
	ended v1alpha1.SubscriptionState
}

// subscriptionWish is whether there is to be a subscription: the service asks for it, the status shows the application,
// and does not say how the subscription ended.
type subscriptionWish int

const (
	notWanted   subscriptionWish = iota
	wanted                       // for the first time
	wantedAgain                  // it was refused, or may exist: a person asks for another look, or the service was edited
)

// subscriptionPhase is how far this reconciliation has come with it.
type subscriptionPhase int

const (
	subscriptionIdle   subscriptionPhase = iota
	subscriptionActive                   // it has a slot for requests about it
	subscriptionBegun                    // it has begun to send it, which it does once
	subscriptionPaused                   // nothing more is done: something failed, or there is no slot
)

// subscriptionLookup is what the service shows of the subscriptions of an application.
type subscriptionLookup int

const (
	notLooked subscriptionLookup = iota
	lookupFound
	lookupUnclear // it does not show it, which need not mean that there is none
)

// subscribesAfter are the reasons of a reconciliation that has nothing else to do, and may subscribe the application.
var subscribesAfter = []string{reasonNotDue, v1alpha1.ReasonAccepted, v1alpha1.ReasonIndividualsUnmatched}

func subscribeOrder() *v1alpha1.Call { return &v1alpha1.Call{Kind: v1alpha1.CallSubscribe} }

// decide subscribes an application after everything else is done; no step if there is nothing to do. The slot for
// that comes before the record: a Mandate that is woken up for it and takes another one first would lose it, again and
// again.
func (s subscriptionFacts) decide(f facts, reason string) step {
	next := s.next(f, reason)
	if s.phase == subscriptionIdle && slices.Contains(subscribes, next) {
		return stepAcquireSlot
	}
	return next
}

func (s subscriptionFacts) next(f facts, reason string) step {
	switch {
	case s.wish == notWanted, s.phase == subscriptionPaused, !f.service.Ready, f.service.Deleting, callsRemain(f),
		!slices.Contains(subscribesAfter, reason), f.final(), f.act.archive, f.application.archived, !s.readHere:
		return ""
	case !f.record.read():
		return stepReadRecord
	case f.record.id != f.id, f.record.otherURL, f.record.account == accountOther, !f.record.sent():
		return ""
	default:
		return s.nextRequest(f)
	}
}

// nextRequest sends the subscription once. One whose answer is unclear is looked up once, and so is one that was
// refused: because it exists, perhaps. Without it, the application is polled.
func (s subscriptionFacts) nextRequest(f facts) step {
	entry, open := f.record.made(subscribeOrder()), f.record.open()
	switch {
	case open != nil && f.mayBeUnderWay():
		return ""
	case open != nil:
		return stepResolveLost
	case entry == nil && (f.record.full || f.record.wasMade(subscribeOrder())):
		return ""
	case entry == nil, entry.Result == v1alpha1.CallNotSent:
		return stepBeginSubscription
	case entry.Result == v1alpha1.CallDone:
		return ""
	case s.lookup == notLooked:
		return stepFindSubscription
	case s.lookup == lookupFound && slices.Contains(mayBeDone, entry.Result):
		return stepResolveSubscription
	case s.wish == wantedAgain && s.lookup != lookupFound && entry.Sends < ledger.MaxSends(entry.Kind) &&
		s.phase != subscriptionBegun:
		return stepBeginSubscription
	default:
		return ""
	}
}

// mayBeDone are the results of calls that may have been carried out, or will be.
var mayBeDone = []v1alpha1.CallResult{v1alpha1.CallAccepted, v1alpha1.CallUnknown}

// state is what the status says of the subscription; "" if that is not known yet.
func (s subscriptionFacts) state(f facts) v1alpha1.SubscriptionState {
	r := f.record
	if s.ended != "" {
		return s.ended
	}
	if s.wish == notWanted || !r.read() || r.id != f.id || r.otherURL {
		return ""
	}
	entry := r.made(subscribeOrder())
	switch {
	case !r.sent():
		return v1alpha1.SubscriptionNotCreated
	case entry == nil && r.wasMade(subscribeOrder()):
		return v1alpha1.SubscriptionOutcomeUnknown
	case entry == nil:
		return ""
	case entry.Result == v1alpha1.CallDone, s.lookup == lookupFound:
		return v1alpha1.SubscriptionSubscribed
	case s.lookup == notLooked:
		return ""
	case slices.Contains(mayBeDone, entry.Result):
		return v1alpha1.SubscriptionOutcomeUnknown
	case entry.Sends == 0 && entry.Result != v1alpha1.CallNotSent:
		return v1alpha1.SubscriptionRefused
	default:
		return ""
	}
}
