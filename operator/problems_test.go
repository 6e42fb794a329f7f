package operator_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// canaries are values of wrong inputs. None may be in a status or an event.
var canaries = map[string]string{
	"email": "canary", "date_of_birth": "canary-02-28", "firstName": "canary", "last_name": "canary",
	"reference": "canary-7", "title": "canary",
}

// wrongInput is a Mandate, and what its status has to say.
type wrongInput struct {
	spec   string
	reason string
	want   []v1alpha1.Problem
}

func wrong(field, reason, message string) v1alpha1.Problem {
	return v1alpha1.Problem{Field: field, Reason: reason, Message: message}
}

// wrongInputs are those that need nothing but a manifest and Secrets.
func wrongInputs() map[string]wrongInput {
	const secretOf, refused = "spec.individuals[jane].detailsSecretRef", "The service refused this field: HTTP 400."
	ofJane := "spec.individuals[jane].reference"
	missing := wrong(secretOf, v1alpha1.ReasonSecretNotFound,
		"The Secret absent does not exist in this namespace. Create it, or correct the name.")
	keyless := wrong("spec.individuals[john].detailsSecretRef", v1alpha1.ReasonSecretInvalid,
		"The key email of the Secret keyless is missing, or not an e-mail address.")
	return map[string]wrongInput{
		"missing-secret": {
			"{individuals: [{name: jane, detailsSecretRef: {name: absent}}]}", v1alpha1.ReasonSecretNotFound,
			[]v1alpha1.Problem{missing},
		},
		"two-secrets": {
			"{individuals: [{name: jane, detailsSecretRef: {name: absent}}, {name: john, detailsSecretRef: {name: keyless}}]}",
			v1alpha1.ReasonSecretNotFound, []v1alpha1.Problem{missing, keyless},
		},
		"malformed-secret": {
			"{individuals: [{name: jane, detailsSecretRef: {name: malformed}}]}", v1alpha1.ReasonSecretInvalid,
			[]v1alpha1.Problem{
				wrong(secretOf, v1alpha1.ReasonSecretInvalid,
					"The key firstName of the Secret malformed must be called first_name."),
				wrong(secretOf, v1alpha1.ReasonSecretInvalid,
					"The key date_of_birth of the Secret malformed is not a date such as 1990-02-28."),
				wrong(secretOf, v1alpha1.ReasonSecretInvalid,
					"The key email of the Secret malformed is missing, or not an e-mail address."),
			},
		},
		"other-secret": {
			"{individuals: [{name: jane, detailsSecretRef: {name: other}}]}", v1alpha1.ReasonSecretNotForThis,
			[]v1alpha1.Problem{wrong(secretOf, v1alpha1.ReasonSecretNotForThis, "The Secret other is not for an individual. "+
				"If it is meant to be sent, run: kubectl label secret other idv.mandate.io/use=individual")},
		},
		"unknown-type": {
			"{mandateType: {code: none}}", v1alpha1.ReasonMandateTypeNotFound,
			[]v1alpha1.Problem{wrong("spec.mandateType.code", v1alpha1.ReasonMandateTypeNotFound,
				"The service has no such mandate type. Choose one from status.mandateTypes of the IdentityService.")},
		},
		"unknown-id": {
			"{mandateType: {id: 999999}}", v1alpha1.ReasonRefused,
			[]v1alpha1.Problem{wrong("spec.mandateType", v1alpha1.ReasonRefused, refused)},
		},
		"taken-reference": {
			"{individuals: [{name: jane, email: canary@example.com, reference: canary-1}]}", v1alpha1.ReasonRefused,
			[]v1alpha1.Problem{wrong(ofJane, v1alpha1.ReasonRefused, refused)},
		},
		"taken-reference-of-a-secret": {
			"{individuals: [{name: jane, detailsSecretRef: {name: taken}}]}", v1alpha1.ReasonRefused,
			[]v1alpha1.Problem{wrong(ofJane, v1alpha1.ReasonRefused,
				refused+" It may come from the key reference of the Secret taken.")},
		},
		"taken-by-another": {
			"{reference: acme-1}", v1alpha1.ReasonReferenceConflict,
			[]v1alpha1.Problem{wrong("spec.reference", v1alpha1.ReasonReferenceConflict, refused)},
		},
		"adopts-nothing": {
			"{adopt: {applicationID: 99999999}}", v1alpha1.ReasonAdoptionRefused,
			[]v1alpha1.Problem{wrong("spec.adopt.applicationID", v1alpha1.ReasonAdoptionRefused,
				"The service does not have this application.")},
		},
	}
}

