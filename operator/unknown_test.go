package operator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// lost is a create that the service carries out and whose answer nobody gets; unanswered one that it does not carry out.
var (
	lost       = control.Fault{Operation: control.CreateApplication, Kind: control.Close, AfterWork: true}
	unanswered = control.Fault{Operation: control.CreateApplication, Kind: control.Close}
)

// settles makes passes until Ready has a reason. The settle delay is long enough for a slow machine between a claim and
// its create, and the operator sees the attempt for the first time.
func (w *world) settles(reason string) {
	w.Helper()
	h := w.byHand()
	h.SettleDelay = 2 * time.Second
	w.eventually(func() (bool, string) {
		h.passes("acme")
		c := meta.FindStatusCondition(w.get("acme").Status.Conditions, v1alpha1.ConditionReady)
		return c.Reason == reason, fmt.Sprintf("Ready is %+v, want reason %s", c, reason)
	})
}

// The answer to a create was lost. Whatever is edited then, nothing goes out under another reference or to another
// service: it would create a second application.
func TestNothingIsSentElsewhere(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		before func(*world) // the create
		edit   func(w, elsewhere *world)
	}{
		"another reference": {edit: func(w, _ *world) { w.mandate("acme", "{reference: another}") }},
		"another reference, and back to one that was refused before": {
			before: func(w *world) {
				w.mandate("acme", "{reference: refused, mandateType: {id: 999999}}")
				w.byHand().passes("acme")
				w.is("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRefused)
				w.mandate("acme", "{reference: lost}")
			},
			edit: func(w, _ *world) { w.mandate("acme", "{reference: refused}") },
		},
		"another prefix": {edit: func(w, _ *world) { w.service("{referencePrefix: another-}") }},
		"another prefix, with the IdentityService created again": {edit: func(w, _ *world) {
			w.kubectl("delete", "identityservice", "default")
			w.apply(fmt.Sprintf("{kind: IdentityService, metadata: {name: default}, spec: {baseURL: %q, credentialsSecretRef: {name: idv}, referencePrefix: another-}}", w.url))
		}},
		"another service": {edit: func(w, elsewhere *world) { w.service(fmt.Sprintf("{baseURL: %q}", elsewhere.url)) }},
		"another name for the URL": {edit: func(w, _ *world) {
			w.service(fmt.Sprintf("{baseURL: %q}", strings.Replace(w.url, "127.0.0.1", "localhost", 1)))
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, elsewhere := connected(t), newWorld(t, sandbox.Options{})
			w.mandate("acme", "{}")
			if c.before != nil {
				c.before(w)
			}
			w.fault(lost)
			w.byHand().passes("acme")
			reference := w.get("acme").Status.Reference
			c.edit(w, elsewhere)
			w.settles(v1alpha1.ReasonOutcomeUnknown)
			if got := w.get("acme").Status.Reference; got != reference {
				t.Errorf("the status shows the reference %s, and what may exist is %s", got, reference)
			}
			w.emails(1)
			elsewhere.emails(0)
		})
	}
}

