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
			f.observe.readAt = now.Add(time.Hour)
			f.record = sent(time.Hour, func(r *recordFacts) { r.id = 7 })
			f.subscription = subscriptionFacts{wish: wanted, phase: subscriptionActive, readHere: true}
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
	again := func(f *facts) { f.subscription.wish = wantedAgain }
	begin, find := decision{Step: stepBeginSubscription}, decision{Step: stepFindSubscription}
	later := waitFor(reasonNotDue, time.Hour)
	all := map[string]decideCase{}
	for name, c := range map[string]struct {
		why  string
		of   facts
		want decision
	}{
		"an application that was never subscribed": {
			why: "the service was edited since it was created",
			of:  of(func(*facts) {}), want: begin,
		},
		"a subscription that this process has recorded": {of: sending(attemptBegun), want: decision{Step: stepVerify}},
		"a subscription that was checked":               {of: sending(attemptVerified), want: decision{Step: stepSend}},
		"a subscription that was recorded too long ago": {
			of: of(func(f *facts) {
				f.attempt = calling(v1alpha1.CallSubscribe, attemptVerified)
				f.attempt.started = now.Add(-time.Minute)
			}),
			want: decision{Step: stepConclude},
		},
		"a subscription that was not sent": {of: subscribed(v1alpha1.CallNotSent, 0), want: begin},
		"a subscription that was carried out, of a status that does not say so": {
			of: subscribed(v1alpha1.CallDone, 1), want: later,
		},
		"a subscription of another process": {
			of: subscribed("", 1, firstSeenBefore(time.Minute)), want: later,
		},
		"a subscription that is lost": {
			of: subscribed("", 1, firstSeenBefore(2*time.Minute)), want: decision{Step: stepResolveLost},
		},
		"another call of another process": {
			why: "one call at a time",
			of: of(func(f *facts) {
				f.record.calls = logged(completeCall, "", 1).calls
				f.record.observed = now
			}),
			want: later,
		},
		"another call that is lost": {
			of: of(func(f *facts) {
				f.record.calls = logged(completeCall, "", 1).calls
				f.record.observed = now.Add(-time.Hour)
			}),
			want: decision{Step: stepResolveLost},
		},
		"a subscription that may exist is looked up": {of: subscribed(v1alpha1.CallUnknown, 1), want: find},
		"it is found": {
			of: subscribed(v1alpha1.CallUnknown, 1, looked(lookupFound)), want: decision{Step: stepResolveSubscription},
		},
		"it does not show": {
			why: "that need not mean that there is none, and of two, each delivers",
			of:  subscribed(v1alpha1.CallUnknown, 1, looked(lookupUnclear)), want: later,
		},
		"it does not show, and somebody asks": {
			of: subscribed(v1alpha1.CallUnknown, 1, looked(lookupUnclear), again, onRequest), want: later,
		},
		"it was looked up before, and somebody asks": {
			of: subscribed(v1alpha1.CallUnknown, 1, again, onRequest), want: find,
		},
		"a subscription that the service makes later is looked up": {
			of: subscribed(v1alpha1.CallAccepted, 1), want: find,
		},
		"it was made": {
			of: subscribed(v1alpha1.CallAccepted, 1, looked(lookupFound)), want: decision{Step: stepResolveSubscription},
		},
		"it is not made yet": {
			of: subscribed(v1alpha1.CallAccepted, 1, looked(lookupUnclear), again, onRequest), want: later,
		},
		"a refusal comes with a look whether it exists": {of: subscribed(v1alpha1.CallRefused, 0), want: find},
		"a refusal": {
			of: subscribed(v1alpha1.CallRefused, 0, looked(lookupUnclear)), want: later,
		},
		"a refusal, because it exists": {
			of: subscribed(v1alpha1.CallRefused, 0, looked(lookupFound)), want: later,
		},
		"a refusal, because it exists, and somebody asks": {
			of: subscribed(v1alpha1.CallRefused, 0, looked(lookupFound), again, onRequest), want: later,
		},
		"a refusal of an earlier Mandate of the name": {
			of: subscribed(v1alpha1.CallForbidden, 0, looked(lookupUnclear)), want: later,
		},
		"a refusal of which the status says so": {
			of: subscribed(v1alpha1.CallRefused, 0, func(f *facts) {
				f.subscription.wish, f.subscription.ended = notWanted, v1alpha1.SubscriptionRefused
			}),
			want: later,
		},
		"a refusal, and somebody asks, or has edited the service": {
			of: subscribed(v1alpha1.CallRefused, 0, looked(lookupUnclear), again), want: begin,
		},
		"a refusal is looked up before it is sent again": {
			of: subscribed(v1alpha1.CallRefused, 0, again), want: find,
		},
		"a subscription that was made so long ago that only a digest is left": {
			of: of(func(f *facts) { f.record.earlier = earlier(subscribeOrder()) }), want: later,
		},
		"a subscription that the record cannot hold": {of: of(func(f *facts) { f.record.full = true }), want: later},
		"a refusal, somebody asks, and the record is full": {
			why: "it is sent in the same entry",
			of: subscribed(v1alpha1.CallRefused, 0, looked(lookupUnclear), again, func(f *facts) {
				f.record.full = true
			}),
			want: begin,
		},
		"a refusal that has come again": {
			of: subscribed(v1alpha1.CallRefused, 0, looked(lookupUnclear), again, func(f *facts) {
				f.subscription.phase = subscriptionBegun
			}),
			want: later,
		},
		"an application that somebody else created": {
			of:   of(func(f *facts) { f.record.sends = 0 }),
			want: later,
		},
		"an application that somebody else created, and somebody asks": {
			of:   of(func(f *facts) { f.record.sends, f.subscription.wish = 0, wantedAgain }),
			want: later,
		},
		"an application that was not read here": {
			of:   of(func(f *facts) { f.subscription.readHere = false }),
			want: later,
		},
		"a read that is due comes first": {
			of:   of(func(f *facts) { f.observe.readAt = time.Time{} }),
			want: decision{Step: stepRead},
		},
		"a subscription that waits": {
			of:   of(func(f *facts) { f.subscription.phase = subscriptionPaused }),
			want: later,
		},
		"a suspended Mandate": {
			of:   of(func(f *facts) { f.suspended = true }),
			want: wait(v1alpha1.ReasonSuspended),
		},
		"a Mandate that is being deleted": {
			of:   of(func(f *facts) { f.deletion.requested = true }),
			want: wait(reasonDeleting),
		},
		"an application that is to be archived": {
			of: of(func(f *facts) {
				f.act.archive, f.observe.readAt = true, now.Add(time.Hour)
			}),
			want: later,
		},
		"a slot comes before the record": {
			why: "it would go to others meanwhile, again and again",
			of: of(func(f *facts) {
				f.subscription.phase, f.record = subscriptionIdle, recordFacts{}
				f.observe.ownAccount = true
			}),
			want: decision{Step: stepAcquireSlot},
		},
		"a slot comes before the subscription": {
			of:   of(func(f *facts) { f.subscription.phase = subscriptionIdle }),
			want: decision{Step: stepAcquireSlot},
		},
		"nothing to do needs no slot": {
			of: subscribed(v1alpha1.CallDone, 1, func(f *facts) { f.subscription.phase = subscriptionIdle }), want: later,
		},
	} {
		all[name] = decideCase{why: c.why, facts: c.of, want: c.want}
	}
	return all
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
		if got := c.facts.subscription.state(c.facts); got != test.want {
			t.Errorf("%s: the status says %q, want %q", name, got, test.want)
		}
	}
}