// What is wrong with a Mandate is in its status: exactly, without a value, and not written again by the next operator.
func TestProblemsOfInputs(t *testing.T) {
	t.Parallel()
	for name, c := range wrongInputs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.secret("malformed", canaries)
			w.secret("keyless", map[string]string{"last_name": "canary"})
			w.secret("taken", map[string]string{"email": "canary@example.com", "reference": "canary-1"})
			w.unlabelled("other", corev1.SecretTypeOpaque, map[string]string{"email": "canary@example.com"})
			r := w.newManualReconciler()
			w.mandate("first",
				"{reference: acme-1, individuals: [{name: john, email: canary@example.com, reference: canary-1}]}")
			r.reconcile("first")
			w.mandate("acme", c.spec)
			r.reconcile("acme")
			w.checkReady("acme", c.reason)
			w.checkProblems("acme", c.want...)
			r.checkEvents("acme", c.reason)
			before := w.get("acme").ResourceVersion
			r.reconcile("acme")
			w.newManualReconciler().reconcile("acme")
			if m := w.get("acme"); m.ResourceVersion != before {
				t.Errorf("the status was written again: %+v", m.Status.Problems)
			}
		})
	}
}

// checkProblems compares what the status of a Mandate says.
func (w *world) checkProblems(name string, want ...v1alpha1.Problem) {
	w.Helper()
	if diff := cmp.Diff(want, w.get(name).Status.Problems); diff != "" {
		w.Errorf("problems of %s (-want +got):\n%s", name, diff)
	}
}

// checkServiceProblems compares what the status of the IdentityService says.
func (w *world) checkServiceProblems(want ...v1alpha1.Problem) {
	w.Helper()
	if diff := cmp.Diff(want, w.service("default").Status.Problems); diff != "" {
		w.Errorf("problems of the IdentityService (-want +got):\n%s", diff)
	}
}

// checkEvents checks that there is an event of a reason, and looks for the values of wrong inputs in all events and the
// status of a Mandate.
func (r *manualReconciler) checkEvents(name, reason string) {
	r.world.Helper()
	status, err := json.Marshal(r.world.get(name).Status)
	r.world.check(err)
	said := string(status)
	for recorder := r.Events.(*events.FakeRecorder); len(recorder.Events) > 0; {
		said += <-recorder.Events
	}
	if i := strings.Index(said, "canary"); i >= 0 {
		r.world.Errorf("a value is shown: %s", said[max(0, i-100):])
	}
	if !strings.Contains(said, "Warning "+reason+" ") {
		r.world.Errorf("there is no event of %s: %s", reason, said)
	}
}

// What is solved is gone with the next status, and what is left stays.
func TestProblemsAreSolved(t *testing.T) {
	t.Parallel()
	w := connected(t)
	r := w.newManualReconciler()
	w.mandate("acme",
		"{individuals: [{name: jane, detailsSecretRef: {name: jane}}, {name: john, detailsSecretRef: {name: john}}]}")
	r.reconcile("acme")
	missing := func(name string) v1alpha1.Problem {
		return wrong("spec.individuals["+name+"].detailsSecretRef", v1alpha1.ReasonSecretNotFound,
			"The Secret "+name+" does not exist in this namespace. Create it, or correct the name.")
	}
	w.checkProblems("acme", missing("jane"), missing("john"))
	w.secret("jane", map[string]string{"email": "jane@example.com"})
	r.reconcile("acme")
	w.checkProblems("acme", missing("john"))
	w.secret("john", map[string]string{"email": "john@example.com"})
	r.reconcile("acme")
	w.checkReady("acme", v1alpha1.ReasonAccepted)
	w.checkProblems("acme")
}

