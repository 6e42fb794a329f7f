package service

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/connection"
)

// mandates is a cache that has Mandates which confirm for so long that their applications are gone.
type mandates struct {
	client.Reader
	confirming []time.Duration
}

func (m mandates) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	list := into.(*v1alpha1.MandateList)
	for _, since := range m.confirming {
		list.Items = append(list.Items, v1alpha1.Mandate{Status: v1alpha1.MandateStatus{Conditions: []metav1.Condition{{
			Type: v1alpha1.ConditionReconciling, Reason: v1alpha1.ReasonConfirming,
			LastTransitionTime: metav1.NewTime(time.Now().Add(-since)),
		}}}})
	}
	return nil
}

// Several applications that are missing for long are the fault of the connection. One, or a short time, is not.
func TestApplicationsMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		confirming []time.Duration
		missing    bool
	}{
		"none":                    {},
		"one":                     {confirming: []time.Duration{time.Hour}},
		"two":                     {confirming: []time.Duration{time.Hour, 3 * time.Minute}, missing: true},
		"one of two for a moment": {confirming: []time.Duration{time.Hour, time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &Reconciler{config: Config{Cache: mandates{confirming: c.confirming}}}
			found, err := r.dependents(t.Context(), connection.Key{}, lifecycle.Names{})
			missing := found.confirming >= manyMissing
			if err != nil || missing != c.missing {
				t.Errorf("%t, %v, want %t", missing, err, c.missing)
			}
			status := &v1alpha1.IdentityServiceStatus{}
			setShared(status, 1, v1alpha1.ConditionApplicationsMissing, missing)
			if meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionApplicationsMissing) != c.missing {
				t.Errorf("the conditions are %+v", status.Conditions)
			}
			setShared(status, 1, v1alpha1.ConditionApplicationsMissing, false)
			if len(status.Conditions) != 0 {
				t.Errorf("afterwards, the conditions are %+v", status.Conditions)
			}
		})
	}
}
