package mandate

import (
	"slices"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// subscriptionFacts is what is known of the webhook subscription of the application. The application is known, and the
// status shows it: a subscription delays nothing else.
type subscriptionFacts struct {
	// wanted: the service asks for it, and the status does not say how it ended. again: it does, and a person asks for
	// another look, or the service was edited.
	wanted, again bool
	begun         bool // it was, in this reconciliation
	readHere      bool // the last read of the application was by way of this connection
	lookup        subscriptionLookup
	// ended is how it ended; "" if that is not known.
	ended  v1alpha1.SubscriptionState
	paused bool // nothing more is done for it in this reconciliation
}

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

// decideSubscription subscribes an application after everything else is done; no step if there is nothing to do.
func decideSubscription(f facts, reason string) step {
	s := f.subscription
	switch {
	case !s.wanted, s.ended != "", s.paused, !f.service.Ready, f.service.Deleting, callsRemain(f),
		!slices.Contains(subscribesAfter, reason), f.final(), f.archive, f.application.archived, !s.readHere:
		return ""
	case !f.record.read:
		return stepReadRecord
	case f.record.id != f.id, f.record.otherURL, f.record.otherAccount, !f.record.sent:
		return ""
	default:
		return nextSubscriptionStep(f)
	}
}

// nextSubscriptionStep sends the subscription once. One whose answer is unclear is looked up once, and so is one that
// was refused: because it exists, perhaps. Without it, the application is polled.
func nextSubscriptionStep(f facts) step {
	entry, open := f.record.made(subscribeOrder()), f.record.open()
	s := f.subscription
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
	case s.again && s.lookup != lookupFound && entry.Sends < ledger.MaxSends(entry.Kind) && !s.begun:
		return stepBeginSubscription
	default:
		return ""
	}
}

// mayBeDone are the results of calls that may have been carried out, or will be.
var mayBeDone = []v1alpha1.CallResult{v1alpha1.CallAccepted, v1alpha1.CallUnknown}

// subscriptionState is what the status says of the subscription; "" if that is not known yet.
func subscriptionState(f facts) v1alpha1.SubscriptionState {
	s, r := f.subscription, f.record
	if s.ended != "" {
		return s.ended
	}
	if !s.wanted || !r.read || r.id != f.id || r.otherURL {
		return ""
	}
	entry := r.made(subscribeOrder())
	switch {
	case !r.sent:
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