// What a call was refused with, and which review is outdated, is in the status while that is so.
func TestProblemsOfCalls(t *testing.T) {
	t.Parallel()
	w := connected(t)
	r := w.newManualReconciler()
	w.mandate("acme", "{}")
	r.reconcile("acme")
	w.play(w.get("acme"), control.ResultReview)
	w.requestRead("acme")
	r.reconcile("acme")
	m := w.get("acme")
	name := m.Status.Individuals[0].Name
	outdated := strings.Replace(review(m, "document", v1alpha1.CheckDecisionAccept),
		checkNamed(m, "document").Evidence, "00000000-1", 1)
	none := strings.Replace(review(m, "document", v1alpha1.CheckDecisionAccept), "document", "none", 1)
	w.mandate("acme", "{checkReviews: ["+outdated+", "+none+"]}")
	r.reconcile("acme")
	w.checkReady("acme", v1alpha1.ReasonReviewOutdated)
	w.checkProblems("acme",
		wrong(fmt.Sprintf("spec.checkReviews[%s/document]", name), v1alpha1.ReasonReviewOutdated,
			"The check has other evidence. Copy it from status.individuals if the review holds, or remove the review."),
		wrong(fmt.Sprintf("spec.checkReviews[%s/none]", name), v1alpha1.ReasonReviewOutdated,
			"The individual has no such check, or several. Correct spec.checkReviews[].check, or remove the review."))

	w.fault(control.Fault{Operation: control.AcceptCheck, Kind: control.Answer, Status: 409, Body: "problem"})
	w.mandate("acme", "{"+reviews(m, v1alpha1.CheckDecisionAccept, "document")+"}")
	r.reconcile("acme")
	w.checkReady("acme", v1alpha1.ReasonReviewRefused)
	refused := wrong(fmt.Sprintf("spec.checkReviews[%s/document]", name), v1alpha1.ReasonReviewRefused,
		"The service refused it: HTTP 409 Conflict.")
	w.checkProblems("acme", refused)
	w.newManualReconciler().reconcile("acme")
	w.checkProblems("acme", refused)

	w.fault(control.Fault{Operation: control.RejectApplication, Kind: control.Answer, Status: 409, Body: "problem"})
	w.mandate("acme", "{"+decision(m, v1alpha1.DecisionReject)+"}")
	r.reconcile("acme")
	w.checkReady("acme", v1alpha1.ReasonDecisionRefused)
	w.checkProblems("acme", wrong("spec.decision", v1alpha1.ReasonDecisionRefused,
		"The service refused it: HTTP 409 Conflict."))
	w.mandate("acme", "{decision: {outcome: Complete, evidence: 00000000-1}}")
	r.reconcile("acme")
	w.checkProblems("acme", wrong("spec.decision.evidence", v1alpha1.ReasonDecisionOutdated,
		"It is not status.evidence. A check has changed, or an individual was reset, since its author looked."))
	w.mandate("acme", "{decision: {outcome: Complete, when: AllChecksPassed}}")
	r.reconcile("acme")
	for _, check := range m.Status.Individuals[0].Checks {
		waits := wrong(fmt.Sprintf("status.individuals[%s].checks[%d]", name, check.ID), v1alpha1.ReasonDecisionWaiting,
			"The check has not passed.")
		if !slices.Contains(w.get("acme").Status.Problems, waits) {
			t.Errorf("the status does not say %+v: %+v", waits, w.get("acme").Status.Problems)
		}
	}
	w.mandate("acme", "{}")
	r.reconcile("acme")
	w.checkProblems("acme")
}

// A ResourceQuota of records is used up. The status says so, nothing is sent, and the Mandate goes on by itself later.
func TestProblemsOfQuota(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("first", "{}")
	w.ready("first")
	const records = "count/applicationrecords.idv.mandate.io"
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "canary"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{records: resource.MustParse("1")}},
	}
	w.check(w.Create(t.Context(), quota))
	quota.Status = corev1.ResourceQuotaStatus{
		Hard: quota.Spec.Hard, Used: corev1.ResourceList{records: resource.MustParse("1")},
	}
	w.check(w.Status().Update(t.Context(), quota)) // there is no controller for that here
	w.eventually(func() (bool, string) {
		trial := &v1alpha1.ApplicationRecord{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "trial"}, Spec: w.onlyRecord().Spec,
		}
		err := w.Create(t.Context(), trial, client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "exceeded quota"), "the quota is not in force"
	})
	w.mandate("acme", "{}")
	w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonLedgerUnavailable)
	w.checkProblems("acme", wrong("ApplicationRecord", v1alpha1.ReasonLedgerUnavailable,
		"The operator cannot write the ApplicationRecord: a ResourceQuota of the namespace is used up."))
	w.emails(1)
	w.check(w.Delete(t.Context(), quota))
	w.ready("acme")
	w.checkProblems("acme")
	w.emails(2)
}

// What an action was refused with is in its status, and an event tells of it.
func TestProblemsOfActions(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.fault(control.Fault{Operation: control.ResendInvites, Kind: control.Answer, Status: 409, Body: "problem"})
	w.action("resend", resend)
	action := w.actionFails("resend", v1alpha1.ReasonRefused)
	want := []v1alpha1.Problem{wrong("spec.type", v1alpha1.ReasonRefused, "The service refused it: HTTP 409 Conflict.")}
	if diff := cmp.Diff(want, action.Status.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	w.eventsOf("MandateAction", "resend", v1alpha1.ReasonRefused)
}
