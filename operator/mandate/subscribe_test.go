package mandate

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/internal/test/explore"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// subscribable is a reconciliation of a Mandate whose status shows an application, which is to be subscribed.
func subscribable(change func(*reconciliation)) *reconciliation {
	m := situated(func(m *v1alpha1.Mandate) { m.Status.ApplicationID = new(int64(7)) })
	r := connected(&Reconciler{clock: explore.Clock{Time: now}}, scope{mandate: m}, nil)
	r.session.Connection.Subscriptions, r.session.Connection.Generation = &connection.Subscriptions{}, 1
	change(r)
	r.startSubscriber()
	return r
}

// startSubscriber gives what a reconciliation that begins now knows of the subscription.
func (r *reconciliation) startSubscriber() subscriptionFacts {
	r.facts.subscription = subscriptionFacts{}
	r.subscriber.start(&r.subscribed)
	return r.facts.subscription
}

// A subscription is for an application that the status shows, and of which something is to come. One that waits for a
// slot does not depend on being woken up for it: the next poll may be a day away.
func TestSubscriptionIsWanted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*reconciliation)
		want   bool
	}{
		"an application":        {func(*reconciliation) {}, true},
		"somebody else does it": {func(r *reconciliation) { r.session.Connection.Subscriptions = nil }, false},
		"no application yet":    {func(r *reconciliation) { r.mandate.Status.ApplicationID = nil }, false},
		"an outcome": {
			func(r *reconciliation) { r.mandate.Status.Outcome = v1alpha1.OutcomeCompleted }, false,
		},
		"an application that is archived": {func(r *reconciliation) { r.mandate.Status.Archived = true }, false},
		"it is done": {
			func(r *reconciliation) { r.mandate.Status.Subscription = v1alpha1.SubscriptionSubscribed }, false,
		},
		"it was refused": {
			func(r *reconciliation) { r.mandate.Status.Subscription = v1alpha1.SubscriptionRefused }, false,
		},
	} {
		r := subscribable(test.change)
		if got := r.facts.subscription.wish == wanted; got != test.want {
			t.Errorf("%s: a subscription is wanted: %t, want %t", name, got, test.want)
		}
		r.subscriber.acquired(false)
		if due := r.subscriber.due(); due != 0 != test.want || test.want && due != engine.MaxRequeue {
			t.Errorf("%s: it is due in %s, want that it is due: %t", name, due, test.want)
		}
	}
}

// After a refusal, and if it may exist, only a person or an edit of the service has it looked at again.
func TestSubscriptionEnds(t *testing.T) {
	t.Parallel()
	const handled, asked = "handled", "please"
	const notified = v1alpha1.NotificationRequestPrefix + "2026-06-01T12:00:00Z"
	for name, test := range map[string]struct {
		state   v1alpha1.SubscriptionState
		request string
		edited  bool
		again   bool
	}{
		"subscribed":                      {v1alpha1.SubscriptionSubscribed, asked, true, false},
		"created by somebody else":        {v1alpha1.SubscriptionNotCreated, asked, true, false},
		"refused":                         {v1alpha1.SubscriptionRefused, handled, false, false},
		"refused, and a notification":     {v1alpha1.SubscriptionRefused, notified, false, false},
		"refused, and a person asks":      {v1alpha1.SubscriptionRefused, asked, false, true},
		"refused, and the service edited": {v1alpha1.SubscriptionRefused, handled, true, true},
		"unknown":                         {v1alpha1.SubscriptionOutcomeUnknown, handled, false, false},
		"unknown, and a person asks":      {v1alpha1.SubscriptionOutcomeUnknown, asked, false, true},
		"unknown, and the service edited": {v1alpha1.SubscriptionOutcomeUnknown, handled, true, true},
	} {
		r := subscribable(func(r *reconciliation) {
			r.mandate.Status.Subscription, r.mandate.Status.LastHandledReconcileAt = test.state, handled
			r.mandate.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: handled}
		})
		before := r.facts.subscription
		if before.wish == wantedAgain || before.ended != test.state {
			t.Errorf("%s: at first, %+v", name, before)
		}
		r.mandate.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: test.request}
		if test.edited {
			r.session.Connection.Generation++
		}
		after := r.startSubscriber()
		if (after.wish == wantedAgain) != test.again || (after.ended == "") != test.again {
			t.Errorf("%s: %+v", name, after)
		}
	}
}

