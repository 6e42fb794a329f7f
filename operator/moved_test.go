package operator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// moveService has the service under another hostname.
func (w *world) moveService() {
	w.Helper()
	w.patchService(fmt.Sprintf("{baseURL: %q}", strings.Replace(w.url, "127.0.0.1", "localhost", 1)))
}

// moved is a world whose service has moved, and whose Mandate acme is deleted. adopt names its application.
func moved(t *testing.T) (w *world, adopt string) {
	t.Helper()
	w = running(t)
	w.mandate("acme", "{}")
	id := *w.ready("acme").Status.ApplicationID
	w.moveService()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.kubectl("delete", "mandate", "acme")
	return w, fmt.Sprintf("adopt: {applicationID: %d}", id)
}

// The ledger has the old hostname of a service that has moved. When a Mandate is applied again, it may be another
// service. Adopting the application restores everything, as docs/operator.md describes.
func TestAppliedAgainAfterAMove(t *testing.T) {
	t.Parallel()
	w, adopt := moved(t)
	w.mandate("acme", "{}")
	w.stalled("acme", v1alpha1.ReasonIdentityServiceMismatch)
	w.mandate("acme", "{deletionPolicy: Delete, "+adopt+"}")
	w.condition("acme", v1alpha1.ConditionCreated, metav1.ConditionTrue, v1alpha1.ReasonAdopted)
	w.ready("acme")
	w.deleteMandate("acme")
	w.waitGone("acme")
	if got := w.states(); len(got) != 0 {
		t.Errorf("the service has %q", got)
	}
	w.emails(1)
}

// After a move, spec.adopt is set, and stays when the Mandate is replaced for another person. It is not bound.
func TestAdoptionLeftOverAfterAMove(t *testing.T) {
	t.Parallel()
	w, adopt := moved(t)
	w.mandate("acme", "{"+adopt+", individuals: [{name: jane, email: canary@example.com}]}")
	if m := w.stalled("acme", v1alpha1.ReasonSpecDiffers); m.Status.ApplicationID != nil {
		t.Errorf("it has the application %d", *m.Status.ApplicationID)
	}
	w.checkDiffers("spec.individuals[jane].email")
	w.emails(1)
}

// With the credentials of another account, the service finds no application, and the Mandate has the outcome Deleted.
// When it is deleted and applied again, it finds its application in the ledger. With the deletionPolicy Delete, another
// look finds the application, and it is deleted.
func TestDeletedByMistake(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.mandate("globex", "{deletionPolicy: Delete}")
	w.ready("globex")
	id := *w.ready("acme").Status.ApplicationID
	w.fault(alwaysAnswers(control.RetrieveApplication, 404))
	for _, name := range []string{"acme", "globex"} {
		w.condition(name, v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeDeleted))
	}
	w.check(w.sandbox.ClearFaults(t.Context()))
	w.kubectl("delete", "mandate", "acme", "globex")
	if got, want := w.states(), []string{"acme archived=false"}; !slices.Equal(got, want) {
		t.Errorf("the service has %q, want %q", got, want)
	}
	w.mandate("acme", "{}")
	if got := *w.ready("acme").Status.ApplicationID; got != id {
		t.Errorf("the Mandate has application %d, want %d", got, id)
	}
	w.checkCreates(2)
	w.emails(2)
}
