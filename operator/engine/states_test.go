package engine

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
)

// A Mandate waits for the meaning of a state once its individuals are done, and until it has an outcome.
func TestWaitsForState(t *testing.T) {
	t.Parallel()
	names := lifecycle.Names{Closed: []string{"withdrawn"}}
	for name, c := range map[string]struct {
		change func(*v1alpha1.Mandate)
		want   bool
	}{
		"done":                      {func(*v1alpha1.Mandate) {}, true},
		"a check is in review":      {func(m *v1alpha1.Mandate) { *m.Status.Individuals[1].ChecksInReview = 1 }, true},
		"a check is pending":        {func(m *v1alpha1.Mandate) { *m.Status.Individuals[1].ChecksPending = 1 }, false},
		"a name that was explained": {func(m *v1alpha1.Mandate) { m.Status.State = "Withdrawn" }, false},
		"a name before the review":  {func(m *v1alpha1.Mandate) { m.Status.State = "in_progress" }, false},
		"no name":                   {func(m *v1alpha1.Mandate) { m.Status.State = "" }, false},
		"an end before they are done": {
			func(m *v1alpha1.Mandate) {
				m.Status.State, *m.Status.Individuals[1].ChecksPending = "Cancelled by user", 1
			}, true,
		},
		"an end that was explained": {
			func(m *v1alpha1.Mandate) { m.Status.State, *m.Status.Individuals[1].ChecksPending = "withdrawn", 1 }, false,
		},
		"an outcome":     {func(m *v1alpha1.Mandate) { m.Status.Outcome = v1alpha1.OutcomeRejected }, false},
		"suspended":      {func(m *v1alpha1.Mandate) { m.Spec.Suspend = true }, false},
		"no application": {func(m *v1alpha1.Mandate) { m.Status.ApplicationID = nil }, false},
		"being deleted":  {func(m *v1alpha1.Mandate) { m.DeletionTimestamp = new(metav1.Now()) }, false},
		"an individual that is not found": {
			func(m *v1alpha1.Mandate) { m.Status.Individuals[1] = v1alpha1.IndividualStatus{Name: "joe"} }, false,
		},
		"a service that does not count": {
			func(m *v1alpha1.Mandate) { *m.Status.Individuals[1].ChecksPassed = 0 }, false,
		},
		"a service that does not count what has failed": {
			func(m *v1alpha1.Mandate) {
				*m.Status.Individuals[1].ChecksPassed = 0
				m.Status.Individuals[1].Checks = []v1alpha1.CheckStatus{{State: &v1alpha1.ServiceState{Name: "failed"}}}
			}, true,
		},
	} {
		m := &v1alpha1.Mandate{}
		m.Status.ApplicationID, m.Status.State = new(int64(7)), "under review"
		for range 2 {
			m.Status.Individuals = append(m.Status.Individuals, v1alpha1.IndividualStatus{
				ChecksInReview: new(int64(0)), ChecksPending: new(int64(0)), ChecksPassed: new(int64(3)),
			})
		}
		c.change(m)
		if got := WaitsForState(m, names); got != c.want {
			t.Errorf("%s: it waits %t, want %t", name, got, c.want)
		}
	}
}
