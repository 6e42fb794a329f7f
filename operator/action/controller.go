// Package action is the controller of MandateActions. This version carries none out, and says so.
package action

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandateactions,verbs=get;list;watch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandateactions/status,verbs=patch

// Reconciler reconciles MandateActions.
type Reconciler struct {
	Cache  client.Reader
	Status client.SubResourceWriter
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).Named("mandateaction").For(&v1alpha1.MandateAction{}).Complete(r)
}

// Reconcile ends every order as Failed: an order that is silently left alone looks like one that is being carried out.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	order := &v1alpha1.MandateAction{}
	if err := r.Cache.Get(ctx, request.NamespacedName, order); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	conditions := order.Status.Conditions
	if meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionFailed) || meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionComplete) || !order.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	updated := order.DeepCopy()
	now := metav1.Now()
	updated.Status.ObservedGeneration, updated.Status.CompletedTime = order.Generation, &now
	meta.SetStatusCondition(&updated.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionFailed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonNotImplemented, ObservedGeneration: order.Generation,
		Message: "This version of the operator carries out no MandateActions. Nothing was sent to the service.",
	})
	return reconcile.Result{}, client.IgnoreNotFound(r.Status.Patch(ctx, updated, client.MergeFrom(order)))
}
