package connection

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// labelReader is an API server with one ClusterIdentityService and one namespace.
type labelReader struct {
	client.Reader
	selector *metav1.LabelSelector
	labels   map[string]string
}

func (r labelReader) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	if service, ok := object.(*v1alpha1.ClusterIdentityService); ok {
		service.Spec.NamespaceSelector = r.selector
	} else {
		object.SetLabels(r.labels)
	}
	return nil
}

// A missing or invalid selector selects nothing, an empty one everything, and any other what its labels say.
func TestNamespaceSelectors(t *testing.T) {
	t.Parallel()
	onboarding := map[string]string{"team": "onboarding"}
	invalid := []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Is", Values: []string{"onboarding"}}}
	for name, c := range map[string]struct {
		selector *metav1.LabelSelector
		labels   map[string]string
		want     Access
	}{
		"none":      {nil, onboarding, Denied},
		"invalid":   {&metav1.LabelSelector{MatchExpressions: invalid}, onboarding, Denied},
		"empty":     {&metav1.LabelSelector{}, nil, Granted},
		"selected":  {&metav1.LabelSelector{MatchLabels: onboarding}, onboarding, Granted},
		"another":   {&metav1.LabelSelector{MatchLabels: onboarding}, map[string]string{"team": "sales"}, Denied},
		"no labels": {&metav1.LabelSelector{MatchLabels: onboarding}, nil, Denied},
	} {
		reader := ServiceReader{Reader: labelReader{selector: c.selector, labels: c.labels}, ClusterServices: true}
		key := Key{Kind: v1alpha1.ServiceKindClusterIdentityService, Name: "shared"}
		if _, got, err := reader.Find(t.Context(), key, "team"); got != c.want || err != nil {
			t.Errorf("%s: access %d, %v, want %d", name, got, err, c.want)
		}
	}
}
