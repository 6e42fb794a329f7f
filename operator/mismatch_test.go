package operator_test

import (
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
)

// The IdentityService points to another service by mistake, and is corrected later. The operator changes nothing at the
// other service, and keeps nothing that it reads there.
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
			w.play(m, control.ResultReview)
			m = w.inReview("acme")
			if occupied {
				other.occupy(*m.Status.ApplicationID)
			}
			w.patchService(fmt.Sprintf("{baseURL: %q}", other.url))
			w.mandate("acme", "{archived: true, "+decision(m, v1alpha1.DecisionComplete)+"}")
			m = w.stalled("acme", v1alpha1.ReasonIdentityServiceMismatch)
			if m.Status.Outcome != "" || m.Status.Archived || m.Status.State != "in review" {
				t.Errorf("the status shows data of the other service: %+v", m.Status)
			}
			for _, operation := range []control.Operation{
				control.ArchiveApplication, control.CompleteApplication, control.CreateApplication,
			} {
				expected := int64(0)
				if occupied && operation == control.CreateApplication {
					expected = 1 // by occupy
				}
				if n := other.requests(operation); n != expected {
					t.Errorf("the other service had %d requests to %s, want %d", n, operation, expected)
				}
			}
			w.patchService(fmt.Sprintf("{baseURL: %q}", w.url))
			w.until("acme", "archived at its own service", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
			w.ready("acme")
			w.emails(1)
		})
	}
}

// occupy creates an unrelated application, which has to get the id, and completes its checks.
func (w *world) occupy(id int64) {
	w.Helper()
	created, err := w.client(w.url).CreateApplication(w.Context(), idv.NewApplication{
		Name: idv.Hide("Unrelated"), Reference: "unrelated", MandateTypeID: w.mandateType(),
		Individuals: []idv.NewIndividual{{Reference: idv.Hide("unrelated.jane"), Email: idv.Hide("unrelated@example.com")}},
	})
	w.check(err)
	if created.ID != id {
		w.Fatalf("the unrelated application has the id %d, want %d", created.ID, id)
	}
	_, err = w.sandbox.Play(w.Context(), control.Play{ApplicationID: id, Result: control.ResultReview})
	w.check(err)
}

// The service moves to another URL, with all its applications. Everything continues to work.
func TestServiceMoves(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.mandate("gone", "{deletionPolicy: Delete}")
	w.ready("acme")
	gone := w.ready("gone")
	target, err := url.Parse(w.url)
	w.check(err)
	moved := httptest.NewServer(httputil.NewSingleHostReverseProxy(target))
	t.Cleanup(moved.Close)
	w.patchService(fmt.Sprintf("{baseURL: %q}", moved.URL))
	w.mandate("acme", "{archived: true}")
	w.until("acme", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	w.ready("acme")
	w.check(w.Delete(t.Context(), gone))
	w.eventually(func() (bool, string) {
		return w.requests(control.DeleteApplication) == 1, "the application is not deleted"
	})
	w.kubectl("wait", "--for=delete", await.Timeout(t), "mandate/gone")
	w.emails(2)
}

// A referencePrefix is for Mandates that have no application yet.
func TestAnotherPrefix(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	m := w.ready("acme")
	w.patchService("{referencePrefix: eu-}")
	w.mandate("acme", "{archived: true}")
	again := w.until("acme", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	if *again.Status.ApplicationID != *m.Status.ApplicationID || again.Status.Reference != m.Status.Reference {
		t.Errorf(
			"the Mandate has application %d, %q, want %d, %q",
			*again.Status.ApplicationID,
			again.Status.Reference,
			*m.Status.ApplicationID,
			m.Status.Reference,
		)
	}
	w.emails(1)
	w.mandate("other", "{}")
	if m := w.ready("other"); m.Status.Reference != "eu-"+w.namespace+".other" {
		t.Errorf("a new Mandate has the reference %q", m.Status.Reference)
	}
}

// The service refuses more reviews than one reconciliation used to have steps.
func TestManyReviewsRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	const people = 30
	var individuals, reviews []string
	for i := range people {
		individuals = append(individuals, fmt.Sprintf("{name: p%d, email: p%d@example.com}", i, i))
	}
	spec := "{individuals: [" + strings.Join(individuals, ", ") + "]"
	w.mandate("acme", spec+"}")
	w.play(w.ready("acme"), control.ResultReview)
	for _, individual := range w.inReview("acme").Status.Individuals {
		for _, check := range individual.Checks[:2] {
			reviews = append(reviews, fmt.Sprintf("{individual: %s, check: %s, evidence: %s, decision: Accept}", individual.Name,
				check.Name, check.Evidence))
		}
	}
	w.fault(alwaysAnswers(control.AcceptCheck, 422))
	w.mandate("acme", spec+", checkReviews: ["+strings.Join(reviews, ", ")+"]}")
	w.eventually(func() (bool, string) {
		n := w.requests(control.AcceptCheck)
		return n >= 2*people, fmt.Sprintf("%d reviews were sent", n)
	})
	w.stalled("acme", v1alpha1.ReasonReviewRefused)
	w.waitPolls(2)
	if n := w.requests(control.AcceptCheck); n != 2*people {
		t.Errorf("%d reviews were sent, want %d, each once", n, 2*people)
	}
}
