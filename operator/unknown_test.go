package operator_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// answerLost makes the service execute a create and lose its answer, requestLost makes it lose the request.
var (
	answerLost  = control.Fault{Operation: control.CreateApplication, Kind: control.Close, AfterWork: true}
	requestLost = control.Fault{Operation: control.CreateApplication, Kind: control.Close}
)

// reconcileUntil reconciles with a new operator until Ready has a reason. The settle delay is long enough for a slow
// machine between a claim and its create.
func (w *world) reconcileUntil(reason string) {
	w.Helper()
	r := w.newManualReconciler()
	r.setSettleDelay(2 * time.Second)
	w.eventually(func() (bool, string) {
		r.reconcile("acme")
		c := meta.FindStatusCondition(w.get("acme").Status.Conditions, v1alpha1.ConditionReady)
		return c.Reason == reason, fmt.Sprintf("Ready is %+v, want reason %s", c, reason)
	})
}

// The answer to a create was lost. Whatever is edited then, nothing is sent with another reference or to another
// service: it would create a second application.
func TestLostCreateIsNotSentToAnotherService(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		before func(*world) // the create
		edit   func(w, other *world)
		reason string // ApplicationExists unless it is set
	}{
		"another reference": {edit: func(w, _ *world) { w.mandate("acme", "{reference: another}") }},
		"a reference that was refused before": {
			before: func(w *world) {
				w.mandate("acme", "{reference: refused, mandateType: {id: 999999}}")
				w.newManualReconciler().reconcile("acme")
				w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRefused)
				w.mandate("acme", "{reference: lost}")
			},
			edit: func(w, _ *world) { w.mandate("acme", "{reference: refused}") },
		},
		"another prefix": {edit: func(w, _ *world) { w.patchService("{referencePrefix: another-}") }},
		"another prefix, with the IdentityService created again": {edit: func(w, _ *world) {
			w.kubectl("delete", "identityservice", "default")
			w.newService("default", fmt.Sprintf("baseURL: %q, referencePrefix: another-", w.url))
		}},
		"another service": {
			edit:   func(w, other *world) { w.patchService(fmt.Sprintf("{baseURL: %q}", other.url)) },
			reason: v1alpha1.ReasonIdentityServiceMismatch,
		},
		"another name for the URL": {
			edit: func(w, _ *world) {
				w.moveService()
			},
			reason: v1alpha1.ReasonIdentityServiceMismatch,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, other := connected(t), newWorld(t, sandbox.Options{})
			w.mandate("acme", "{}")
			if c.before != nil {
				c.before(w)
			}
			w.fault(answerLost)
			w.newManualReconciler().reconcile("acme")
			reference := w.get("acme").Status.Reference
			c.edit(w, other)
			w.reconcileUntil(cmp.Or(c.reason, v1alpha1.ReasonApplicationExists))
			if got := w.get("acme").Status.Reference; got != reference {
				t.Errorf("the status has the reference %s, want %s, whose application may exist", got, reference)
			}
			w.emails(1)
			other.emails(0)
		})
	}
}

// The outcome of an attempt is unknown, and the next attempt is refused.
func TestRefusedAfterAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	t.Run("for the request itself", func(t *testing.T) {
		t.Parallel()
		w := connected(t)
		w.mandate("acme", "{mandateType: {id: 999999}}")
		w.fault(requestLost)
		r := w.newManualReconciler()
		r.reconcile("acme")
		w.reconcileUntil(v1alpha1.ReasonRefused)
		// The refusal proves nothing about the first attempt.
		w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
		w.checkCondition("acme", v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonRefused)
		sent := w.requests(control.CreateApplication)
		r.reconcile("acme")
		w.checkCreates(sent)
		w.mandate("acme", "{}")
		r.reconcile("acme")
		w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
		w.emails(1)
	})
	t.Run("for an individual's reference", func(t *testing.T) {
		t.Parallel()
		w := connected(t)
		w.mandate("other", "{individuals: [{name: jane, email: jane@example.com, reference: shared}]}")
		r := w.newManualReconciler()
		r.reconcile("other")
		w.mandate("acme", "{individuals: [{name: jane, email: jane@example.com, reference: shared}]}")
		w.fault(requestLost)
		r.reconcile("acme")
		// The individual may exist because of the first attempt: the service may check it before the application's reference.
		w.reconcileUntil(v1alpha1.ReasonOutcomeUnknown)
		w.mandate("acme", "{}")
		sent := w.requests(control.CreateApplication)
		r.reconcile("acme")
		w.checkCreates(sent)
		w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
	})
}