// TestDecideSubscribesLast holds what decideSubscription promises against all kinds of facts, possible and impossible.
func TestDecideSubscribesLast(t *testing.T) {
	usual := usualFacts(subscriptions())
	explore.Draw(t, subscriptionSteps, func(t *rapid.T) step {
		f := anyFacts(t, usual)
		s, without := f.subscription, f
		without.subscription = subscriptionFacts{}
		usual, next := decide(without), decide(f)
		switch next.Step {
		case usual.Step:
		case stepBeginSubscription:
			holdSubscription(t, f, s)
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
func holdSubscription(t *rapid.T, f facts, s subscriptionFacts) {
	entry := f.record.made(subscribeOrder())
	switch {
	case s.phase == subscriptionIdle, s.phase == subscriptionPaused:
		t.Fatalf("begins a subscription without a slot: %+v", f)
	case !f.record.read(), f.record.id != f.id, f.record.otherURL, f.record.account == accountOther, !s.readHere:
		t.Fatalf("subscribes what may be another one's: %+v", f)
	case !f.record.sent():
		t.Fatalf("subscribes what somebody else has created: %+v", f)
	case f.record.open() != nil:
		t.Fatalf("begins a subscription while another call is open: %+v", f)
	case entry == nil && (f.record.full || f.record.wasMade(subscribeOrder())):
		t.Fatalf("begins a subscription that the record cannot hold, or had: %+v", f)
	case entry == nil, entry.Result == v1alpha1.CallNotSent:
	case entry.Sends > 0, entry.Result == v1alpha1.CallDone, s.wish != wantedAgain, s.phase == subscriptionBegun,
		s.lookup != lookupUnclear:
		t.Fatalf("begins a subscription that could be a second one: %+v", f)
	}
}
