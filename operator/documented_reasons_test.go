package operator_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// Logins fail, for another reason than the credentials.
func TestServiceThatFailsLogins(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.fault(alwaysAnswers(control.Token, 500))
	_, err := w.sandbox.RevokeTokens(t.Context())
	w.check(err)
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonLoginFailing)
}

// A service fails writes only. What it answers may have had an effect, so each Mandate is sent once.
func TestServiceThatFailsWrites(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.fault(alwaysAnswers(control.CreateApplication, 500))
	for i := range 5 {
		w.mandate(fmt.Sprintf("acme-%d", i), "{}")
	}
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonWritesFailing)
}

// A Mandate has had as many actions as its record can remember.
func TestTooManyActions(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	record := w.onlyRecord()
	for i := range 100 {
		record.Spec.Actions = append(record.Spec.Actions, v1alpha1.RecordedAction{
			Name: fmt.Sprint("action-", i), Type: v1alpha1.MandateActionResendInvite, Individual: "jane",
			UID: "earlier", StartedTime: metav1.Now(),
		})
	}
	for i := range 1000 {
		record.Spec.EarlierActions = append(record.Spec.EarlierActions, fmt.Sprintf("%032x", i))
	}
	w.check(w.Update(t.Context(), record))
	w.action("resend", resend)
	w.actionFails("resend", v1alpha1.ReasonTooManyActions)
	w.checkEmailed(control.Resend, 0)
}
