package operator_test

import (
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/ledger"
)

// sentCalls counts the requests that create or change an application.
func (w *world) sentCalls() (n int64) {
	w.Helper()
	for _, operation := range append(acting, control.CreateApplication) {
		n += w.requests(operation)
	}
	return n
}

// A spec that asks for several calls gets one a reconciliation, the next one at once. None is sent twice because the
// service refuses another one.
func TestOneCallAReconciliation(t *testing.T) {
	t.Parallel()
	w := connected(t)
	r := w.newManualReconciler()
	w.fault(alwaysAnswers(control.ArchiveApplication, 409))
	w.mandate("acme", "{archived: true}")
	reconcile := func(left bool) {
		t.Helper()
		before := w.sentCalls()
		result := r.reconcile("acme")
		if sent := w.sentCalls() - before; sent > 1 {
			t.Errorf("%d calls in one reconciliation: %s", sent, w.acts())
		}
		if soon := result.RequeueAfter < time.Second; soon != left {
			t.Errorf("the next reconciliation follows in %s; calls left: %t", result.RequeueAfter, left)
		}
	}
	reconcile(true) // the create
	reconcile(false)
	m := w.get("acme")
	w.play(m, control.ResultReview)
	w.requestRead("acme")
	reconcile(false)
	m = w.get("acme")
	w.fault(control.Fault{Operation: control.AcceptCheck, Kind: control.Answer, Status: 409, Times: 1})
	w.mandate("acme", fmt.Sprintf("{archived: true, %s, checkReviews: [%s, %s, %s]}", decision(m, v1alpha1.DecisionReject),
		review(m, "document", v1alpha1.CheckDecisionAccept), review(m, "liveness", v1alpha1.CheckDecisionAccept),
		review(m, "address", v1alpha1.CheckDecisionReject)))
	carryOut := func(calls int, want string) {
		t.Helper()
		m := w.get("acme")
		edited := m.Status.ObservedGeneration < m.Generation
		for range calls - 1 {
			reconcile(true)
			if m := w.get("acme"); edited && m.Status.ObservedGeneration == m.Generation {
				t.Error("the status says that the spec was observed, and calls are left")
			}
		}
		reconcile(false)
		if got := w.acts(); got != want {
			t.Errorf("the operator sent %s, want %s", got, want)
		}
	}
	// The decision waits for the review. An archive that was refused waits for its time, or for a request.
	carryOut(3, "[archive_application: 2 accept_check: 2 reject_check: 1]")
	w.kubectl("annotate", "mandate", "acme", "--overwrite", v1alpha1.ReconcileRequestAnnotation+"=again")
	carryOut(2, "[reject_application: 1 archive_application: 2 accept_check: 3 reject_check: 1]")
	m = w.get("acme")
	if m.Status.Outcome != v1alpha1.OutcomeRejected || m.Status.ObservedGeneration != m.Generation {
		t.Errorf("the status is %+v", m.Status)
	}
}

// The API server answers the end of a decision with a conflict. The entry is read again, and gets its result.
func TestConflictAtTheEndOfADecision(t *testing.T) {
	t.Parallel()
	w := connected(t)
	r := w.newManualReconciler()
	w.mandate("acme", "{}")
	r.reconcile("acme")
	r.reconcile("acme")
	w.play(w.get("acme"), control.ResultReview)
	w.requestRead("acme")
	r.reconcile("acme")
	w.decide("acme", v1alpha1.DecisionReject)
	patches := 0
	r.before = func(request string) {
		r.failing = ""
		if request != recordPatch {
			return
		}
		patches++
		if patches == 2 { // the end comes after the begin
			r.failing, r.failure = recordPatch, apierrors.NewConflict(schema.GroupResource{}, "acme", nil)
		}
	}
	r.reconcile("acme")
	if m := w.get("acme"); patches < 3 || m.Status.Outcome != v1alpha1.OutcomeRejected {
		t.Fatalf("after %d changes of the record, the outcome is %q", patches, m.Status.Outcome)
	}
	if open := ledger.Open(w.record("acme")); open != nil {
		t.Errorf("the record has a call without a result: %+v", open)
	}
	if got := w.acts(); got != "[reject_application: 1]" {
		t.Errorf("the operator sent %s", got)
	}
}
