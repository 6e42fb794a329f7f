// Package v1alpha1 holds the custom resources of the identity verification operator, API group idv.mandate.io:
// IdentityService (a connection), Mandate (an application at the service), MandateAction (a one-shot order) and
// ApplicationRecord (the operator's ledger).
//
// The doc comments of the fields become the CRDs' descriptions, which is what kubectl explain shows, and the markers
// become the validation that the API server does. After a change, generate the CRDs and the deep copies again.
//
// +kubebuilder:object:generate=true
// +groupName=idv.mandate.io
package v1alpha1
