package mandate

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// A read that is due makes the lag grow until the application was read, however often that fails. Mandates whose
// application is not read have no lag.
func TestLag(t *testing.T) {
	t.Parallel()
	r := idleReconciliation("uid", now, nil)
	clock := clocktesting.NewFakeClock(now)
	r.clock = clock
	r.mandate.Status.ApplicationID = new(int64(1))
	want := func(what string, want time.Duration) {
		t.Helper()
		if got := r.Lag(r.mandate); got != want {
			t.Errorf("%s: the lag is %s, want %s", what, got, want)
		}
	}
	want("before the first reconciliation", 0)
	due := r.nextRead()
	clock.SetTime(due)
	want("when it is due", 0)
	clock.SetTime(due.Add(time.Minute))
	want("a minute later", time.Minute)
	r.facts.now, r.facts.failureReason = clock.Now(), v1alpha1.ReasonReadFailed
	r.scheduleRead(v1alpha1.ReasonReadFailed, time.Second)
	want("after a read that failed", time.Minute)

	for what, change := range map[string]func(*v1alpha1.Mandate){
		"suspended":      func(m *v1alpha1.Mandate) { m.Spec.Suspend = true },
		"being deleted":  func(m *v1alpha1.Mandate) { m.DeletionTimestamp = &metav1.Time{Time: now} },
		"with outcome":   func(m *v1alpha1.Mandate) { m.Status.Outcome = v1alpha1.OutcomeCompleted },
		"no application": func(m *v1alpha1.Mandate) { m.Status.ApplicationID = nil },
		"stalled":        func(m *v1alpha1.Mandate) { m.Status.Conditions[0].Status = metav1.ConditionFalse },
	} {
		m := r.mandate.DeepCopy()
		change(m)
		if got := r.Lag(m); got != 0 {
			t.Errorf("%s: the lag is %s", what, got)
		}
	}

	r.facts.failureReason, r.facts.application.lookup = "", applicationFound
	r.scheduleRead(v1alpha1.ReasonAccepted, time.Hour)
	clock.Step(time.Hour + time.Second)
	want("an hour and a second after a read", time.Second)
	r.facts.now = clock.Now()
	r.scheduleRead(v1alpha1.ReasonAccepted, 0)
	clock.Step(day)
	want("after the last read", 0)
}
