package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterIdentityService is an IdentityService for several namespaces: a platform team keeps the credentials in one place,
// and its namespaceSelector says whose Mandates may use them. Mandates name it with serviceRef.kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cidsvc,categories=identity
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.baseURL`
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="REASON",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
type ClusterIdentityService struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object, as for every Kubernetes object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the connection that is wanted, and who may use it.
	// +required
	Spec ClusterIdentityServiceSpec `json:"spec"`
	// status is what the operator found. It is written by the operator only.
	// +optional
	// +kubebuilder:default={}
	Status IdentityServiceStatus `json:"status,omitzero"`
}

// Settings are what it has in common with an IdentityService.
func (s *ClusterIdentityService) Settings() *ServiceSettings { return &s.Spec.ServiceSettings }

// CredentialsSecret is where its credentials are.
func (s *ClusterIdentityService) CredentialsSecret() NamespacedSecretReference {
	return s.Spec.CredentialsSecretRef
}

// ServiceStatus is its status.
func (s *ClusterIdentityService) ServiceStatus() *IdentityServiceStatus { return &s.Status }

// ClusterIdentityServiceList is a list of ClusterIdentityServices.
//
// +kubebuilder:object:root=true
type ClusterIdentityServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ClusterIdentityService `json:"items"`
}

// ClusterIdentityServiceSpec is the connection that is wanted, and who may use it.
type ClusterIdentityServiceSpec struct {
	ServiceSettings `json:",inline"`

	// credentialsSecretRef names the Secret that holds the credentials, and its namespace: username and password, or
	// client_id and client_secret, or all four.
	// +required
	CredentialsSecretRef NamespacedSecretReference `json:"credentialsSecretRef"`

	// namespaceSelector selects, by their labels, the namespaces whose Mandates may use this connection. Default: none, so
	// that nobody uses the credentials unasked. An empty selector, {}, selects every namespace. Where a namespace is not
	// selected any more, nothing is created, read or decided for its Mandates, and they say ServiceNotAllowed; their
	// applications stay as they are.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
}
