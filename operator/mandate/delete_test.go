package mandate

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
)

// A deletion is given up a day after it began, by the clock that says when it began. The leader's own may be a day
// fast, and then the application would never be deleted; or slow, and then the namespace would stay.
func TestDeletionIsGivenUpByTheServersClock(t *testing.T) {
	t.Parallel()
	deleted := time.Now().Truncate(time.Second)
	for name, c := range map[string]struct {
		lead, passed time.Duration
		unknown      bool
		want         bool // it is given up
	}{
		"in time":          {passed: 23 * time.Hour},
		"too long":         {passed: 24 * time.Hour, want: true},
		"a fast clock":     {lead: 25 * time.Hour, passed: time.Minute},
		"and too long":     {lead: 25 * time.Hour, passed: 24 * time.Hour, want: true},
		"a slow clock":     {lead: -25 * time.Hour, passed: 24 * time.Hour, want: true},
		"nothing is known": {passed: 24 * time.Hour, unknown: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := deleted.Add(c.passed)
			of := &Reconciler{
				config: Config{DeletionGiveUpAfter: 24 * time.Hour, ServerClock: func() time.Time {
					if c.unknown {
						return time.Time{}
					}
					return server
				}},
				clock: clocktesting.NewFakeClock(server.Add(c.lead)),
			}
			m := &v1alpha1.Mandate{}
			m.DeletionTimestamp, m.Finalizers = &metav1.Time{Time: deleted}, []string{v1alpha1.ApplicationFinalizer}
			m.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
			f := connected(of, scope{mandate: m}, fakeService{}).newFacts(engine.ServiceFacts{})
			f.failureReason = v1alpha1.ReasonReadFailed
			if got := f.deletion.decide(f).Step == stepFinalizer; got != c.want {
				t.Errorf("it is given up: %t, want %t", got, c.want)
			}
		})
	}
}
