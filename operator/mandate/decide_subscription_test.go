package mandate

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/explore"
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
	// subscribed has the subscription in the log.
	subscribed := func(result v1alpha1.CallResult, sends int32, changes ...func(*facts)) facts {
		return of(func(f *facts) {
			f.record.calls = logged(subscribeOrder(), result, sends).calls
			f.record.observed = now.Add(-time.Hour)
			for _, change := range changes {
				change(f)
			}
		})
	}
	sending := func(phase attemptPhase) facts {
		return of(func(f *facts) { f.attempt = calling(v1alpha1.CallSubscribe, phase) })
	}
	looked := func(found subscriptionLookup) func(*facts) {
		return func(f *facts) { f.subscription.lookup = found }
	}
	again := func(f *facts) { f.subscription.again = true }
	begin, find := decision{Step: stepBeginSubscription}, decision{Step: stepFindSubscription}
	later := waitFor(reasonNotDue, time.Hour)
	return map[string]decideCase{
		"an application that was never subscribed": {
			why:   "the service was edited since it was created",
			facts: of(func(*facts) {}), want: begin,
		},
		"a subscription that this process has recorded": {facts: sending(attemptBegun), want: decision{Step: stepVerify}},
		"a subscription that was checked":               {facts: sending(attemptVerified), want: decision{Step: stepSend}},
		"a subscription that was recorded too long ago": {
			facts: of(func(f *facts) {
				f.attempt = calling(v1alpha1.CallSubscribe, attemptVerified)
				f.attempt.started = now.Add(-time.Minute)
			}),
			want: decision{Step: stepConclude},
		},
		"a subscription that was not sent": {facts: subscribed(v1alpha1.CallNotSent, 0), want: begin},
		"a subscription that was carried out, of a status that does not say so": {
			facts: subscribed(v1alpha1.CallDone, 1), want: later,
		},
		"a subscription of another process": {
			facts: subscribed("", 1, firstSeenBefore(time.Minute)), want: later,
		},
		"a subscription that is lost": {
			facts: subscribed("", 1, firstSeenBefore(2*time.Minute)), want: decision{Step: stepResolveLost},
		},
		"another call of another process": {
			why: "one call at a time",
			facts: of(func(f *facts) {
				f.record.calls = logged(completeCall, "", 1).calls
				f.record.observed = now
			}),
			want: later,
		},
		"another call that is lost": {
			facts: of(func(f *facts) {
				f.record.calls = logged(completeCall, "", 1).calls
				f.record.observed = now.Add(-time.Hour)
			}),
			want: decision{Step: stepResolveLost},
		},
		"a subscription that may exist is looked up": {facts: subscribed(v1alpha1.CallUnknown, 1), want: find},
		"it is found": {
			facts: subscribed(v1alpha1.CallUnknown, 1, looked(lookupFound)), want: decision{Step: stepResolveSubscription},
		},
		"it does not show": {
			why:   "that need not mean that there is none, and of two, each delivers",
			facts: subscribed(v1alpha1.CallUnknown, 1, looked(lookupUnclear)), want: later,
		},
		"it does not show, and somebody asks": {
			facts: subscribed(v1alpha1.CallUnknown, 1, looked(lookupUnclear), again, onRequest), want: later,
		},
		"it was looked up before, and somebody asks": {
			facts: subscribed(v1alpha1.CallUnknown, 1, again, onRequest), want: find,
		},
		"a subscription that the service makes later is looked up": {
			facts: subscribed(v1alpha1.CallAccepted, 1), want: find,
		},
		"it was made": {
			facts: subscribed(v1alpha1.CallAccepted, 1, looked(lookupFound)), want: decision{Step: stepResolveSubscription},
		},
		"it is not made yet": {
			facts: subscribed(v1alpha1.CallAccepted, 1, looked(lookupUnclear), again, onRequest), want: later,
		},
		"a refusal comes with a look whether it exists": {facts: subscribed(v1alpha1.CallRefused, 0), want: find},
		"a refusal": {
			facts: subscribed(v1alpha1.CallRefused, 0, looked(lookupUnclear)), want: later,
		},
		"a refusal, because it exists": {
			facts: subscribed(v1alpha1.CallRefused, 0, looked(lookupFound)), want: later,
		},
		"a refusal, because it exists, and somebody asks": {
			facts: subscribed(v1alpha1.CallRefused, 0, looked(lookupFound), again, onRequest), want: later,
		},
		"a refusal of an earlier Mandate of the name": {
			facts: subscribed(v1alpha1.CallForbidden, 0, looked(lookupUnclear)), want: later,
		},
		"a refusal of which the status says so": {
			facts: subscribed(v1alpha1.CallRefused, 0, func(f *facts) {
				f.subscription.ended = v1alpha1.SubscriptionRefused
			}),
			want: later,
		},
		"a refusal, and somebody asks, or has edited the service": {
			facts: subscribed(v1alpha1.CallRefused, 0, looked(lookupUnclear), again), want: begin,
		},
		"a refusal is looked up before it is sent again": {
			facts: subscribed(v1alpha1.CallRefused, 0, again), want: find,
		},
		"a subscription that was made so long ago that only a digest is left": {
			facts: of(func(f *facts) { f.record.earlier = earlier(subscribeOrder()) }), want: later,
		},
		"a subscription that the record cannot hold": {facts: of(func(f *facts) { f.record.full = true }), want: later},
		"a refusal, somebody asks, and the record is full": {
			why: "it is sent in the same entry",
			facts: subscribed(v1alpha1.CallRefused, 0, looked(lookupUnclear), again, func(f *facts) {
				f.record.full = true
			}),
			want: begin,
		},
		"a refusal that has come again": {
			facts: subscribed(v1alpha1.CallRefused, 0, looked(lookupUnclear), again, func(f *facts) {
				f.subscription.begun = true
			}),
			want: later,
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
		"created by somebody else": {"an application that somebody else created", v1alpha1.SubscriptionNotCreated},
		"created by somebody else, again": {
			"an application that somebody else created, and somebody asks", v1alpha1.SubscriptionNotCreated,
		},
		"never subscribed": {"an application that was never subscribed", ""},
		"not sent":         {"a subscription that was not sent", ""},
		"carried out": {
			"a subscription that was carried out, of a status that does not say so", v1alpha1.SubscriptionSubscribed,
		},
		"found":        {"it is found", v1alpha1.SubscriptionSubscribed},
		"it may exist": {"it does not show", v1alpha1.SubscriptionOutcomeUnknown},
		"it may exist, and somebody asks": {
			"it does not show, and somebody asks", v1alpha1.SubscriptionOutcomeUnknown,
		},
		"the service makes it later":      {"it is not made yet", v1alpha1.SubscriptionOutcomeUnknown},
		"not looked for yet":              {"a subscription of another process", ""},
		"refused, and not looked for yet": {"a refusal comes with a look whether it exists", ""},
		"refused":                         {"a refusal", v1alpha1.SubscriptionRefused},
		"refused, because it exists":      {"a refusal, because it exists", v1alpha1.SubscriptionSubscribed},
		"refused to an earlier Mandate": {
			"a refusal of an earlier Mandate of the name", v1alpha1.SubscriptionRefused,
		},
		"a digest is left": {
			"a subscription that was made so long ago that only a digest is left", v1alpha1.SubscriptionOutcomeUnknown,
		},
		"recorded": {"a subscription that this process has recorded", ""},
	} {
		c, ok := subscriptions()[test.of]
		if !ok {
			t.Fatalf("there is no case %s", test.of)
		}
		if got := subscriptionState(c.facts); got != test.want {
			t.Errorf("%s: the status says %q, want %q", name, got, test.want)
		}
	}
}

