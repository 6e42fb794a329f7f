package operator_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// A leader that has lost its lease still stores the ids of its creates, while the next one shows that their outcome is
// unknown and notifications name applications. With more such Mandates than slots, all become Ready: each looks at its
// record with the slot of a recovery, and reads its application with the same slot.
func TestRecordsThatThePreviousLeaderCompletes(t *testing.T) {
	t.Parallel()
	const mandates = 6
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.start("--settle-delay=10m")
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	lost := answerLost
	lost.Times = control.Always
	w.fault(lost)
	names := make([]string, mandates)
	for i := range names {
		names[i] = fmt.Sprintf("acme-%d", i)
		w.mandate(names[i], fmt.Sprintf("{individuals: [{name: jane, email: jane-%d@example.com}]}", i))
		w.condition(names[i], v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
	}
	w.check(w.operator.Stop())
	w.check(w.sandbox.ClearFaults(t.Context()))

	for _, name := range names {
		w.completeRecord(name)
		mandate := w.get(name)
		patch := client.MergeFrom(mandate.DeepCopy())
		mandate.Annotations = map[string]string{v1alpha1.CandidateAnnotation: "1,2"}
		w.check(w.Patch(t.Context(), mandate, patch))
	}
	w.start("--settle-delay=10m", "--max-concurrent-reconciles=1")
	for _, name := range names {
		w.ready(name)
	}
	w.emails(mandates)
}

// completeRecord stores the id of the application in the record of a Mandate.
func (w *world) completeRecord(name string) {
	w.Helper()
	record := w.record(name)
	patch := client.MergeFrom(record.DeepCopy())
	record.Spec.ApplicationID = new(w.applicationID(record.Spec.Reference))
	w.check(w.Patch(w.Context(), record, patch))
}
