package mandate

import (
	"context"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// What was looked at is looked at again only if it can have become this Mandate's: a read may lag behind the create,
// and a number that is none today is one tomorrow.
func TestNamedApplications(t *testing.T) {
	t.Parallel()
	r := &reconciliation{Reconciler: NewReconciler(Config{}), mandate: &v1alpha1.Mandate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "acme"},
	}}
	name := func(ids, request string) {
		r.mandate.Annotations = map[string]string{
			v1alpha1.CandidateAnnotation: ids, v1alpha1.ReconcileRequestAnnotation: request,
		}
	}
	want := func(what string, ids ...int64) {
		t.Helper()
		if r.facts.named = r.namedApplications(); !slices.Equal(r.facts.named, ids) {
			t.Errorf("%s: %d are left, want %d", what, r.facts.named, ids)
		}
	}
	r.facts.now = now
	r.client = missingService{}
	want("without an annotation")
	name("7, 8,x,8,-1,9", "one")
	want("the last one first", 9, 8, 7)
	r.skipOther(9)
	r.readNamed(t.Context())
	want("one of another, and one that is missing", 7)
	name("7,8,9,10", "one")
	want("another one", 10, 7)
	r.facts.now = now.Add(lagAllowance)
	want("the missing one, later", 10, 8, 7)
	r.skipOther(10)
	r.readNamed(t.Context())
	r.facts.now = now.Add(day)
	want("missing twice", 7)
	name("7,8,9,10", "two")
	want("after another notification", 8, 7)
	r.session.Connection.Generation++
	want("at another service", 10, 9, 8, 7)
	r.facts.id = 7
	want("with an application")
}

// missingService has no applications.
type missingService struct{ serviceClient }

func (missingService) RetrieveApplication(context.Context, int64) (*idv.Application, error) {
	return nil, failure(idv.OpRetrieveApplication, idv.Refused, idv.KindNotFound)
}

// readService has applications with references, and counts how often each is read.
type readService struct {
	serviceClient
	references map[int64]string
	reads      map[int64]int
}

func (s readService) RetrieveApplication(_ context.Context, id int64) (*idv.Application, error) {
	s.reads[id]++
	if s.references[id] == "" {
		return nil, failure(idv.OpRetrieveApplication, idv.Refused, idv.KindNotFound)
	}
	return &idv.Application{ID: id, Reference: s.references[id]}, nil
}

// Many wait, and each was given applications of others. Each application is read for one of them, and again for the one
// whose reference it shows.
func TestNamedApplicationsOfOthers(t *testing.T) {
	t.Parallel()
	shared, woken := NewReconciler(Config{}), []string{}
	shared.wake = func(name types.NamespacedName) { woken = append(woken, name.Name) }
	references := map[int64]string{7: "acme", 8: "beta", 9: "gamma", 10: "late"}
	service := readService{references: references, reads: map[int64]int{}}
	started := func(name, ids string) *reconciliation {
		r := &reconciliation{Reconciler: shared, client: service, reference: name, mandate: &v1alpha1.Mandate{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: name, Annotations: map[string]string{v1alpha1.CandidateAnnotation: ids},
			},
		}}
		r.facts.now = now
		r.shownID = r.shown.id(r.namedReference())
		r.facts.named = r.namedApplications()
		return r
	}
	left := func(what string, r *reconciliation, want ...int64) {
		t.Helper()
		if !slices.Equal(r.facts.named, want) {
			t.Errorf("%s: %d are left, want %d", what, r.facts.named, want)
		}
	}
	beta, gamma := started("beta", "7,9"), started("gamma", "9,8")
	for _, r := range []*reconciliation{beta, gamma} {
		r.awaitNamed(v1alpha1.ReasonSettling)
	}
	left("before", beta, 9, 7)
	beta.readNamed(t.Context())
	left("one of gamma", beta, 7)
	left("of which gamma knows", started("gamma", ""), 9)
	gamma.readNamed(t.Context())
	left("one of beta, which gamma was given", gamma, 9)
	acme := started("acme", "8,9,7")
	left("those of others are not read again", acme, 7)
	acme.facts.found = 1 // its own, while others are left
	acme.facts.named = []int64{7, 10, 1}
	acme.readNamed(t.Context())
	acme.readNamed(t.Context())
	left("those that are left", acme, 1)
	busy := started("busy", "11")
	busy.shown.startRead(busy.namedID(11))
	busy.readNamed(t.Context())
	left("one that is read for another one now", busy)
	if !busy.facts.namedUnread {
		t.Error("a create may follow, although the application that is read for another one may be this one's")
	}
	late := started("late", "")
	left("one that was read before its Mandate waited", late, 10)
	late.shownID = 0
	late.awaitNamed(v1alpha1.ReasonSettling)
	gamma.awaitNamed(v1alpha1.ReasonAccepted)
	beta.show(9, "gamma")
	if want := []string{"gamma", "beta", "late"}; !slices.Equal(woken, want) {
		t.Errorf("woken up are %q, want %q", woken, want)
	}
	if want := map[int64]int{7: 1, 8: 1, 9: 1, 10: 1}; !maps.Equal(service.reads, want) {
		t.Errorf("read are %v, want %v", service.reads, want)
	}
}
