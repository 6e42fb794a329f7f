package operator_test

import (
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// Somebody points the IdentityService at another service, and corrects it later. Nothing may be done to what is there, and
// nothing that is seen there may last.
func TestAnotherServiceByMistake(t *testing.T) {
	t.Parallel()
	for name, occupied := range map[string]bool{"with another application of the id": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sameIDs := sandbox.Options{Seed: 1}
			w, other := newWorld(t, sameIDs), newWorld(t, sameIDs)
			w.connect()
			w.start()
			w.mandate("acme", "{}")
			m := w.ready("acme")
			if occupied {
				other.occupy(*m.Status.ApplicationID)
			}
			w.patchService(fmt.Sprintf("{baseURL: %q}", other.url))
			w.mandate("acme", "{archived: true, decision: Complete}")
			m = w.stalled("acme", v1alpha1.ReasonServiceMismatch)
			if m.Status.Outcome != "" || m.Status.Archived || m.Status.State != "created" {
				t.Errorf("the status says what was seen at the other service: %+v", m.Status)
			}
			for _, operation := range []control.Operation{control.ArchiveApplication, control.CompleteApplication, control.CreateApplication} {
				own := int64(0)
				if occupied && operation == control.CreateApplication {
					own = 1 // occupy's
				}
				if n := other.requests(operation); n != own {
					t.Errorf("%s was called %d times at the other service", operation, n-own)
				}
			}
			w.patchService(fmt.Sprintf("{baseURL: %q}", w.url))
			w.until("acme", "archived at its own service", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
			w.ready("acme")
			w.emails(1)
		})
	}
}

// occupy has somebody else's application under an id, with people who are done.
func (w *world) occupy(id int64) {
	w.Helper()
	made, err := w.client(w.url).CreateApplication(w.Context(), idv.NewApplication{
		Name: idv.Hide("Somebody else"), Reference: "somebody-else", MandateTypeID: w.mandateType(),
		Individuals: []idv.NewIndividual{{Reference: idv.Hide("somebody"), Email: idv.Hide("somebody@example.com")}},
	})
	w.check(err)
	if made.ID != id {
		w.Fatalf("somebody else's application has the id %d, and should have %d", made.ID, id)
	}
	_, err = w.sandbox.Play(w.Context(), control.Play{ApplicationID: id, Result: control.Review})
	w.check(err)
}

// The service gets another name. Nothing else changes, and nothing may be in the way.
func TestServiceMoves(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.mandate("gone", "{deletionPolicy: Delete}")
	w.ready("acme")
	gone := w.ready("gone")
	there, err := url.Parse(w.url)
	w.check(err)
	moved := httptest.NewServer(httputil.NewSingleHostReverseProxy(there))
	t.Cleanup(moved.Close)
	w.patchService(fmt.Sprintf("{baseURL: %q}", moved.URL))
	w.mandate("acme", "{archived: true}")
	w.until("acme", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	w.ready("acme")
	w.check(w.Delete(t.Context(), gone))
	w.eventually(func() (bool, string) {
		return w.requests(control.DeleteApplication) == 1, "the application is not deleted"
	})
	w.kubectl("wait", "--for=delete", "--timeout=30s", "mandate/gone")
	w.emails(2)
}

// The same manifest, deleted and applied again after the referencePrefix was edited.
func TestAnotherPrefix(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	m := w.ready("acme")
	w.patchService("{referencePrefix: eu-}")
	w.check(w.Delete(t.Context(), m))
	w.mandate("acme", "{}")
	again := w.ready("acme")
	if *again.Status.ApplicationID != *m.Status.ApplicationID || again.Status.Reference != m.Status.Reference {
		t.Errorf("it has application %d, %q, and had %d, %q", *again.Status.ApplicationID, again.Status.Reference, *m.Status.ApplicationID, m.Status.Reference)
	}
	w.emails(1)
	w.mandate("other", "{}")
	if m := w.ready("other"); m.Status.Reference != "eu-"+w.namespace+".other" {
		t.Errorf("a new Mandate has the reference %q", m.Status.Reference)
	}
}

// More checks are to be reviewed than a pass used to have steps, and the service refuses all of them.
func TestManyReviewsRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	const people = 30
	var individuals, reviews []string
	for i := range people {
		individuals = append(individuals, fmt.Sprintf("{name: p%d, email: p%d@example.com}", i, i))
		for _, check := range []string{"document", "liveness"} {
			reviews = append(reviews, fmt.Sprintf("{individual: p%d, check: %s, decision: Accept}", i, check))
		}
	}
	spec := "{individuals: [" + strings.Join(individuals, ", ") + "]"
	w.mandate("acme", spec+"}")
	w.play(w.ready("acme"), control.Review)
	w.fault(control.Fault{Operation: control.AcceptCheck, Kind: control.Answer, Status: 422, Times: control.Always})
	w.mandate("acme", spec+", checkReviews: ["+strings.Join(reviews, ", ")+"]}")
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonReviewRefused)
	polls := w.requests(control.RetrieveApplication)
	w.eventually(func() (bool, string) {
		return w.requests(control.RetrieveApplication) >= polls+2, "the application is not polled"
	})
	if n := w.requests(control.AcceptCheck); n != 2*people {
		t.Errorf("%d reviews were sent, want %d, each once", n, 2*people)
	}
}
