package mandate

import (
	"slices"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// subscriptionFacts is what is known of the webhook subscription of the application. The application is known, and the
// status shows it: a subscription delays nothing else.
type subscriptionFacts struct {
	// wanted: the service asks for it, and the status does not say how it ended. again: it does, and a person asks for
	// another look, or the service was edited.
	wanted, again bool
	readHere      bool // the last read of the application was by way of this connection
	// From the record.
	started bool // one was started that may exist, unless it is refused
	refused bool
	// mine: this process started it, and has not sent it. seen is when, or when this process first saw it.
	mine bool
	seen time.Time

	// accepted: the service makes it later. While that may be, none is started again.
	accepted bool

	checked bool // the live Mandate and service are as this reconciliation knows them, and there is a token
	// refusedNow: the service refused it in this reconciliation.
	refusedNow bool
	lookup     subscriptionLookup
	// witness: the service shows, or may show, another subscription that this process made.
	witness bool
	// believable: it shows that one, so what it does not show is not there.
	believable, tested bool
	// ended is how it ended; "" if that is not known.
	ended  v1alpha1.SubscriptionState
	paused bool // nothing more is done for it in this reconciliation
}

// subscriptionLookup is what the service shows of the subscriptions of an application.
type subscriptionLookup int

const (
	notLooked subscriptionLookup = iota
	lookupFound
	lookupUnclear // it shows something else, or not everything
	lookupNone    // it says that there is none, in a way that could mean something else
	lookupListed  // it shows all there are
)

// subscribesAfter are the reasons of a reconciliation that has nothing else to do, and may subscribe the application.
var subscribesAfter = []string{reasonNotDue, v1alpha1.ReasonAccepted, v1alpha1.ReasonIndividualsUnmatched}

// decideSubscription subscribes an application after everything else is done; no step if there is nothing to do.
//
// What it promises: stepSubscribe only for a subscription that this process has recorded and not sent, and that nobody
// takes for lost yet. After one that may have been sent, none is recorded without proof that it created nothing.
func decideSubscription(f facts, reason string) step {
	s, r := f.subscription, f.record
	// Too late is when another operator may soon take this subscription for a lost one.
	inTime := f.now.Sub(s.seen) <= f.settleDelay/2
	switch {
	case !s.wanted, s.ended != "", s.paused, !f.service.Ready, f.service.Deleting, callsRemain(f),
		!slices.Contains(subscribesAfter, reason), f.final(), f.archive, f.application.archived, !s.readHere:
		return ""
	case s.refusedNow && s.lookup == notLooked: // because it exists, perhaps
		return stepFindSubscription
	case s.refusedNow && s.lookup != lookupFound:
		return stepRefuseSubscription
	case subscriptionState(f) != "" && !s.again:
		return ""
	case s.mine && inTime && !s.checked:
		return stepCheckSubscription
	case s.mine && inTime:
		return stepSubscribe
	case !r.read:
		return stepReadSubscription
	case r.id != f.id, r.otherURL, r.otherAccount, !r.sent:
		return ""
	case !s.started, s.mine, s.refused:
		return stepStartSubscription
	default:
		return decideLostSubscription(f)
	}
}

// decideLostSubscription looks for a subscription whose answer nobody has. It is started again only if the service
// shows that it does not exist: in a list of all, or in another way if the service shows one that exists.
func decideLostSubscription(f facts) step {
	s := f.subscription
	switch {
	case f.now.Before(s.seen.Add(f.settleDelay)):
		return ""
	case s.lookup == notLooked:
		return stepFindSubscription
	case s.accepted:
		return ""
	case s.lookup == lookupListed, s.lookup == lookupNone && s.believable:
		return stepStartSubscription
	case s.lookup == lookupNone && s.witness && !s.tested:
		return stepTestSubscription
	default:
		return ""
	}
}

// subscriptionState is what the status says of the subscription; "" if that is not known yet.
func subscriptionState(f facts) v1alpha1.SubscriptionState {
	s, r := f.subscription, f.record
	known := s.wanted && r.read && r.id == f.id && !r.otherURL && !s.mine
	switch {
	case s.ended != "":
		return s.ended
	case known && !r.sent:
		return v1alpha1.SubscriptionNotCreated
	case known && s.refused && !s.refusedNow:
		return v1alpha1.SubscriptionRefused
	case known && s.started && s.lookup != notLooked && decideLostSubscription(f) == "":
		return v1alpha1.SubscriptionOutcomeUnknown
	default:
		return ""
	}
}
