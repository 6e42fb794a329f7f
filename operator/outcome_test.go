package operator_test

import (
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The service reopens an application that it has completed. A person who asks for a look at it is told, the outcome
// stays, and nothing is sent.
func TestOutcomeContradicted(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	m := w.ready("acme")
	_, err := w.sandbox.SetState(t.Context(), control.StateChange{Reference: m.Status.Reference, State: "completed"})
	w.check(err)
	w.request("mandate/acme", "has it changed?")
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	_, err = w.sandbox.SetState(t.Context(), control.StateChange{Reference: m.Status.Reference, State: "in review"})
	w.check(err)
	before := w.acts()
	w.request("mandate/acme", "and now?")
	w.until("acme", "the state that the service shows", func(m *v1alpha1.Mandate) bool {
		return m.Status.State == "in review" && m.Status.LastHandledReconcileAt == "and now?"
	})
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	w.events("acme", "Completed", "OutcomeContradicted")
	if after := w.acts(); after != before {
		t.Errorf("the operator sent %s", after)
	}
}

// A notification about a finished application has it read, and what it shows is said.
func TestOutcomeContradictedByNotification(t *testing.T) {
	t.Parallel()
	w, url := notified(t)
	w.mandate("acme", "{}")
	m := w.ready("acme")
	for _, state := range []string{"completed", "in review"} {
		_, err := w.sandbox.SetState(t.Context(), control.StateChange{Reference: m.Status.Reference, State: state})
		w.check(err)
		if status := w.post(url, fmt.Sprintf(`{"id": %d}`, *m.Status.ApplicationID)); status != http.StatusOK {
			t.Fatalf("the receiver answers %d", status)
		}
		w.until("acme", state, func(m *v1alpha1.Mandate) bool { return m.Status.State == state })
		w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	}
	w.events("acme", "Completed", "OutcomeContradicted")
}
