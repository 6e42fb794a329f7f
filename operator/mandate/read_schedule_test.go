package mandate

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// idleReconciliation is a reconciliation of a Mandate that nobody has changed for a month, by a process that has just
// started.
func idleReconciliation(uid string, at time.Time, change func(*v1alpha1.Mandate)) *reconciliation {
	m := shown(v1alpha1.ReasonAccepted, func(*facts) {}, "").mandate
	m.UID = types.UID(uid)
	m.Status.State = "created"
	for i := range m.Status.Conditions {
		m.Status.Conditions[i].LastTransitionTime = metav1.NewTime(now.Add(-30 * day))
	}
	if change != nil {
		change(m)
	}
	r := connected(&Reconciler{}, scope{mandate: m}, nil)
	r.actor.reviewed = reviewedBefore(m)
	r.session.Connection = connection.Connection{MinPoll: 30 * time.Second, MaxPoll: time.Hour}
	r.facts = facts{
		now: at, bound: true, service: serviceFacts{Known: true},
		deletion: deletionFacts{requested: m.DeletionTimestamp != nil},
		act: actFacts{
			decision: ptr.Deref(m.Spec.Decision, v1alpha1.Decision{}), archive: m.Spec.Archived && !m.Status.Archived,
		},
	}
	return r
}

func TestNextRead(t *testing.T) {
	t.Parallel()
	request := func(value string) func(*v1alpha1.Mandate) {
		return func(m *v1alpha1.Mandate) {
			m.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: value}
		}
	}
	notification := func(ago time.Duration) func(*v1alpha1.Mandate) {
		return request(v1alpha1.NotificationRequestPrefix + now.Add(-ago).Format(time.RFC3339))
	}
	for name, c := range map[string]struct {
		change func(*v1alpha1.Mandate)
		atOnce bool
	}{
		"as it was": {},
		"edited":    {func(m *v1alpha1.Mandate) { m.Generation++ }, true},
		"deleted":   {func(m *v1alpha1.Mandate) { m.DeletionTimestamp = new(metav1.NewTime(now)) }, true},
		"to be archived": {
			func(m *v1alpha1.Mandate) { m.Spec.Archived = true }, true,
		},
		"not Ready": {
			func(m *v1alpha1.Mandate) {
				meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady).Status = isUnknown
			},
			true,
		},
		"a decision that waits for people": {
			change: func(m *v1alpha1.Mandate) { m.Spec.Decision = &completeSeen },
		},
		"a decision that may not have been sent": {
			func(m *v1alpha1.Mandate) { m.Spec.Decision, m.Status.State = &completeSeen, "in review" }, true,
		},
		"a review that may not have been sent": {
			func(m *v1alpha1.Mandate) { m.Spec.CheckReviews = reviewOf(v1alpha1.CheckDecisionAccept, "seen") }, true,
		},
		"a person's request": {request("now"), true},
		"a request that was handled": {
			change: func(m *v1alpha1.Mandate) {
				request("now")(m)
				m.Status.LastHandledReconcileAt = "now"
			},
		},
		"a new notification": {notification(time.Minute), true},
		"an old notification, which the process before has handled": {change: notification(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := idleReconciliation("uid", now, c.change)
			for range 2 { // the second time, the process knows the Mandate
				due := r.nextRead()
				if atOnce := !due.After(now); atOnce != c.atOnce || due.After(now.Add(time.Hour)) {
					t.Errorf("the read is due at %s", due)
				}
			}
		})
	}
}

// A process that has just started reads an application when the process before it would have.
func TestNextReadFollowsTheLastOne(t *testing.T) {
	t.Parallel()
	r := idleReconciliation("uid", now, func(m *v1alpha1.Mandate) {
		m.Status.LastReadTime = new(metav1.NewTime(now.Add(-20 * time.Minute)))
	})
	if due := r.nextRead(); due.Before(now.Add(34*time.Minute)) || due.After(now.Add(40*time.Minute)) {
		t.Errorf("the read is due at %s", due)
	}
}

// What a process whose clock was fast has written puts no read off, and hides no notification.
func TestNextReadAfterAFastClock(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*v1alpha1.Mandate){
		"the last read": func(m *v1alpha1.Mandate) {},
		"a notification": func(m *v1alpha1.Mandate) {
			sent := now.Add(-time.Hour).Format(time.RFC3339)
			m.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: v1alpha1.NotificationRequestPrefix + sent}
		},
		"conditions": func(m *v1alpha1.Mandate) {
			for i := range m.Status.Conditions {
				m.Status.Conditions[i].LastTransitionTime = metav1.NewTime(now.Add(365 * day))
			}
			m.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-30 * day))
		},
	} {
		r := idleReconciliation("uid", now, func(m *v1alpha1.Mandate) {
			m.Status.LastReadTime = new(metav1.NewTime(now.Add(365 * day)))
			change(m)
		})
		r.session.Connection.Notified = now.Add(-time.Hour)
		r.session.Connection.MinPoll = 30 * time.Second
		due, longest := r.nextRead(), 24*time.Hour
		if name == "a notification" {
			longest = time.Hour
		}
		if due.After(now.Add(longest)) {
			t.Errorf("%s: the read is due at %s", name, due)
		}
		if every := r.interval(r.session.Connection.MinPoll, r.session.Connection.MaxPoll); every < 50*time.Minute {
			t.Errorf("%s: it is read every %s, and has not changed for a month", name, every)
		}
	}
}

