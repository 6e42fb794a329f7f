// Package v1alpha1 holds the custom resources of the identity verification operator, API group idv.mandate.io:
// IdentityService and ClusterIdentityService (a connection), Mandate (an application at the service), MandateAction
// (one action on one individual) and ApplicationRecord (the ledger of the operator).
//
// The doc comments of the fields are the descriptions of the CRDs, which `kubectl explain` shows. The markers are the
// validation by the API server. After a change, run make update.
//
// +kubebuilder:object:generate=true
// +groupName=idv.mandate.io
package v1alpha1
