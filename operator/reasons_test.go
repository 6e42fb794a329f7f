package operator_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/ledger"
)

// An operator ended between the deposit and the status. Whatever the next one meets first: it does not say that an
// application is created that it has not seen, nor that there is none.
func TestDepositedAndNotRead(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		disrupt func(*world)
		ready   metav1.ConditionStatus
	}{
		v1alpha1.ReasonReadFailed: {
			disrupt: func(w *world) { w.fault(readsFail) },
			ready:   metav1.ConditionUnknown,
		},
		v1alpha1.ReasonDeletionWaiting: {
			disrupt: func(w *world) { w.fault(readsFail); w.deleteMandate("acme") },
			ready:   metav1.ConditionFalse,
		},
		v1alpha1.ReasonDeletionRefused: {
			disrupt: func(w *world) {
				w.patchService(fmt.Sprintf("{baseURL: %q}", newWorld(w.T, sandbox.Options{}).url))
				w.deleteMandate("acme")
			},
			ready: metav1.ConditionFalse,
		},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.mandate("acme", "{deletionPolicy: Delete}")
			r := w.newManualReconciler()
			r.beforeFirst("patch status of Mandate", crash)
			r.reconcile("acme")
			c.disrupt(w)
			w.newManualReconciler().reconcile("acme")
			w.checkCondition("acme", v1alpha1.ConditionReady, c.ready, reason)
			w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, reason)
			w.emails(1)
		})
	}
}

// unreadable is a service that has everything and shows no application.
var readsFail = control.Fault{Operation: control.RetrieveApplication, Kind: control.Answer, Status: 500, Times: control.Always}

// An attempt whose answer was lost is so old that the service has deleted what it may have created: nothing is sent.
func TestExpiredBeforeItWasKnown(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.mandate("acme", "{}")
	r := w.newManualReconciler()
	attempt := ledger.NewAttempt("", time.Now())
	attempt.FirstStartedTime.Time = attempt.FirstStartedTime.Add(-57 * 24 * time.Hour)
	_, err := r.Ledger.Claim(t.Context(), w.namespace, v1alpha1.ApplicationRecordSpec{
		ServiceURL: ledger.NormalURL(w.url), Reference: w.namespace + ".acme", Attempt: &attempt,
		MandateRef: v1alpha1.RecordedMandate{Name: "acme", UID: w.get("acme").UID},
	})
	w.check(err)
	r.reconcile("acme")
	w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, string(v1alpha1.OutcomeExpired))
	w.checkCondition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeExpired))
	w.checkCreates(0)
}

func TestArchiveRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.fault(control.Fault{Operation: control.ArchiveApplication, Kind: control.Answer, Status: 400, Times: control.Always})
	w.mandate("acme", "{archived: true}")
	w.condition("acme", v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonNotArchived)
	w.check(w.sandbox.ClearFaults(t.Context()))
	w.until("acme", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	w.ready("acme")
}

func TestCABundleInvalid(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.patchService(`{caBundle: "-----BEGIN CERTIFICATE-----\nnot one\n-----END CERTIFICATE-----"}`)
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonCABundleInvalid)
}

func TestOrderWithoutService(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.forceDeleteService()
	w.action("resend", resend)
	w.actionWaits("resend", v1alpha1.ReasonServiceNotFound)
	w.connect()
	w.actionCompletes("resend")
	w.checkEmailed(control.Resend, 1)
}

// The ledger has the id of an application that was not read, and is lost: that there may be one is not forgotten.
func TestDepositedAndLost(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.mandate("acme", "{}")
	r := w.newManualReconciler()
	r.beforeFirst("patch status of Mandate", crash)
	r.reconcile("acme")
	w.fault(readsFail)
	w.newManualReconciler().reconcile("acme")
	w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonReadFailed)
	w.check(w.Delete(t.Context(), w.onlyRecord()))
	w.newManualReconciler().reconcile("acme")
	w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
	w.checkCreates(1)
	w.emails(1)
}
