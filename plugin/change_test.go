package plugin

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// A decision is on what was shown: a Mandate that has changed since then is not patched.
func TestNobodyDecidesOnAnOldState(t *testing.T) {
	m := newMandate()
	c := &cluster{
		WithWatch: fake.NewClientBuilder().WithScheme(scheme()).WithObjects(m).WithStatusSubresource(m).Build(),
		namespace: m.Namespace,
	}
	seen, err := c.mandate(t.Context(), m.Name)
	if err != nil {
		t.Fatal(err)
	}
	reset := seen.DeepCopy()
	reset.Status.Progress, reset.Status.Evidence = "0/2", "0c35d5ae-4"
	if err := c.Status().Update(t.Context(), reset); err != nil {
		t.Fatal(err)
	}
	decide := func(m *v1alpha1.Mandate) {
		m.Spec.Decision = &v1alpha1.Decision{Outcome: v1alpha1.DecisionComplete, Evidence: m.Status.Evidence}
	}
	if err := c.changeMandate(t.Context(), seen, decide); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a conflict", err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(m), seen); err != nil || seen.Spec.Decision != nil {
		t.Errorf("decision %+v, %v", seen.Spec.Decision, err)
	}
	if err := c.changeMandate(t.Context(), seen, decide); err != nil {
		t.Error(err)
	}
}
