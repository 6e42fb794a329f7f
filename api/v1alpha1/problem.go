package v1alpha1

// MaxProblems is how many problems a status shows.
const MaxProblems = 20

// Problem names one thing that is wrong, for people without access to the operator's log. It holds names of Secrets and
// keys, and no value of a field or a Secret.
type Problem struct {
	// field is the path of what is wrong, such as spec.individuals[jane].detailsSecretRef. Individuals and checks are
	// named as in the spec.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Field string `json:"field"`
	// reason is that of the condition that the problem causes, such as SecretNotFound.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// message says what is wrong with the field. It has a fixed text, with names.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message"`
}
