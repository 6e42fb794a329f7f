package engine

import (
	"slices"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/tolerant"
	"github.com/mandate-io/idv/operator/connection"
)

// ReconcileRequest is the request to reconcile an object, as far as a status can acknowledge it; "" if there is none.
func ReconcileRequest(object client.Object) string {
	return TruncateText(object.GetAnnotations()[v1alpha1.ReconcileRequestAnnotation])
}

// IsNotification reports whether a request is not a person's.
func IsNotification(request string) bool {
	return strings.HasPrefix(request, v1alpha1.NotificationRequestPrefix)
}

// CompleteRecord is the uid of the ApplicationRecord of which a person says, at its Mandate, that it lacks nothing that
// was sent; "" if there is none.
func CompleteRecord(mandate metav1.Object) types.UID {
	if uid := mandate.GetAnnotations()[v1alpha1.RecordCompleteAnnotation]; len(uid) <= maxUID {
		return types.UID(uid)
	}
	return ""
}

// NotCreated names the end of the create of which a person says, at the Mandate, that it created nothing; "" if nobody
// does.
func NotCreated(mandate metav1.Object) string {
	ended := mandate.GetAnnotations()[v1alpha1.NotCreatedAnnotation]
	return If(len(ended) <= maxEnd, ended)
}

// ArchivingCall is the nonce of the call by which the operator has begun to archive the application of a Mandate, if no
// record can have it; else "". A text that is too long is cut: that there is one keeps the call from being sent again.
func ArchivingCall(mandate metav1.Object) string {
	nonce := mandate.GetAnnotations()[v1alpha1.ArchivingAnnotation]
	return nonce[:min(len(nonce), maxUID)]
}

// RequestedBy is the user name of the author of what an object orders; "" if nobody says so.
func RequestedBy(object metav1.Object) string {
	name := object.GetAnnotations()[v1alpha1.RequestedByAnnotation]
	if utf8.RuneCountInString(name) > v1alpha1.MaxRequestedBy {
		return ""
	}
	return name
}

// maxUID is how long a uid can be, and a nonce, and maxEnd the end of a call.
const maxUID, maxEnd = 64, 20 + 1 + 64

// SpecChanged lets edits of the spec pass, and objects that could not be decoded before.
var SpecChanged = predicate.Or(predicate.GenerationChangedPredicate{}, becameReadable)

// SpecOrRequestChanged lets requests to reconcile pass, too.
var SpecOrRequestChanged = predicate.Or(SpecChanged, requestChanged)

var becameReadable = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return len(tolerant.UnreadableFields(e.ObjectOld)) > 0
}}

var requestChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	request, candidates := ReconcileRequest(e.ObjectNew), IDsIn(e.ObjectNew, v1alpha1.CandidateAnnotation)
	return request != "" && request != ReconcileRequest(e.ObjectOld) ||
		CompleteRecord(e.ObjectNew) != CompleteRecord(e.ObjectOld) ||
		NotCreated(e.ObjectNew) != NotCreated(e.ObjectOld) ||
		connection.VouchedAccount(e.ObjectNew) != connection.VouchedAccount(e.ObjectOld) ||
		len(candidates) > 0 && !slices.Equal(candidates, IDsIn(e.ObjectOld, v1alpha1.CandidateAnnotation))
}}
