package mandate

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// liveLabels is an API server with one ClusterIdentityService for the team onboarding, one Mandate that uses it, and
// its namespace.
type liveLabels struct {
	client.Reader
	mandate *v1alpha1.Mandate
	team    string
}

func (l liveLabels) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	switch object := object.(type) {
	case *v1alpha1.ClusterIdentityService:
		object.UID, object.Generation = "1", 1
		object.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "onboarding"}}
	case *v1alpha1.Mandate:
		l.mandate.DeepCopyInto(object)
	case *metav1.PartialObjectMetadata:
		if object.Kind == "Namespace" {
			object.Labels = map[string]string{"team": l.team}
			return nil
		}
		l.mandate.ObjectMeta.DeepCopyInto(&object.ObjectMeta)
	}
	return nil
}

// A connection is withdrawn by a label of the namespace. The cache may not know it yet: it is read live before a
// create, and before every other call that acts on people.
func TestNamespaceWithdrawn(t *testing.T) {
	for team, allowed := range map[string]bool{"onboarding": true, "sales": false} {
		m := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "acme", UID: "2", Generation: 1}}
		secret := &v1alpha1.SecretReference{Name: "jane"}
		m.Spec.Individuals = []v1alpha1.Individual{{Name: "jane", DetailsSecretRef: secret}}
		live := liveLabels{mandate: m, team: team}
		config := Config{Live: live, Services: engine.Services{
			ServiceReader: connection.ServiceReader{Reader: live, ClusterServices: true},
		}}
		r := &reconciliation{Reconciler: NewReconciler(config), mandate: m}
		r.session.Key = connection.Key{Kind: v1alpha1.ServiceKindClusterIdentityService, Name: "shared"}
		r.session.Connection.UID, r.session.Connection.Generation = "1", 1
		if err := r.confirm(t.Context()); err != nil || r.facts.confirmed != allowed {
			t.Errorf("team %s: a call is confirmed: %t, %v, want %t", team, r.facts.confirmed, err, allowed)
		}
		r.verify(t.Context())
		if r.facts.attempt.verified != allowed {
			t.Errorf("team %s: a create is verified: %t, want %t", team, r.facts.attempt.verified, allowed)
		}
	}
}
