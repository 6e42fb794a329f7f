package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterIdentityService is an IdentityService for several namespaces. The platform team keeps the credentials in one
// place, and namespaceSelector says which namespaces may use them. A Mandate refers to it with spec.serviceRef.
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
	// metadata is the object's standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec describes the connection and who may use it.
	// +required
	Spec ClusterIdentityServiceSpec `json:"spec"`
	// status describes whether the connection works. Only the operator writes it.
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

// NotificationsSecret is where the tokens of the senders of notifications are; nil if it takes none.
func (s *ClusterIdentityService) NotificationsSecret() *NamespacedSecretReference {
	if s.Spec.Notifications == nil {
		return nil
	}
	return &s.Spec.Notifications.SecretRef
}

// Subscribing says who subscribes the receiver; nil if it takes no notifications.
func (s *ClusterIdentityService) Subscribing() *Subscribing {
	if s.Spec.Notifications == nil {
		return nil
	}
	return &s.Spec.Notifications.Subscribing
}

// NamespacedReferences reports whether the references of Mandates begin with the prefix, the namespace and a dot.
func (s *ClusterIdentityService) NamespacedReferences() bool {
	return s.Spec.ReferencePolicy != ReferencePolicyAny
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

// ClusterIdentityServiceSpec describes the connection and who may use it.
type ClusterIdentityServiceSpec struct {
	ServiceSettings `json:",inline"`

	// credentialsSecretRef names the Secret that holds the credentials, and its namespace: username and password, or
	// client_id and client_secret, or all four. The operator notices a changed Secret within 20 seconds. The Secret needs
	// the type idv.mandate.io/credentials, or the label idv.mandate.io/use with credentials among its values.
	// +required
	CredentialsSecretRef NamespacedSecretReference `json:"credentialsSecretRef"`

	// notifications lets the operator receive the notifications of the service, if its receiver runs. Statuses then follow
	// the service within seconds, and the operator polls less often. Default: none, the operator only polls.
	// +optional
	Notifications *ClusterNotifications `json:"notifications,omitempty"`

	// namespaceSelector selects, by label, the namespaces whose Mandates may use this connection. An empty selector,
	// {}, selects every namespace. In a namespace that is not selected, the operator creates, reads and decides
	// nothing. Mandates there show IdentityServiceNotAllowed, and their applications stay as they are. Default: no
	// namespace.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// referencePolicy says which references Mandates may have. With Namespaced, references must begin with
	// referencePrefix, the namespace and a dot, as default references do. So no namespace can take a reference of
	// another one, or adopt its application. A Mandate with another spec.reference shows ReferenceNotAllowed, and the
	// operator neither creates nor adopts an application for it. Mandates that have an application keep it. Any allows
	// every reference. Use it only if the namespaces trust each other. Default: Namespaced.
	// +optional
	// +kubebuilder:default=Namespaced
	ReferencePolicy ReferencePolicy `json:"referencePolicy,omitempty"`
}

// ClusterNotifications says who may send notifications, and who subscribes.
type ClusterNotifications struct {
	// secretRef names the Secret, and its namespace, with the token that a notification must contain. The key token has
	// at least 32 characters, and no white space. While you rotate the token, the key previousToken has the old one. The
	// operator notices a change within 20 seconds. The Secret needs the type idv.mandate.io/notifications, or the label
	// idv.mandate.io/use with notifications among its values.
	// +required
	SecretRef NamespacedSecretReference `json:"secretRef"`

	Subscribing `json:",inline"`
}

// ReferencePolicy is which references the Mandates of a namespace may have.
//
// +kubebuilder:validation:Enum=Namespaced;Any
type ReferencePolicy string

const (
	// ReferencePolicyNamespaced allows references that begin with referencePrefix, the namespace and a dot.
	ReferencePolicyNamespaced ReferencePolicy = "Namespaced"
	// ReferencePolicyAny allows every reference.
	ReferencePolicyAny ReferencePolicy = "Any"
)
