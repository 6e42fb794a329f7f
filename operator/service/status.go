package service

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
)

// sentences of the condition Ready, one a reason: no text of the service, no value.
var sentences = map[string]string{
	v1alpha1.ReasonConnected:          "The service accepted the credentials and gave its reference data.",
	v1alpha1.ReasonSecretNotFound:     "The Secret that spec.credentialsSecretRef names does not exist in this namespace. Create it, or correct the name.",
	v1alpha1.ReasonSecretInvalid:      "The Secret that spec.credentialsSecretRef names must hold username and password, or client_id and client_secret, or all four; tokenAuthorization Basic needs the latter two.",
	v1alpha1.ReasonCABundleInvalid:    "spec.caBundle holds no certificate in PEM that can be read.",
	v1alpha1.ReasonCredentialsInvalid: "The service refused the credentials, or their user may not use the API. Correct the Secret; it is noticed by itself.",
	v1alpha1.ReasonUnreachable:        "The service cannot be reached: no connection, no answer in time, or its certificate is not trusted. Check spec.baseURL, spec.caBundle and the network; it is tried again.",
	v1alpha1.ReasonInUse:              "The IdentityService is being deleted, and waits for the Mandates whose deletionPolicy is Archive or Delete: nothing else is done with it. It goes when they are deleted, or have the deletionPolicy Retain.",
	v1alpha1.ReasonServiceError:       "The service answered with an error, or with something that is not its reference data. Check spec.baseURL; it is tried again.",
}

// maxMandateTypes is what the CRD allows.
const maxMandateTypes = 500

// reasonFor names the result of a check.
func reasonFor(err error) string {
	if err == nil {
		return v1alpha1.ReasonConnected
	}
	switch idv.KindOf(err) {
	case idv.KindCredentials:
		return v1alpha1.ReasonCredentialsInvalid
	case idv.KindUnreachable, idv.KindConnection, idv.KindTimeout, idv.KindCanceled:
		return v1alpha1.ReasonUnreachable
	default:
		return v1alpha1.ReasonServiceError
	}
}

// writeStatus is the only place that writes the status of IdentityServices.
func (r *Reconciler) writeStatus(ctx context.Context, service *v1alpha1.IdentityService, references *idv.References, reason string) error {
	updated := service.DeepCopy()
	status := &updated.Status
	status.ObservedGeneration = service.Generation
	if references != nil {
		status.MandateTypes = mandateTypes(references)
	}
	ready := metav1.ConditionFalse
	if reason == v1alpha1.ReasonConnected {
		ready = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: ready, Reason: reason,
		Message: sentences[reason], ObservedGeneration: service.Generation})
	if equality.Semantic.DeepEqual(updated.Status, service.Status) {
		return nil
	}
	return r.Status.Patch(ctx, updated, client.MergeFrom(service))
}

func mandateTypes(references *idv.References) []v1alpha1.MandateType {
	var types []v1alpha1.MandateType
	for _, t := range references.MandateTypes[:min(len(references.MandateTypes), maxMandateTypes)] {
		types = append(types, v1alpha1.MandateType{ID: t.ID, Name: connection.Text(t.Name), Code: connection.Text(t.Code)})
	}
	return types
}
