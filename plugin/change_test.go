package plugin

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// A decision is on what was shown: a Mandate that has changed since then is not patched.
func TestNobodyDecidesOnAnOldState(t *testing.T) {
	m := newMandate()
	c := &cluster{
		Client:    fake.NewClientBuilder().WithScheme(scheme()).WithObjects(m).WithStatusSubresource(m).Build(),
		namespace: m.Namespace,
	}
	seen, err := c.mandate(t.Context(), m.Name)
	if err != nil {
		t.Fatal(err)
	}
	reset := seen.DeepCopy()
	reset.Status.Progress = "0/2"
	if err := c.Status().Update(t.Context(), reset); err != nil {
		t.Fatal(err)
	}
	decide := func(m *v1alpha1.Mandate) { m.Spec.Decision = v1alpha1.DecisionComplete }
	if err := c.changeMandate(t.Context(), seen, decide); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a conflict", err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(m), seen); err != nil || seen.Spec.Decision != "" {
		t.Errorf("decision %q, %v", seen.Spec.Decision, err)
	}
	if err := c.changeMandate(t.Context(), seen, decide); err != nil {
		t.Error(err)
	}
}

// The commands name the namespace of the operator, or what a shell replaces by it.
func TestCommandsNameTheNamespaceOfTheOperator(t *testing.T) {
	known := scheme()
	if err := appsv1.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	c := &cluster{Client: fake.NewClientBuilder().WithScheme(known).Build()}
	if got := c.operatorNamespace(t.Context()); got != "" {
		t.Errorf("%q without an operator", got)
	}
	operator := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "identity", Name: "idv", Labels: map[string]string{operatorLabel: operatorName},
	}}
	f := mandateFacts(t, v1alpha1.ReasonRetrying)
	if err := c.Create(t.Context(), operator); err != nil {
		t.Fatal(err)
	}
	f.operator = c.operatorNamespace(t.Context())
	for namespace, f := range map[string]facts{"identity": f, usualOperator: {mandate: f.mandate}} {
		v := newView(f)
		if want := "kubectl logs -n " + namespace + " -l "; !strings.HasPrefix(v.Next[0].Commands[0], want) {
			t.Errorf("%q, want %s", v.Next[0].Commands, want)
		}
	}
}