// A notification that came while there was no leader, or whose reads failed, is handled by the next leader within the
// interval that holds without notifications.
func TestFirstReadAfterANotification(t *testing.T) {
	t.Parallel()
	const soon, late = time.Hour, 24 * time.Hour
	for name, c := range map[string]struct {
		sent, read   time.Duration // ago; 0: never
		acknowledged bool
		person       bool
		outcome      v1alpha1.Outcome
		least, most  time.Duration
	}{
		"no notification":         {read: 2 * time.Hour, least: soon, most: late},
		"read before it":          {sent: time.Hour, read: 2 * time.Hour, most: soon},
		"read a minute before it": {sent: 11 * time.Minute, read: 12 * time.Minute, most: soon},
		"read in the same second, before or after": {
			sent: 2 * time.Hour, read: 2 * time.Hour, most: soon,
		},
		"read after it":              {sent: 3 * time.Hour, read: 2 * time.Hour, least: soon, most: late},
		"acknowledged":               {sent: time.Hour, read: 2 * time.Hour, acknowledged: true, least: soon, most: late},
		"never read":                 {sent: time.Hour, most: soon},
		"so new that it may be lost": {sent: time.Minute, read: 2 * time.Hour, most: 0},
		"a person's request":         {sent: time.Hour, read: 2 * time.Hour, person: true, most: 0},
		"the application was Deleted, and may be back": {
			sent: time.Hour, read: 2 * time.Hour, outcome: v1alpha1.OutcomeDeleted, most: soon,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := idleReconciliation("uid", now, func(m *v1alpha1.Mandate) {
				if c.read != 0 {
					m.Status.LastReadTime = &metav1.Time{Time: now.Add(-c.read)}
				}
				if c.sent == 0 {
					return
				}
				request := engine.NotificationRequest{Time: now.Add(-c.sent), Used: 2}.String()
				if c.person {
					request = now.Add(-c.sent).Format(time.RFC3339)
				}
				m.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: request}
				if c.acknowledged {
					m.Status.LastHandledReconcileAt = request
				}
			})
			r.facts.outcome = c.outcome
			r.session.Connection.Notified = now.Add(-time.Hour)
			for range 2 { // the second time, the process knows the Mandate
				if after := max(r.nextRead().Sub(now), 0); after < c.least || after > c.most {
					t.Errorf("the read is due in %s, want %s to %s", after, c.least, c.most)
				}
			}
		})
	}
}

// Notifications of all Mandates that were not handled cause no reads at once.
func TestFirstReadsAfterNotificationsAreSpread(t *testing.T) {
	t.Parallel()
	const mandates = 6000
	perMinute := map[int]int{}
	for i := range mandates {
		r := idleReconciliation("uid-"+strconv.Itoa(i), now, func(m *v1alpha1.Mandate) {
			request := engine.NotificationRequest{Time: now.Add(-2 * time.Hour)}.String()
			m.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: request}
			m.Status.LastReadTime = &metav1.Time{Time: now.Add(-3 * time.Hour)}
		})
		r.session.Connection.Notified = now.Add(-time.Hour)
		perMinute[int(r.nextRead().Sub(now)/time.Minute)]++
	}
	for minute, n := range perMinute {
		if minute < 0 || minute >= 60 || n > 2*mandates/60 {
			t.Errorf("%d of %d reads are due in minute %d", n, mandates, minute)
		}
	}
}

// After a start, reads are spread evenly over the interval.
func TestReadsAreSpreadAfterAStart(t *testing.T) {
	t.Parallel()
	const mandates = 6000
	perMinute := map[int]int{}
	for i := range mandates {
		due := idleReconciliation("uid-"+strconv.Itoa(i), now, nil).nextRead()
		perMinute[int(due.Sub(now)/time.Minute)]++
	}
	for minute, n := range perMinute {
		if minute < 0 || minute >= 60 || n > 2*mandates/60 {
			t.Errorf("%d of %d reads are due in minute %d", n, mandates, minute)
		}
	}
}

// An operator that is restarted every ten minutes reads every application within the interval.
func TestRestartsPutNoReadOff(t *testing.T) {
	t.Parallel()
	const lifetime = 10 * time.Minute
	for i := range 100 {
		reads := 0
		for at := now; at.Before(now.Add(time.Hour)); at = at.Add(lifetime) {
			if due := idleReconciliation("uid-"+strconv.Itoa(i), at, nil).nextRead(); due.Before(at.Add(lifetime)) {
				reads++
			}
		}
		if reads == 0 {
			t.Errorf("the Mandate %d is never read", i)
		}
	}
}

