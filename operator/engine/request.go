package engine

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// ReconcileRequest is the request to reconcile an object, as far as a status can acknowledge it; "" if there is none.
func ReconcileRequest(object client.Object) string {
	return TruncateText(object.GetAnnotations()[v1alpha1.ReconcileRequestAnnotation])
}

// IsNotification reports whether a request is not a person's.
func IsNotification(request string) bool {
	return strings.HasPrefix(request, v1alpha1.NotificationRequestPrefix)
}

// SpecOrRequestChanged lets edits of the spec and requests to reconcile pass.
var SpecOrRequestChanged = predicate.Or(predicate.GenerationChangedPredicate{}, requestChanged)

var requestChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	request := ReconcileRequest(e.ObjectNew)
	return request != "" && request != ReconcileRequest(e.ObjectOld)
}}
