package operator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
)

func TestCompleted(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", `{name: Acme onboarding,
		individuals: [{name: jane, email: jane@example.com}, {name: john, email: john@example.com}]}`)
	m := w.ready("acme")
	w.emails(2)
	w.checkCreates(1)
	if m.Status.Outcome != "" || m.Status.Progress != "0/6" || m.Status.Reference != w.namespace+".acme" ||
		m.Status.ApplicationID == nil {
		t.Errorf("the status of a new application: %+v", m.Status)
	}
	if got := m.Status.ExpiryTime.Sub(m.Status.CreatedTime.Time); got.Hours() != 56*24 {
		t.Errorf("expiry is %s after creation, want 56 days", got)
	}
	if names := []string{m.Status.Individuals[0].Name, m.Status.Individuals[1].Name}; names[0] != "jane" ||
		names[1] != "john" {
		t.Errorf("individuals in status are %v, want them in the order of the spec", names)
	}
	w.kubectl("wait", "--for=condition=Ready", await.Timeout(t), "mandate/acme")
	w.checkKstatus("acme", status.CurrentStatus)

	w.complete(m)
	m = w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	if m.Status.Outcome != v1alpha1.OutcomeCompleted || m.Status.Progress != "6/6" {
		t.Errorf("the status of a completed application: %+v", m.Status)
	}
	w.kubectl("wait", "--for=condition=Completed", await.Timeout(t), "mandate/acme")
	w.emails(2)
	w.events("acme", string(v1alpha1.OutcomeCompleted))

	columns := strings.Fields(strings.SplitN(w.kubectl("get", "mandates"), "\n", 2)[0])
	if got, want := strings.Join(columns, " "), "NAME READY REASON STATE PROGRESS OUTCOME AGE"; got != want {
		t.Errorf("kubectl get mandates shows %q, want %q", got, want)
	}
}

func TestRejected(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.play(w.ready("acme"), control.ResultFail)
	w.decide("acme", v1alpha1.DecisionReject)
	m := w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeRejected))
	if ready := w.ready("acme"); ready.Status.Outcome != v1alpha1.OutcomeRejected {
		t.Errorf("the outcome of a rejected Mandate is not Rejected: %+v", m.Status)
	}
}

func TestEmailsSuppressed(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{suppressEmailNotification: true}")
	w.ready("acme")
	w.emails(0)
}

func TestArchived(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.mandate("acme", "{archived: true}")
	w.until("acme", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	w.ready("acme")
}

// A refused decision needs a person, and is sent again on request only.
func TestDecisionRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.fault(alwaysAnswers(control.CompleteApplication, 400))
	w.mandate("acme", "{}")
	w.complete(w.ready("acme"))
	w.condition("acme", v1alpha1.ConditionDecided, metav1.ConditionFalse, v1alpha1.ReasonDecisionRefused)
	w.stalled("acme", v1alpha1.ReasonDecisionRefused)
	before, reads := w.requests(control.CompleteApplication), w.requests(control.RetrieveApplication)
	w.eventually(func() (bool, string) {
		return w.requests(control.RetrieveApplication) >= reads+3, "the application is not polled"
	})
	// The client sends an empty object, then no body, then no Content-Type either: the interface documents none of them.
	if got := w.requests(control.CompleteApplication); got != before || got != 3 {
		t.Errorf("complete was sent %d times, %d of them without a change, want 3 and 0", got, got-before)
	}
	w.check(w.sandbox.ClearFaults(t.Context()))
	w.requestRead("acme")
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
}

func TestSuspend(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{suspend: true}")
	w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended)
	w.emails(0)
	w.mandate("acme", "{suspend: false}")
	w.ready("acme")
	w.emails(1)
	w.mandate("acme", "{suspend: true}")
	w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended)
	w.kubectl("delete", "mandate", "acme", await.Timeout(t))
}

// checkKstatus waits until kstatus, which Flux and kpt use, computes a status for a Mandate.
func (w *world) checkKstatus(name string, want status.Status) {
	w.Helper()
	w.eventually(func() (bool, string) {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("Mandate"))
		w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, object))
		result, err := status.Compute(object)
		w.check(err)
		return result.Status == want, "kstatus computes " + result.Status.String() + ", want " + want.String()
	})
}

// events waits until a Mandate has exactly the events with these reasons.
func (w *world) events(name string, reasons ...string) {
	w.Helper()
	w.eventsOf("Mandate", name, reasons...)
}

func (w *world) eventsOf(kind, name string, reasons ...string) {
	w.Helper()
	w.eventually(func() (bool, string) {
		var list eventsv1.EventList
		w.check(w.List(w.Context(), &list, client.InNamespace(w.namespace)))
		var got []string
		for i := range list.Items {
			if event := &list.Items[i]; event.Regarding.Name == name && event.Regarding.Kind == kind {
				got = append(got, event.Reason)
			}
		}
		return slices.Equal(got, reasons), fmt.Sprintf("%s has the events %v, want %v", name, got, reasons)
	})
}
