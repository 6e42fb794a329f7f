package v1alpha1

// SecretReference names a Secret in the namespace of the object that refers to it.
type SecretReference struct {
	// name of a Secret in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// IdentityServiceReference names an IdentityService in the namespace of the object that refers to it.
type IdentityServiceReference struct {
	// name of an IdentityService in the same namespace. Default: default.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// MandateReference names a Mandate in the namespace of the object that refers to it.
type MandateReference struct {
	// name of a Mandate in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}