// An attempt had an unknown outcome, and the next one is refused.
func TestRefusedAfterAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	t.Run("for what was sent", func(t *testing.T) {
		t.Parallel()
		w := connected(t)
		w.mandate("acme", "{mandateType: {id: 999999}}")
		w.fault(unanswered)
		h := w.byHand()
		h.passes("acme")
		w.settles(v1alpha1.ReasonRefused)
		// The refusal says nothing about the first attempt.
		w.is("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
		w.is("acme", v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonRefused)
		sent := w.requests(control.CreateApplication)
		h.passes("acme")
		w.creates(sent)
		w.mandate("acme", "{}")
		h.passes("acme")
		w.is("acme", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
		w.emails(1)
	})
	t.Run("for an individual's reference", func(t *testing.T) {
		t.Parallel()
		w := connected(t)
		w.mandate("other", "{individuals: [{name: jane, email: jane@example.com, reference: shared}]}")
		h := w.byHand()
		h.passes("other")
		w.mandate("acme", "{individuals: [{name: jane, email: jane@example.com, reference: shared}]}")
		w.fault(unanswered)
		h.passes("acme")
		// The individuals may be those of the first attempt: the service may look at them before the application's reference.
		w.settles(v1alpha1.ReasonOutcomeUnknown)
		w.mandate("acme", "{}")
		sent := w.requests(control.CreateApplication)
		h.passes("acme")
		w.creates(sent)
		w.is("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
	})
}

// Whatever else is in the way of a Mandate whose create may have been carried out: it does not say that nothing was created.
func TestUnknownStaysUnknown(t *testing.T) {
	t.Parallel()
	cases := map[string]func(w *world, h *hand){
		v1alpha1.ReasonSuspended:           func(w *world, _ *hand) { w.mandate("acme", "{suspend: true}") },
		v1alpha1.ReasonAdoptionRefused:     func(w *world, _ *hand) { w.mandate("acme", "{adopt: {applicationID: 1}}") },
		v1alpha1.ReasonMandateTypeNotFound: func(w *world, _ *hand) { w.mandate("acme", "{mandateType: {code: none}}") },
		v1alpha1.ReasonSecretNotFound: func(w *world, _ *hand) {
			w.mandate("acme", "{individuals: [{name: jane, detailsSecretRef: {name: none}}]}")
		},
		v1alpha1.ReasonServiceNotFound: func(w *world, _ *hand) { w.mandate("acme", "{serviceRef: {name: none}}") },
		"Retrying": func(w *world, _ *hand) {
			w.fault(control.Fault{Operation: control.CreateApplication, Kind: control.Answer, Status: 429, Times: control.Always})
		},
	}
	for reason, hinder := range cases {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.mandate("acme", "{}")
			w.fault(lost)
			w.byHand().passes("acme")
			hinder(w, w.byHand())
			w.settles(reason)
			w.is("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
			w.emails(1)
		})
	}
}

// Somebody deletes the record of an application that may exist. The Mandate still knows that, and nothing is sent.
func TestUnknownWithoutLedger(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*world){
		"as it was":                          func(*world) {},
		"with another reference":             func(w *world) { w.mandate("acme", "{reference: another}") },
		"with a service that cannot be used": func(w *world) { w.service(`{baseURL: "http://127.0.0.1:1"}`) },
		"and another Mandate has it": func(w *world) {
			w.mandate("other", "{reference: "+w.namespace+".acme}")
			w.byHand().passes("other")
			w.is("other", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonReferenceConflict)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.mandate("acme", "{}")
			w.fault(lost)
			w.byHand().passes("acme")
			w.settles(v1alpha1.ReasonOutcomeUnknown)
			h := w.byHand()
			w.check(w.Delete(t.Context(), w.theRecord()))
			edit(w)
			sent := w.requests(control.CreateApplication)
			for range 2 {
				h.passes("acme")
				w.is("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
			}
			w.creates(sent)
			w.emails(1)
		})
	}
}

// Two Mandates want the same reference, and what the first one sent was refused. The second must not take its place: they
// would take turns, and send, for ever.
func TestRefusedWithTheSameReference(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.mandate("first", "{reference: shared, mandateType: {id: 999999}}")
	w.mandate("second", "{reference: shared, mandateType: {id: 999999}}")
	h := w.byHand()
	for range 3 {
		h.passes("first")
		h.passes("second")
	}
	w.creates(1)
	w.is("first", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRefused)
	w.is("second", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonReferenceConflict)

	w.mandate("second", "{reference: shared}")
	w.mandate("first", "{reference: own}")
	h.passes("first")
	h.passes("second")
	w.is("first", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
	w.is("second", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
	w.emails(2)
}

// The same when the first Mandate is gone: its reference is free.
func TestReferenceOfADeletedMandate(t *testing.T) {
	t.Parallel()
	w := connected(t)
	h := w.byHand()
	w.mandate("first", "{reference: shared, mandateType: {id: 999999}}")
	h.passes("first")
	w.kubectl("delete", "mandate", "first")
	w.mandate("second", "{reference: shared}")
	h.passes("second")
	w.is("second", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
	w.emails(1)
}