// A start takes minutes with many Mandates. Those whose time has passed meanwhile are read late, not an interval later.
func TestReadsThatASlowStartDelays(t *testing.T) {
	t.Parallel()
	const mandates = 6000
	for name, c := range map[string]struct {
		ago         time.Duration
		least, most int
	}{
		"a slow start":           {3 * time.Minute, mandates / 24, mandates / 16},
		"long after the start":   {time.Hour, 0, 0},
		"the time is not known":  {now.Sub(time.Time{}), 0, 0},
		"the clock was set back": {-time.Minute, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overdue := 0
			for i := range mandates {
				r := idleReconciliation("uid-"+strconv.Itoa(i), now, nil)
				r.started = now.Add(-c.ago)
				due := r.nextRead()
				if !due.After(now) {
					overdue++
				}
				if due.After(now.Add(time.Hour + time.Minute)) {
					t.Errorf("the read is due at %s", due)
				}
			}
			if overdue < c.least || overdue > c.most {
				t.Errorf("%d of %d reads are due at once, want %d to %d", overdue, mandates, c.least, c.most)
			}
		})
	}
}

// A status is not trusted for ever while the service cannot be used.
func TestUnreadableApplication(t *testing.T) {
	t.Parallel()
	w := newWorld("acme")
	o := started(w)
	reconcile := func() *v1alpha1.Mandate {
		for {
			made := take(w, o, "acme", faultNone)
			w, o = made.world, made.operator
			if made.ended {
				o.seeMandates(w)
				return w.mandates["acme"]
			}
		}
	}
	aged := func(by time.Duration) { w, o = w.aged(by), o.aged(by) }
	if m := reconcile(); is(m, v1alpha1.ConditionReady) != isTrue || m.Status.LastReadTime == nil {
		t.Fatalf("after its creation, the status is %+v", m.Status)
	}
	o.connection.Ready = false
	aged(9 * time.Minute)
	if m := reconcile(); is(m, v1alpha1.ConditionReady) != isTrue {
		t.Errorf("after nine minutes, the status is %+v", m.Status)
	}
	aged(2 * time.Minute)
	m := reconcile()
	ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
	if ready.Status != isUnknown || ready.Reason != v1alpha1.ReasonReadFailed ||
		!m.Status.LastReadTime.Time.Equal(now.Add(-11*time.Minute)) {
		t.Errorf("after eleven minutes, the status is %+v", m.Status)
	}
	if again := reconcile(); again.ResourceVersion != m.ResourceVersion {
		t.Error("the status is written again and again")
	}
	o.connection.Ready = true
	if m := reconcile(); is(m, v1alpha1.ConditionReady) != isTrue {
		t.Errorf("after the end of the outage, the status is %+v", m.Status)
	}
}

// What a connection knows of notifications.
func noNotifications(time.Time) time.Time           { return time.Time{} }
func notificationsArrive(at time.Time) time.Time    { return at.Add(-6 * day) }
func notificationsHaveEnded(at time.Time) time.Time { return at.Add(-7 * day) }

// An application at which nobody moves for eight weeks is read hourly, or about daily while notifications arrive.
func TestPollsOfEightWeeks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		notified func(at time.Time) time.Time
		least    int
		most     int
	}{
		"without notifications":       {noNotifications, 1300, 1400},
		"with notifications":          {notificationsArrive, 50, 60},
		"with notifications long ago": {notificationsHaveEnded, 1300, 1400},
	} {
		for i := range 100 {
			if reads := readsOfEightWeeks(i, c.notified); reads < c.least || reads > c.most {
				t.Errorf("%s, Mandate %d is read %d times, want %d to %d", name, i, reads, c.least, c.most)
			}
		}
	}
}

// readsOfEightWeeks counts the reads of an application that is due again and again, from its create until the service
// removes it.
func readsOfEightWeeks(mandate int, notified func(at time.Time) time.Time) int {
	reads, uid := 1, strings.Repeat(strconv.Itoa(mandate)+"-", 10) // one read after the create
	for at := now; at.Before(now.Add(retention)); reads++ {
		r := idleReconciliation(uid, at, func(m *v1alpha1.Mandate) {
			for i := range m.Status.Conditions {
				m.Status.Conditions[i].LastTransitionTime = metav1.NewTime(now)
			}
		})
		r.session.Connection.Notified = notified(at)
		at = at.Add(r.pollInterval())
	}
	return reads
}

// BenchmarkEightWeeks reports the most GETs of one of a hundred applications at which nobody moves.
func BenchmarkEightWeeks(b *testing.B) {
	for b.Loop() {
		reportEightWeeks(b)
	}
	b.ReportMetric(0, "ns/op") // the time says nothing
}

func reportEightWeeks(b *testing.B) {
	b.Helper()
	for _, c := range []struct {
		name     string
		notified func(at time.Time) time.Time
		target   int
	}{
		{"without-notifications", noNotifications, 1400},
		{"with-notifications", notificationsArrive, 60},
	} {
		most := 0
		for i := range 100 {
			most = max(most, readsOfEightWeeks(i, c.notified))
		}
		b.ReportMetric(float64(most), "GETs-"+c.name)
		b.ReportMetric(float64(c.target), "target-"+c.name)
	}
}
