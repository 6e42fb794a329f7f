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

// verifying is a reconciliation that has begun a call of a Mandate, as the cache has it.
func verifying(kind v1alpha1.CallKind, cached, live *v1alpha1.Mandate, team string) *reconciliation {
	api := liveLabels{mandate: live, team: team}
	config := Config{Live: api, Services: engine.Services{
		ServiceReader: connection.ServiceReader{Reader: api, ClusterServices: true},
		Connections:   connection.NewRegistry(0),
	}}
	r := connected(NewReconciler(config), scope{mandate: cached}, nil)
	r.nonce, r.facts.deletion = "nonce", newDeletionFacts(cached, 0)
	r.session.Key = connection.Key{Kind: v1alpha1.ServiceKindClusterIdentityService, Name: "shared"}
	r.session.Connection.UID, r.session.Connection.Generation = "1", 1
	entry := v1alpha1.Call{Kind: kind, Nonce: "nonce"}
	if kind == v1alpha1.CallAcceptCheck {
		entry = reviewOrder(keyOf(&cached.Spec.CheckReviews[0]), 5)
		entry.Nonce = "nonce"
	}
	r.record = &v1alpha1.ApplicationRecord{Spec: v1alpha1.ApplicationRecordSpec{Calls: []v1alpha1.Call{entry}}}
	r.facts.attempt = calling(kind, attemptBegun)
	return r
}

// ordering is a Mandate that orders every call but a deletion.
func ordering() *v1alpha1.Mandate {
	m := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "acme", UID: "2", Generation: 1}}
	secret := &v1alpha1.SecretReference{Name: "jane"}
	m.Spec.Individuals = []v1alpha1.Individual{{Name: "jane", DetailsSecretRef: secret}}
	m.Spec.Decision, m.Spec.Archived = &completeSeen, true
	m.Spec.CheckReviews = reviewOf(v1alpha1.CheckDecisionAccept, "seen")
	return m
}

// A connection is withdrawn by a label of the namespace. The cache may not know it yet: it is read live before a
// create, and before every other call that acts on people.
func TestNamespaceWithdrawn(t *testing.T) {
	t.Parallel()
	for team, want := range map[string]attemptPhase{"onboarding": attemptVerified, "sales": attemptWithdrawn} {
		for _, kind := range []v1alpha1.CallKind{
			v1alpha1.CallCreate, v1alpha1.CallComplete, v1alpha1.CallArchive, v1alpha1.CallAcceptCheck,
		} {
			r := verifying(kind, ordering(), ordering(), team)
			r.verify(t.Context())
			if r.facts.attempt.phase != want {
				t.Errorf("team %s, %s: the attempt is %d, want %d", team, kind, r.facts.attempt.phase, want)
			}
		}
	}
}

// A call is sent only if the Mandate still orders it. The cache may not know yet that it does not, and after a restore
// of etcd, another edit can have the same generation.
func TestOrdersStill(t *testing.T) {
	t.Parallel()
	deleted := func(policy v1alpha1.DeletionPolicy) func(*v1alpha1.Mandate) {
		return func(m *v1alpha1.Mandate) {
			m.DeletionTimestamp, m.Spec.DeletionPolicy = &metav1.Time{Time: now}, policy
		}
	}
	const create, complete = v1alpha1.CallCreate, v1alpha1.CallComplete
	const archive, remove = v1alpha1.CallArchive, v1alpha1.CallDelete
	const accept = v1alpha1.CallAcceptCheck
	all := []v1alpha1.CallKind{create, complete, archive, accept}
	as := func(*v1alpha1.Mandate) {}
	for name, test := range map[string]struct {
		cached, live func(*v1alpha1.Mandate)
		kinds        []v1alpha1.CallKind
		sent         bool
	}{
		"as it was":     {as, as, all, true},
		"edited":        {as, func(m *v1alpha1.Mandate) { m.Generation++ }, all, false},
		"another one":   {as, func(m *v1alpha1.Mandate) { m.UID = "3" }, all, false},
		"being deleted": {as, deleted(v1alpha1.DeletionPolicyRetain), all, false},
		"suspended": {
			as, func(m *v1alpha1.Mandate) { m.Spec.Suspend = true }, []v1alpha1.CallKind{complete, archive, accept}, false,
		},
		"bound by somebody else": {
			as, func(m *v1alpha1.Mandate) { m.Status.ApplicationID = new(int64(7)) }, []v1alpha1.CallKind{create}, false,
		},
		"without the decision": {
			as, func(m *v1alpha1.Mandate) { m.Spec.Decision = nil }, []v1alpha1.CallKind{complete}, false,
		},
		"with the opposite decision": {
			as, func(m *v1alpha1.Mandate) { m.Spec.Decision = &rejectSeen }, []v1alpha1.CallKind{complete}, false,
		},
		"with a decision about other evidence": {
			as, func(m *v1alpha1.Mandate) {
				m.Spec.Decision = &v1alpha1.Decision{Outcome: v1alpha1.DecisionComplete, Evidence: "new-2"}
			}, []v1alpha1.CallKind{complete}, false,
		},
		"not to be archived": {
			as, func(m *v1alpha1.Mandate) { m.Spec.Archived = false }, []v1alpha1.CallKind{archive}, false,
		},
		"without the review": {
			as, func(m *v1alpha1.Mandate) { m.Spec.CheckReviews = nil }, []v1alpha1.CallKind{accept}, false,
		},
		"with the opposite review": {
			as, func(m *v1alpha1.Mandate) {
				m.Spec.CheckReviews = reviewOf(v1alpha1.CheckDecisionReject, "seen")
			}, []v1alpha1.CallKind{accept}, false,
		},
		"with a review about other evidence": {
			as, func(m *v1alpha1.Mandate) {
				m.Spec.CheckReviews = reviewOf(v1alpha1.CheckDecisionAccept, "new")
			}, []v1alpha1.CallKind{accept}, false,
		},
		"deleted, with the application": {
			deleted(v1alpha1.DeletionPolicyDelete), deleted(v1alpha1.DeletionPolicyDelete), []v1alpha1.CallKind{remove}, true,
		},
		"deleted, and the application is to be kept": {
			deleted(v1alpha1.DeletionPolicyDelete), deleted(v1alpha1.DeletionPolicyRetain),
			[]v1alpha1.CallKind{remove, archive}, false,
		},
		"deleted, and the application is to be archived": {
			deleted(v1alpha1.DeletionPolicyArchive), deleted(v1alpha1.DeletionPolicyArchive),
			[]v1alpha1.CallKind{archive}, true,
		},
		"not deleted any more": {deleted(v1alpha1.DeletionPolicyDelete), as, []v1alpha1.CallKind{remove}, false},
	} {
		for _, kind := range test.kinds {
			cached, live := ordering(), ordering()
			test.cached(cached)
			test.live(live)
			r := verifying(kind, cached, live, "onboarding")
			r.verify(t.Context())
			want := attemptWithdrawn
			if test.sent {
				want = attemptVerified
			}
			if r.facts.attempt.phase != want {
				t.Errorf("%s, %s: the attempt is %d, want %d", name, kind, r.facts.attempt.phase, want)
			}
		}
	}
}
