package operator_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// The service accepts a create, shows no id, and never creates the application. Nothing is sent again.
func TestCreateAccepted(t *testing.T) {
	t.Parallel()
	w := runningAs(t, dialect.Dialect{AsyncWork: dialect.AsyncNever, CreateBody: dialect.CreateBodyEmpty})
	w.mandate("acme", "{}")
	w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonCreateAccepted)
	w.kill()
	w.start()
	w.request("mandate/acme", "now")
	w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonCreateAccepted)
	if n := w.requests(control.CreateApplication); n != 1 {
		t.Errorf("%d creates were sent", n)
	}
	w.emails(0)
}

// A limiter or a gateway in between answers creates, in its own words. That proves nothing, and is not among the three
// requests after which the outcome is unknown: the same reference is sent until the service has time.
func TestCreatesThatAGatewayAnswers(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 503} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			w := runningAs(t, dialect.Dialect{ErrorBody: dialect.ErrorBodyHTML})
			fault := alwaysAnswers(control.CreateApplication, status)
			fault.Body = "html"
			w.fault(fault)
			w.mandate("acme", "{}")
			const answered = 4
			w.eventually(func() (bool, string) {
				n := w.requests(control.CreateApplication)
				if n < answered {
					w.requestRead("acme") // else it would be sent after five minutes
				}
				stalled := meta.IsStatusConditionTrue(w.get("acme").Status.Conditions, v1alpha1.ConditionStalled)
				return n >= answered || stalled, fmt.Sprintf("%d creates were answered", n)
			})
			if conditions := w.get("acme").Status.Conditions; meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionStalled) {
				t.Fatalf("the operator gives up: %+v", conditions)
			}
			w.check(w.sandbox.ClearFaults(t.Context()))
			w.eventually(func() (bool, string) {
				w.requestRead("acme")
				return w.get("acme").Status.ApplicationID != nil, "it has no application"
			})
			w.emails(1)
		})
	}
}

// The id of an application is too large for a Kubernetes object. The Mandate says so, and nothing is sent again: not
// after a restart, and not for the Mandate applied again.
func TestApplicationIDTooLarge(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", dialect.CreateBodyLocation} { // what shows the id
		w := runningAs(t, dialect.Dialect{IDSize: dialect.IDsAbove53Bits, CreateBody: body})
		w.mandate("acme", "{}")
		m := w.stalled("acme", v1alpha1.ReasonApplicationIDTooLarge)
		w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
		if create := w.create(); create.Sends != 1 || create.Answer != v1alpha1.AnswerIDTooLarge {
			t.Errorf("the record has %+v", create)
		}
		w.kill()
		w.check(w.Delete(t.Context(), m))
		w.start()
		w.mandate("acme", "{}")
		w.stalled("acme", v1alpha1.ReasonApplicationIDTooLarge)
		w.request("mandate/acme", "now")
		w.stalled("acme", v1alpha1.ReasonApplicationIDTooLarge)
		if n := w.requests(control.CreateApplication); n != 1 {
			t.Errorf("%d creates were sent", n)
		}
		w.emails(1)
	}
}

// For a day, an ingress does not know the paths of applications. Nothing is taken for deleted, and the status says so.
func TestIngressAnswers404(t *testing.T) {
	t.Parallel()
	w, r := missingWorld(t)
	w.check(w.sandbox.SetDialect(t.Context(), "ingress404", dialect.IngressApplications))
	w.waitUntilConfirming(r)
	w.confirmingFor("acme", 25*time.Hour)
	w.eventually(func() (bool, string) {
		r.reconcile("acme")
		return w.reasonOf("acme") == v1alpha1.ReasonApplicationMissing, "the 404 does not show: " + w.reasonOf("acme")
	})
	if m := w.get("acme"); m.Status.Outcome != "" {
		t.Errorf("the outcome is %s", m.Status.Outcome)
	}
	w.check(w.sandbox.ResetDialects(t.Context()))
	r.reconcile("acme")
	w.checkCondition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAccepted)
	w.emails(1)
}
