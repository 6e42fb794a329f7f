package mandate

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// serviceChanged lets through what can change the fate of a waiting Mandate: the spec, Ready, the mandate types.
func serviceChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok1 := e.ObjectOld.(*v1alpha1.IdentityService)
		after, ok2 := e.ObjectNew.(*v1alpha1.IdentityService)
		if !ok1 || !ok2 {
			return false
		}
		return before.Generation != after.Generation ||
			meta.IsStatusConditionTrue(before.Status.Conditions, v1alpha1.ConditionReady) != meta.IsStatusConditionTrue(after.Status.Conditions, v1alpha1.ConditionReady) ||
			!equality.Semantic.DeepEqual(before.Status.MandateTypes, after.Status.MandateTypes)
	}}
}

// isReady is the whole meaning of Ready: the condition, for this generation, and nothing under way.
func isReady(m *v1alpha1.Mandate) bool {
	ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.Status == "True" && ready.ObservedGeneration == m.Generation && m.Status.ObservedGeneration == m.Generation
}
