package mandate

import (
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

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
