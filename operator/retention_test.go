package operator_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/operator/ledger"
)

// A record outlives its Mandate for the retention time, and a Mandate that is applied again finds it. The record of an
// existing Mandate stays.
func TestRecordRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.start("--record-retention=10s")
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	for _, name := range []string{"acme", "stays"} {
		w.mandate(name, "{}")
	}
	id := *w.ready("acme").Status.ApplicationID
	w.ready("stays")

	annotated := func(want bool) {
		t.Helper()
		w.eventually(func() (bool, string) {
			for _, record := range w.records() {
				if record.Name == "acme" {
					got := record.Annotations[ledger.GoneSinceAnnotation] != ""
					return got == want, fmt.Sprintf("the record's annotations are %v", record.Annotations)
				}
			}
			return false, "the record is gone"
		})
	}
	w.kubectl("delete", "mandate", "acme")
	annotated(true)
	w.mandate("acme", "{}")
	if got := *w.ready("acme").Status.ApplicationID; got != id {
		t.Errorf("applied again, the Mandate has application %d, want %d", got, id)
	}
	annotated(false)
	w.checkCreates(2)

	w.kubectl("delete", "mandate", "acme")
	w.eventually(func() (bool, string) {
		records := w.records()
		return len(records) == 1, fmt.Sprintf("there are %d records, want that of the existing Mandate", len(records))
	})
	if got := w.records()[0].Name; got != "stays" {
		t.Errorf("the record of %s is left", got)
	}
	w.emails(2)
}
