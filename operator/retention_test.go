package operator_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/ledger"
)

// A record outlives its Mandate, is there for one that comes back, and goes in the end; that of a Mandate that exists stays.
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

	noted := func(want bool) {
		t.Helper()
		w.eventually(func() (bool, string) {
			for _, record := range w.records() {
				if record.Spec.MandateRef.Name == "acme" {
					return record.Annotations[ledger.GoneSinceAnnotation] != "" == want, fmt.Sprintf("the record's annotations are %v", record.Annotations)
				}
			}
			return false, "the record is gone"
		})
	}
	w.kubectl("delete", "mandate", "acme")
	noted(true)
	w.mandate("acme", "{}")
	if got := *w.ready("acme").Status.ApplicationID; got != id {
		t.Errorf("the Mandate that came back has application %d, want %d", got, id)
	}
	noted(false)
	if got := w.requests(control.CreateApplication); got != 2 {
		t.Errorf("%d create requests, want 2", got)
	}

	w.kubectl("delete", "mandate", "acme")
	w.eventually(func() (bool, string) {
		records := w.records()
		return len(records) == 1, fmt.Sprintf("there are %d records, want that of the Mandate that exists", len(records))
	})
	if got := w.records()[0].Spec.MandateRef.Name; got != "stays" {
		t.Errorf("the record of %s is left", got)
	}
	w.emails(2)
}
