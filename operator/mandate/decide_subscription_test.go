package mandate

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/explore"
)

// subscriptions are of a Mandate that is Ready, whose application was created and read here, and is to be subscribed.
func subscriptions() map[string]decideCase {
	of := func(change func(*facts)) facts {
		return newMandate(func(f *facts) {
			f.id, f.bound = 7, true
			f.readAt = now.Add(time.Hour)
			f.record = sent(time.Hour, func(r *recordFacts) { r.id = 7 })
			f.subscription = subscriptionFacts{wanted: true, readHere: true}
			change(f)
		})
	}
	started := func(ago time.Duration, change func(*subscriptionFacts)) facts {
		return of(func(f *facts) {
			f.subscription.started, f.subscription.seen = true, now.Add(-ago)
			change(&f.subscription)
		})
	}
	later := waitFor(reasonNotDue, time.Hour)
	return map[string]decideCase{
		"an application that was never subscribed": {
			why:   "the service was edited since it was created",
			facts: of(func(*facts) {}),
			want:  decision{Step: stepStartSubscription},
		},
		"a subscription that this process has recorded": {
			facts: started(time.Second, func(s *subscriptionFacts) { s.mine = true }),
			want:  decision{Step: stepCheckSubscription},
		},
		"a subscription that was checked": {
			facts: started(time.Second, func(s *subscriptionFacts) { s.mine, s.checked = true, true }),
			want:  decision{Step: stepSubscribe},
		},
		"a subscription that was recorded too long ago": {
			facts: started(time.Minute, func(s *subscriptionFacts) { s.mine, s.checked = true, true }),
			want:  decision{Step: stepStartSubscription},
		},
		"a subscription of another process": {
			facts: started(time.Minute, func(*subscriptionFacts) {}),
			want:  later,
		},
		"a subscription that is lost": {
			facts: started(2*time.Minute, func(*subscriptionFacts) {}),
			want:  decision{Step: stepFindSubscription},
		},
		"a list without it": {
			facts: started(2*time.Minute, func(s *subscriptionFacts) { s.lookup = lookupListed }),
			want:  decision{Step: stepStartSubscription},
		},
		"a 404 about it": {
			facts: started(2*time.Minute, func(s *subscriptionFacts) { s.lookup = lookupNone }),
			want:  later,
		},
		"a 404 about it, and there is another one": {
			facts: started(2*time.Minute, func(s *subscriptionFacts) { s.lookup, s.witness = lookupNone, true }),
			want:  decision{Step: stepTestSubscription},
		},
		"a 404 about it of a service that shows another one": {
			facts: started(2*time.Minute, func(s *subscriptionFacts) { s.lookup, s.believable = lookupNone, true }),
			want:  decision{Step: stepStartSubscription},
		},
		"a refusal comes with a look whether it exists": {
			facts: started(time.Second, func(s *subscriptionFacts) { s.refusedNow = true }),
			want:  decision{Step: stepFindSubscription},
		},
		"a refusal": {
			facts: started(time.Second, func(s *subscriptionFacts) { s.refusedNow, s.lookup = true, lookupNone }),
			want:  decision{Step: stepRefuseSubscription},
		},
		"a refusal of an earlier Mandate of the name": {
			facts: started(time.Hour, func(s *subscriptionFacts) { s.refused = true }),
			want:  later,
		},
		"a refusal, and somebody asks": {
			facts: started(time.Hour, func(s *subscriptionFacts) { s.refused, s.again = true, true }),
			want:  decision{Step: stepStartSubscription},
		},
		"an application that somebody else created": {
			facts: of(func(f *facts) { f.record.sent = false }),
			want:  later,
		},
		"an application that somebody else created, and somebody asks": {
			facts: of(func(f *facts) { f.record.sent, f.subscription.again = false, true }),
			want:  later,
		},
		"an application that was not read here": {
			facts: of(func(f *facts) { f.subscription.readHere = false }),
			want:  later,
		},
		"a read that is due comes first": {
			facts: of(func(f *facts) { f.readAt = time.Time{} }),
			want:  decision{Step: stepRead},
		},
		"a subscription that waits": {
			facts: of(func(f *facts) { f.subscription.paused = true }),
			want:  later,
		},
		"a suspended Mandate": {
			facts: of(func(f *facts) { f.suspended = true }),
			want:  wait(v1alpha1.ReasonSuspended),
		},
		"a Mandate that is being deleted": {
			facts: of(func(f *facts) { f.deletion.requested = true }),
			want:  wait(reasonDeleting),
		},
		"an application that is to be archived": {
			facts: of(func(f *facts) {
				f.archive, f.readAt = true, now.Add(time.Hour)
			}),
			want: later,
		},
	}
}

func TestSubscriptionState(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		of   string
		want v1alpha1.SubscriptionState
	}{
		"created by somebody else":            {"an application that somebody else created", v1alpha1.SubscriptionNotCreated},
		"it may exist":                        {"a 404 about it", v1alpha1.SubscriptionOutcomeUnknown},
		"it may exist, and that can be known": {"a 404 about it, and there is another one", ""},
		"it does not exist":                   {"a list without it", ""},
		"not looked for yet":                  {"a subscription of another process", ""},
		"refused": {
			"a refusal of an earlier Mandate of the name", v1alpha1.SubscriptionRefused,
		},
	} {
		if got := subscriptionState(subscriptions()[test.of].facts); got != test.want {
			t.Errorf("%s: the status says %q, want %q", name, got, test.want)
		}
	}
}

// TestDecideSubscribesLast holds what decideSubscription promises against all kinds of facts, possible and impossible.
func TestDecideSubscribesLast(t *testing.T) {
	usual := usualFacts(subscriptions())
	explore.Draw(t, subscribes, func(t *rapid.T) step {
		f := anyFacts(t, usual)
		without, s := f, f.subscription
		without.subscription = subscriptionFacts{}
		usual := decide(without)
		switch next := decide(f); next.Step {
		case usual.Step:
		case stepSubscribe:
			if !s.mine || !s.checked || f.now.Sub(s.seen) > f.settleDelay/2 || !s.readHere {
				t.Fatalf("sends a subscription that may be another operator's, or was not checked: %+v", f)
			}
		case stepStartSubscription:
			lost := s.started && !s.mine && !s.refused
			absent := s.lookup == lookupListed || s.lookup == lookupNone && s.believable
			if lost && (!absent || f.now.Before(s.seen.Add(f.settleDelay))) || !f.record.sent {
				t.Fatalf("starts a subscription that could be a second one: %+v", f)
			}
		}
		if next := decide(f); usual.Step != stepWait && next != usual {
			t.Fatalf("%s before %s: %+v", next.Step, usual.Step, f)
		}
		if next := decide(f); next.Step != stepWait && next != usual &&
			(f.suspended || f.deletion.requested || f.outcome != "" || !f.service.Ready) {
			t.Fatalf("%s: %+v", next.Step, f)
		}
		return decide(f).Step
	})
}
