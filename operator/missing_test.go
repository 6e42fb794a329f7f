package operator_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/operator/connection"
)

// The credentials are exchanged for those of another account, and exchanged back. No Mandate has an outcome.
func TestExchangedCredentials(t *testing.T) {
	t.Parallel()
	w, r := missingWorld(t)
	other := newWorld(t, sandbox.Options{})
	r.connectAs(func(c *connection.Connection) {
		c.Client, c.Account = w.client(other.url), connection.NewAccount("", v1alpha1.GrantTypePassword, "other", "")
	})
	w.request("mandate/acme", "now")
	for range 10 {
		r.reconcile("acme")
	}
	w.checkCondition("acme", v1alpha1.ConditionStalled, "True", v1alpha1.ReasonAccountChanged)
	if m := w.get("acme"); m.Status.Outcome != "" {
		t.Errorf("the outcome is %s", m.Status.Outcome)
	}
	r.connect()
	r.reconcile("acme")
	w.checkCondition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAccepted)
	w.emails(1)
}

// An ingress finds no application. The IdentityService says so of two Mandates for which that lasts, no Mandate has
// an outcome, and all come back with the applications.
func TestApplicationsMissing(t *testing.T) {
	t.Parallel()
	w := running(t)
	names := []string{"acme", "globex"}
	for _, name := range names {
		w.mandate(name, "{}")
		w.ready(name)
	}
	w.check(w.sandbox.SetDialect(t.Context(), "ingress404", dialect.IngressApplications))
	for _, name := range names {
		w.condition(name, v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonConfirming)
	}
	for _, name := range names {
		w.confirmingFor(name, 3*time.Minute)
	}
	w.request("identityservice/default", "first")
	w.applicationsMissing(true)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	for _, name := range names {
		if m := w.get(name); m.Status.Outcome != "" {
			t.Errorf("the outcome of %s is %s", name, m.Status.Outcome)
		}
	}
	w.check(w.sandbox.ResetDialects(t.Context()))
	for _, name := range names {
		w.request("mandate/"+name, "now")
		w.ready(name)
	}
	w.request("identityservice/default", "second")
	w.applicationsMissing(false)
	w.emails(2)
}

// confirmingFor makes it look as if a Mandate had been Confirming for some time.
func (w *world) confirmingFor(name string, d time.Duration) {
	w.Helper()
	w.eventually(func() (bool, string) {
		m := w.get(name)
		c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReconciling)
		if c == nil {
			return false, "it is not Reconciling"
		}
		c.LastTransitionTime = metav1.NewTime(c.LastTransitionTime.Add(-d))
		err := w.Status().Update(w.Context(), m)
		return err == nil, fmt.Sprint(err)
	})
}

// applicationsMissing waits until the IdentityService says that applications are missing, or does not.
func (w *world) applicationsMissing(want bool) {
	w.Helper()
	w.eventually(func() (bool, string) {
		s := &v1alpha1.IdentityService{}
		w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: "default"}, s))
		missing := meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionApplicationsMissing)
		return missing == want, fmt.Sprintf("ApplicationsMissing is %t: %+v", missing, s.Status)
	})
}

// A real deletion is believed soon.
func TestDeletedApplication(t *testing.T) {
	t.Parallel()
	w, r := missingWorld(t)
	_, err := w.client(w.url).DeleteApplication(t.Context(), *w.get("acme").Status.ApplicationID)
	w.check(err)
	w.waitUntilDeleted(r)
	w.emails(1)
}

// An application that was Deleted by mistake is found when the connection changes.
func TestDeletedIsTakenBack(t *testing.T) {
	t.Parallel()
	w, r := missingWorld(t)
	other := newWorld(t, sandbox.Options{})
	r.connectAs(func(c *connection.Connection) { c.Client = w.client(other.url) }) // a proxy that goes wrong
	w.waitUntilDeleted(r)
	r.connect()
	r.reconcile("acme") // it is too early
	if m := w.get("acme"); m.Status.Outcome != v1alpha1.OutcomeDeleted {
		t.Errorf("the outcome is %q", m.Status.Outcome)
	}
	w.request("mandate/acme", "now")
	r.reconcile("acme")
	r.reconcile("acme")
	w.checkCondition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAccepted)
	w.checkCondition("acme", v1alpha1.ConditionCompleted, "False", v1alpha1.ReasonInProgress)
	if m := w.get("acme"); m.Status.Outcome != "" || m.Status.LastHandledReconcileAt != "now" {
		t.Errorf("the status is %+v", m.Status)
	}
	recorder := r.Events.(*events.FakeRecorder)
	for _, want := range []string{"Warning Deleted", "Normal ApplicationFound"} {
		select {
		case event := <-recorder.Events:
			if len(event) < len(want) || event[:len(want)] != want {
				t.Errorf("the event is %q, want %s", event, want)
			}
		default:
			t.Errorf("there is no event %s", want)
		}
	}
	w.emails(1)
}

// missingWorld has a Mandate whose application was read, and an operator that confirms a 404 at once.
func missingWorld(t *testing.T) (*world, *manualReconciler) {
	t.Helper()
	w := connected(t)
	w.mandate("acme", "{}")
	r := w.newManualReconciler()
	r.minPoll = time.Millisecond
	r.connect()
	r.reconcile("acme")
	w.ready("acme")
	return w, r
}

func (w *world) waitUntilConfirming(r *manualReconciler) {
	w.Helper()
	w.eventually(func() (bool, string) {
		r.reconcile("acme")
		return w.reasonOf("acme") == v1alpha1.ReasonConfirming, "the 404 does not show: " + w.reasonOf("acme")
	})
}

func (w *world) waitUntilDeleted(r *manualReconciler) {
	w.Helper()
	w.eventually(func() (bool, string) {
		r.reconcile("acme")
		return w.get("acme").Status.Outcome == v1alpha1.OutcomeDeleted, "the deletion does not show: " + w.reasonOf("acme")
	})
}

// reasonOf is the reason of Ready.
func (w *world) reasonOf(name string) string {
	w.Helper()
	return readyReason(w.get(name))
}

func readyReason(m *v1alpha1.Mandate) string {
	if ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		return ready.Reason
	}
	return ""
}

// A proxy answers 404 to everything. No Mandate has an outcome.
func TestProxyAnswers404(t *testing.T) {
	t.Parallel()
	w, r := missingWorld(t)
	w.fault(alwaysAnswers(control.RetrieveApplication, 404))
	w.fault(alwaysAnswers(control.References, 404))
	w.waitUntilConfirming(r)
	for range 10 {
		r.reconcile("acme")
	}
	if m := w.get("acme"); m.Status.Outcome != "" {
		t.Errorf("the outcome is %s", m.Status.Outcome)
	}
	w.check(w.sandbox.ClearFaults(t.Context()))
	r.reconcile("acme")
	w.checkCondition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAccepted)
	w.emails(1)
}

// A service answers a create with 202 and the application, and creates it later, or never. The log says so, and the
// Mandate waits for it.
func TestAcceptedCreateThatShowsItsID(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.check(w.sandbox.SetDialects(t.Context(), map[string]string{"asyncWork": "never", "asyncOperations": "creates"}))
	w.mandate("acme", "{}")
	w.condition("acme", v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonConfirming)
	if calls := w.onlyRecord().Spec.Calls; len(calls) != 1 || calls[0].Result != v1alpha1.CallAccepted {
		t.Errorf("the log says %+v, want one create that was accepted", calls)
	}
	w.checkCreates(1)
}
