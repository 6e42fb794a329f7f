package v1alpha1

// MaxID is the largest id that JSON numbers hold in every client: 2^53-1. The API server refuses larger ones.
const MaxID = 1<<53 - 1

// SecretReference names a Secret in the namespace of the object that refers to it.
//
// +structType=atomic
type SecretReference struct {
	// name of a Secret in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// NamespacedSecretReference names a Secret in any namespace.
//
// +structType=atomic
type NamespacedSecretReference struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// namespace of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
}

// ServiceKind is a kind of connection.
//
// +kubebuilder:validation:Enum=IdentityService;ClusterIdentityService
type ServiceKind string

const (
	// ServiceKindIdentityService is a connection of one namespace.
	ServiceKindIdentityService ServiceKind = "IdentityService"
	// ServiceKindClusterIdentityService is a connection for the namespaces that it selects.
	ServiceKindClusterIdentityService ServiceKind = "ClusterIdentityService"
)

// IdentityServiceReference names the connection that an object uses.
//
// +structType=atomic
type IdentityServiceReference struct {
	// kind of the service: IdentityService, which is in the same namespace, or ClusterIdentityService, whose
	// namespaceSelector must select this namespace. Default: IdentityService.
	// +optional
	// +kubebuilder:default=IdentityService
	Kind ServiceKind `json:"kind,omitempty"`
	// name of the IdentityService or ClusterIdentityService. Default: default.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// MandateReference names a Mandate in the namespace of the object that refers to it.
//
// +structType=atomic
type MandateReference struct {
	// name of a Mandate in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}
