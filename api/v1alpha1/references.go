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

// SecretUse is what a Secret is for.
type SecretUse string

// The uses of Secrets that specs name.
const (
	// SecretUseCredentials is for spec.credentialsSecretRef of a service.
	SecretUseCredentials SecretUse = "credentials"
	// SecretUseNotifications is for spec.notifications.secretRef of a service.
	SecretUseNotifications SecretUse = "notifications"
	// SecretUseIndividual is for detailsSecretRef of an individual.
	SecretUseIndividual SecretUse = "individual"
)

// SecretUseLabel on a Secret says what it is for: one use, or several joined by a dot. A Secret without it is for the
// use that its type names: SecretTypePrefix and the use. The operator sends nothing of any other Secret: who may name a
// Secret in a spec may not be allowed to read it.
const SecretUseLabel = "idv.mandate.io/use" //nolint:gosec // no credential

// SecretTypePrefix begins the type of a Secret that has no label SecretUseLabel.
const SecretTypePrefix = "idv.mandate.io/" //nolint:gosec // no credential