// A person or an edit has a subscription sent again once, not until it succeeds.
func TestSubscriptionIsSentAgainOnce(t *testing.T) {
	t.Parallel()
	r := subscribable(func(r *reconciliation) {
		r.mandate.Status.Subscription = v1alpha1.SubscriptionRefused
		r.mandate.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: "please"}
	})
	given := subscriptions()["a refusal, and somebody asks, or has edited the service"]
	r.facts = given.facts
	r.session.Connection.Generation++ // after the subscriber was made
	r.startSubscriber()
	wish := r.facts.subscription.wish
	r.facts.subscription = given.facts.subscription
	r.facts.subscription.wish = wish
	if got := r.decide().Step; got != stepBeginSubscription {
		t.Fatalf("the step is %s, want %s", got, stepBeginSubscription)
	}
	entry := logged(subscribeOrder(), v1alpha1.CallRefused, 0).calls[0]
	create := v1alpha1.Call{Seq: 1, Kind: v1alpha1.CallCreate, Result: v1alpha1.CallDone, Sends: 1}
	r.begun(&v1alpha1.ApplicationRecord{Spec: v1alpha1.ApplicationRecordSpec{
		ApplicationID: &r.facts.id, Calls: []v1alpha1.Call{create, entry},
	}}, entry, now)
	r.facts.attempt = attemptFacts{} // it was refused again
	if got := r.decide().Step; got != stepFindSubscription {
		t.Errorf("after another refusal, the step is %s, want %s", got, stepFindSubscription)
	}
	r.facts.subscription.lookup = lookupUnclear
	if got := r.decide().Step; got != stepWait {
		t.Errorf("after it was looked up, the step is %s", got)
	}
	r.subscriber.show(r.mandate.Status.DeepCopy())
	r.mandate.Status.LastHandledReconcileAt = "please"
	if r.startSubscriber().wish == wantedAgain {
		t.Error("the next reconciliation sends it again")
	}
}

// tokenSecret is an API server with the Secret of a receiver.
type tokenSecret struct{ client.Reader }

func (tokenSecret) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	secret := into.(*corev1.Secret)
	secret.Type, secret.Data = "idv.mandate.io/notifications", map[string][]byte{receiver.KeyToken: []byte(receiverToken)}
	return nil
}

// The service may ask the receiver before it answers, so that has to know the token.
func TestNothingIsSubscribedWithATokenThatTheReceiverDoesNotKnow(t *testing.T) {
	t.Parallel()
	to := &connection.Subscriptions{TokenDigests: []string{receiver.Digest("another")}}
	s := subscriber{scope: &scope{}, live: tokenSecret{}}
	s.session.Connection.Subscriptions = to
	if s.verify(t.Context()) {
		t.Error("the receiver refuses this token")
	}
	to.TokenDigests = []string{receiver.Digest(receiverToken)}
	if !s.verify(t.Context()) {
		t.Error("the receiver knows this token")
	}
}

// Where the last subscription of an account replaces the others, no notification comes about the applications before
// it. So their polls only stretch once one has come.
func TestPollsStretchOnceSubscriptionsCoexist(t *testing.T) {
	t.Parallel()
	var known subscribedApplications
	seen := func(id int64, age time.Duration, sent time.Time) {
		known.notified("", id, now.Add(-age), sent)
	}
	interval := func() time.Duration {
		r := idleReconciliation("uid", now, func(m *v1alpha1.Mandate) {
			m.Status.Subscription = v1alpha1.SubscriptionSubscribed
		})
		r.session.Connection.Subscriptions = &connection.Subscriptions{}
		r.session.Connection.Notified = now.Add(-time.Hour)
		r.subscribed.entries = map[connection.Account]subscribedApplication{r.session.Connection.Account: known.entries[""]}
		return r.pollInterval()
	}
	for _, step := range []struct {
		name      string
		id        int64
		age       time.Duration
		sent      time.Time
		stretched bool
	}{
		{"the first application", 1, 3 * time.Hour, time.Time{}, false},
		{"a notification of the newest", 1, 3 * time.Hour, now.Add(-2 * time.Hour), false},
		{"a newer application", 2, time.Hour, now.Add(-time.Minute), false},
		{"the first again: its notification came before", 1, 3 * time.Hour, now.Add(-2 * time.Hour), false},
		{"a notification of the first, after the newer", 1, 3 * time.Hour, now.Add(-time.Minute), true},
		{"a third application", 3, time.Second, time.Time{}, true},
	} {
		seen(step.id, step.age, step.sent)
		if got := interval() >= minNotifiedInterval; got != step.stretched {
			t.Errorf("%s: polls every %s, want stretched: %t", step.name, interval(), step.stretched)
		}
	}
}