// Whatever else is wrong with a Mandate whose create may have been executed: it never reports that nothing was created.
func TestUnknownStaysUnknown(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*world){
		v1alpha1.ReasonSuspended:           func(w *world) { w.mandate("acme", "{suspend: true}") },
		v1alpha1.ReasonAdoptionRefused:     func(w *world) { w.mandate("acme", "{adopt: {applicationID: 1}}") },
		v1alpha1.ReasonMandateTypeNotFound: func(w *world) { w.mandate("acme", "{mandateType: {code: none}}") },
		v1alpha1.ReasonSecretNotFound: func(w *world) {
			w.mandate("acme", "{individuals: [{name: jane, detailsSecretRef: {name: none}}]}")
		},
		v1alpha1.ReasonIdentityServiceNotFound: func(w *world) { w.mandate("acme", "{serviceRef: {name: none}}") },
		v1alpha1.ReasonRetrying:                func(w *world) { w.fault(alwaysAnswers(control.CreateApplication, 429)) },
	}
	for reason, disrupt := range cases {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.mandate("acme", "{}")
			w.fault(answerLost)
			w.newManualReconciler().reconcile("acme")
			disrupt(w)
			w.reconcileUntil(reason)
			w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
			w.emails(1)
		})
	}
}

// A user deletes the record of an application that may exist. The Mandate still reports it, and nothing is sent.
func TestUnknownWithoutLedger(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*world){
		"unchanged":                          func(*world) {},
		"with another reference":             func(w *world) { w.mandate("acme", "{reference: another}") },
		"with a service that cannot be used": func(w *world) { w.patchService(`{baseURL: "http://127.0.0.1:1"}`) },
		"and another Mandate has its reference": func(w *world) {
			w.mandate("other", "{reference: "+w.namespace+".acme}")
			w.newManualReconciler().reconcile("other")
			w.checkCondition("other", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonReferenceConflict)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.mandate("acme", "{}")
			w.fault(answerLost)
			w.newManualReconciler().reconcile("acme")
			w.reconcileUntil(v1alpha1.ReasonOutcomeUnknown)
			r := w.newManualReconciler()
			w.check(w.Delete(t.Context(), w.onlyRecord()))
			edit(w)
			sent := w.requests(control.CreateApplication)
			for range 2 {
				r.reconcile("acme")
				w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
			}
			w.checkCreates(sent)
			w.emails(1)
		})
	}
}

// Two Mandates have the same reference, and their creates are refused. Each is sent once.
func TestRefusedWithTheSameReference(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.mandate("first", "{reference: shared, mandateType: {id: 999999}}")
	w.mandate("second", "{reference: shared, mandateType: {id: 999999}}")
	r := w.newManualReconciler()
	for range 3 {
		r.reconcile("first")
		r.reconcile("second")
	}
	w.checkCreates(2)
	w.checkCondition("first", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRefused)
	w.checkCondition("second", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRefused)

	w.mandate("second", "{reference: shared}")
	w.mandate("first", "{reference: shared}")
	for range 3 {
		r.reconcile("first")
		r.reconcile("second")
	}
	w.checkCreates(4)
	w.checkCondition("first", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
	w.checkCondition("second", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonReferenceConflict)
	w.emails(1)
}

// The reference of a deleted Mandate whose create was refused is free.
func TestReferenceOfADeletedMandate(t *testing.T) {
	t.Parallel()
	w := connected(t)
	r := w.newManualReconciler()
	w.mandate("first", "{reference: shared, mandateType: {id: 999999}}")
	r.reconcile("first")
	w.kubectl("delete", "mandate", "first")
	w.mandate("second", "{reference: shared}")
	r.reconcile("second")
	w.checkCondition("second", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
	w.emails(1)
}
