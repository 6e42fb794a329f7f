package mandate

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
