package operator_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// An action waits for its Mandate, reports the reason, and is carried out when the Mandate is ready.
func TestActionWaits(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason          string
		disrupt, repair func(*world)
		wantFailure     string // the reason of Failed, "" if it completes
		emailsAfter     int
	}{
		"no Mandate": {
			reason: v1alpha1.ReasonMandateNotFound,
			repair: func(w *world) { w.mandate("acme", "{}") }, emailsAfter: 1,
		},
		"suspended": {
			reason: v1alpha1.ReasonSuspended,
			disrupt: func(w *world) {
				w.mandate("acme", "{}")
				w.ready("acme")
				w.mandate("acme", "{suspend: true}")
			},
			repair: func(w *world) { w.mandate("acme", "{suspend: false}") }, emailsAfter: 1,
		},
		"stalled": {
			reason: v1alpha1.ReasonMandateStalled,
			disrupt: func(w *world) {
				w.mandate("acme", "{mandateType: {code: none}}")
				w.stalled("acme", v1alpha1.ReasonMandateTypeNotFound)
			},
			repair: func(w *world) { w.mandate("acme", "{}") }, emailsAfter: 1,
		},
		"no application": {
			reason:  v1alpha1.ReasonMandateNotReady,
			disrupt: func(w *world) { w.mandate("acme", "{serviceRef: {name: other}}") },
			repair:  func(w *world) { w.mandate("acme", "{serviceRef: {name: default}}") }, emailsAfter: 1,
		},
		"the service is down": {
			reason: v1alpha1.ReasonIdentityServiceNotReady,
			disrupt: func(w *world) {
				w.mandate("acme", "{}")
				w.ready("acme")
				w.fault(serviceDown)
				w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonReadsFailing) // the first that failed
			},
			repair: func(w *world) { w.check(w.sandbox.ClearFaults(w.Context())) }, emailsAfter: 1,
		},
		"deleted meanwhile": {
			reason: v1alpha1.ReasonSuspended,
			disrupt: func(w *world) {
				w.mandate("acme", "{}")
				w.ready("acme")
				w.mandate("acme", "{suspend: true}")
			},
			repair:      func(w *world) { w.kubectl("delete", "mandate", "acme") },
			wantFailure: v1alpha1.ReasonMandateGone,
		},
		"vanished": {
			reason:  v1alpha1.ReasonReportNotReady,
			disrupt: func(w *world) { w.mandate("acme", "{}") },
			repair: func(w *world) {
				_, err := w.sandbox.Advance(w.Context(), 57*24*time.Hour)
				w.check(err)
			},
			wantFailure: v1alpha1.ReasonApplicationGone,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			if c.disrupt != nil {
				c.disrupt(w)
			}
			spec := resend
			if c.reason == v1alpha1.ReasonReportNotReady {
				spec = report
			}
			w.action("action", spec)
			w.actionWaits("action", c.reason)
			w.checkEmailed(control.Resend, 0)
			c.repair(w)
			if c.wantFailure == "" {
				w.actionCompletes("action")
			} else {
				w.actionFails("action", c.wantFailure)
			}
			w.checkEmailed(control.Resend, c.emailsAfter)
		})
	}
}

// The record says which individual is which, and the service shows jane with another id. Nothing is sent to that, until
// jane has her own again.
func TestActionAgainstTheRecord(t *testing.T) {
	t.Parallel()
	w, p := newPresented(t)
	w.john()
	w.mandate("acme", janeAndJohn)
	r := w.newManualReconciler()
	r.reconcile("acme")
	jane, _ := w.people()
	actions := r.newActionReconciler()
	w.action("resend", resend)
	actions.reconcile("resend")
	w.actionCompletes("resend")

	p.set(func(all []individual) []individual {
		for _, one := range all {
			if one["reference"] == "person-1" {
				one["id"] = jane + 1000
			}
		}
		return all
	})
	w.requestRead("acme")
	r.reconcile("acme")
	w.checkReady("acme", v1alpha1.ReasonIndividualsUnmatched)
	w.action("reset", reset)
	actions.reconcile("reset")
	if sent := w.requests(control.ResetIndividual); sent != 0 {
		t.Fatalf("%d resets were sent", sent)
	}
	w.actionWaits("reset", v1alpha1.ReasonIndividualsUnmatched)

	p.set(nil)
	w.requestRead("acme")
	r.reconcile("acme")
	actions.reconcile("reset")
	w.actionCompletes("reset")
	w.checkReached(control.Reset, "jane@example.com")
}