// TestDecideSubscribesLast holds what decideSubscription promises against all kinds of facts, possible and impossible.
func TestDecideSubscribesLast(t *testing.T) {
	usual := usualFacts(subscriptions())
	explore.Draw(t, subscriptionSteps, func(t *rapid.T) step {
		f := anyFacts(t, usual)
		without, s := f, f.subscription
		without.subscription = subscriptionFacts{}
		usual, next := decide(without), decide(f)
		switch next.Step {
		case usual.Step:
		case stepBeginSubscription:
			holdSubscription(t, f)
		case stepResolveSubscription:
			if entry := f.record.made(subscribeOrder()); entry == nil || entry.Result == "" || s.lookup != lookupFound {
				t.Fatalf("takes a subscription for carried out that was not found: %+v", f)
			}
		case stepResolveLost:
			if f.record.open() == nil || f.mayBeUnderWay() {
				t.Fatalf("ends a call that may be under way, or none: %+v", f)
			}
		}
		if usual.Step != stepWait && next != usual {
			t.Fatalf("%s before %s: %+v", next.Step, usual.Step, f)
		}
		if next.Step != stepWait && next != usual &&
			(f.suspended || f.deletion.requested || f.outcome != "" || !f.service.Ready) {
			t.Fatalf("%s: %+v", next.Step, f)
		}
		return next.Step
	})
}

// holdSubscription holds that a subscription is the only one.
func holdSubscription(t *rapid.T, f facts) {
	entry, s := f.record.made(subscribeOrder()), f.subscription
	switch {
	case !f.record.read, f.record.id != f.id, f.record.otherURL, f.record.otherAccount, !s.readHere:
		t.Fatalf("subscribes what may be another one's: %+v", f)
	case !f.record.sent:
		t.Fatalf("subscribes what somebody else has created: %+v", f)
	case f.record.open() != nil:
		t.Fatalf("begins a subscription while another call is open: %+v", f)
	case entry == nil && (f.record.full || f.record.wasMade(subscribeOrder())):
		t.Fatalf("begins a subscription that the record cannot hold, or had: %+v", f)
	case entry == nil, entry.Result == v1alpha1.CallNotSent:
	case entry.Sends > 0, entry.Result == v1alpha1.CallDone, !s.again, s.begun, s.lookup != lookupUnclear:
		t.Fatalf("begins a subscription that could be a second one: %+v", f)
	}
}
