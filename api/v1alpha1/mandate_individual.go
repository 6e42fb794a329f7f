package v1alpha1

// The rules are at the object and not at its fields: a rule at a field makes the API server repeat the field's value in
// its error. For the same reason no field has a pattern, an enum or a format.

// Individual is a person to verify. All of it but name and detailsSecretRef is personal data: write it here, or better
// into a Secret that detailsSecretRef names. It is sent to the service when the application is created, and goes nowhere
// else: not to status, events or logs. A field that is set here wins over the Secret's; fields that are set in neither
// are not sent.
//
// +kubebuilder:validation:XValidation:rule="self.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be a DNS label: lower-case letters, digits and -, starting and ending with a letter or a digit",fieldPath=".name"
// +kubebuilder:validation:XValidation:rule="has(self.email) || has(self.detailsSecretRef)",message="must be set, here or as the key email of a Secret that detailsSecretRef names",fieldPath=".email"
// +kubebuilder:validation:XValidation:rule="!has(self.email) || self.email.matches('^[^@[:space:]]+@[^@[:space:]]+$')",message="must be an e-mail address such as name@example.com",fieldPath=".email"
// +kubebuilder:validation:XValidation:rule="!has(self.dateOfBirth) || !format.date().validate(self.dateOfBirth).hasValue()",message="must be a date that exists, written YYYY-MM-DD, such as 1990-02-28",fieldPath=".dateOfBirth"
type Individual struct {
	// name is your own handle for the individual, for example applicant: a DNS label (1 to 63 lower-case letters, digits
	// and -). It appears in status and events, so it should not be a person's name. It is not sent to the service.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// reference of the individual, up to 255 characters, unique among individuals at the service. Personal data. Default:
	// the Mandate's reference, a dot and the individual's name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Reference string `json:"reference,omitempty"`

	// email address that the invite goes to. Personal data. Required here or in the Secret.
	// +optional
	// +kubebuilder:validation:MaxLength=320
	Email string `json:"email,omitempty"`

	// title, passed on as it is. Personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=150
	Title string `json:"title,omitempty"`

	// firstName, passed on as it is. Personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	FirstName string `json:"firstName,omitempty"`

	// middleName, passed on as it is. Personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	MiddleName string `json:"middleName,omitempty"`

	// lastName, passed on as it is. Personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	LastName string `json:"lastName,omitempty"`

	// dateOfBirth, YYYY-MM-DD, for example 1990-02-28. Personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=10
	DateOfBirth string `json:"dateOfBirth,omitempty"`

	// gender, passed on as it is; the service's interface shows male and no other value. Personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=150
	Gender string `json:"gender,omitempty"`

	// detailsSecretRef names a Secret in the same namespace that holds the individual's details, under the keys email,
	// title, first_name, middle_name, last_name, date_of_birth, gender and reference. Only email is required. A field that is
	// set beside it, inline, wins over the Secret's key. A key in other letters, such as firstName, is an error.
	// +optional
	DetailsSecretRef *SecretReference `json:"detailsSecretRef,omitempty"`
}
