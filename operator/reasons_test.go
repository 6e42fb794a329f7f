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

// An operator crashes between the deposit of an id and the status. Its successor cannot read the application: it
// reports neither that there is one nor that there is none.
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
			disrupt: func(w *world) {
				w.fault(readsFail)
				w.deleteMandate("acme")
			},
			ready: metav1.ConditionFalse,
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

// readsFail makes every read of an application fail.
var readsFail = alwaysAnswers(control.RetrieveApplication, 500)

// An attempt without an answer is so old that the service has deleted any application of it: nothing is sent.
func TestExpiredBeforeItWasKnown(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.mandate("acme", "{}")
	r := w.newManualReconciler()
	create := ledger.New(v1alpha1.CallCreate, time.Now())
	create.FirstStartedTime.Time = create.FirstStartedTime.Add(-57 * 24 * time.Hour)
	w.claimed(r, create)
	r.reconcile("acme")
	w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, string(v1alpha1.OutcomeExpired))
	w.checkCondition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeExpired))
	w.checkCreates(0)
}

func TestArchiveRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.fault(alwaysAnswers(control.ArchiveApplication, 400))
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

func TestActionWithoutService(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.forceDeleteService()
	w.action("resend", resend)
	w.actionWaits("resend", v1alpha1.ReasonIdentityServiceNotFound)
	w.connect()
	w.actionCompletes("resend")
	w.checkEmailed(control.Resend, 1)
}

// The ledger has the id of an application that could not be read, and loses it. The Mandate still reports that there
// may be one.
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
