package v1alpha1

// The rules are at the object and not at its fields: a rule at a field makes the API server repeat the field's value in
// its error. For the same reason no field has a pattern, an enum or a format.

// Individual is a person to verify. All fields except name, detailsSecretRef and erased are personal data. Set them
// here or, better, in a Secret that detailsSecretRef names. The operator sends them to the service when it creates the
// application, and stores them nowhere else. A field here takes precedence over the key of the Secret. The operator
// does not send a field that is in neither.
//
// +kubebuilder:validation:XValidation:rule="self.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be a DNS label: lower-case letters, digits and -, starting and ending with a letter or a digit",fieldPath=".name"
// +kubebuilder:validation:XValidation:rule="has(self.email) || has(self.detailsSecretRef) || has(self.erased) && self.erased",message="must be set, here or as the key email of a Secret that detailsSecretRef names",fieldPath=".email"
// +kubebuilder:validation:XValidation:rule="!has(self.email) || self.email.matches('^[^@[:space:]]+@[^@[:space:]]+$')",message="must be an e-mail address such as name@example.com",fieldPath=".email"
// +kubebuilder:validation:XValidation:rule="!has(self.dateOfBirth) || !format.date().validate(self.dateOfBirth).hasValue()",message="must be a date that exists, written YYYY-MM-DD, such as 1990-02-28",fieldPath=".dateOfBirth"
// +kubebuilder:validation:XValidation:rule="!has(self.erased) || !self.erased || [has(self.reference), has(self.email), has(self.title), has(self.firstName), has(self.middleName), has(self.lastName), has(self.dateOfBirth), has(self.gender)].all(set, !set)",message="excludes inline details: remove reference, email, title, names, dateOfBirth and gender",fieldPath=".erased"
type Individual struct {
	// name is your own name for the individual, such as applicant: 1 to 63 lower-case letters, digits and -. The status
	// and the log show it, so do not use a person's name. The operator sends it only as a part of the default
	// reference.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// reference of the individual, up to 255 characters, unique among the individuals at the service. Personal data.
	// Default: the Mandate's reference, a dot and the name of the individual.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Reference string `json:"reference,omitempty"`

	// email is the address that receives the invite. Personal data. Required here or in the Secret.
	// +optional
	// +kubebuilder:validation:MaxLength=320
	Email string `json:"email,omitempty"`

	// title, sent unchanged. Personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=150
	Title string `json:"title,omitempty"`

	// firstName, sent unchanged. Personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	FirstName string `json:"firstName,omitempty"`

	// middleName, sent unchanged. An empty string is sent, too: a service may want one for people without a middle name.
	// Personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	MiddleName *string `json:"middleName,omitempty"`

	// lastName, sent unchanged. Personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	LastName string `json:"lastName,omitempty"`

	// dateOfBirth as YYYY-MM-DD, such as 1990-02-28. Personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=10
	DateOfBirth string `json:"dateOfBirth,omitempty"`

	// gender, sent unchanged. The service documents only the value male. Personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=150
	Gender string `json:"gender,omitempty"`

	// detailsSecretRef names a Secret in the same namespace that holds the details of the individual. Its keys are
	// email, title, first_name, middle_name, last_name, date_of_birth, gender and reference. Only email is required. A
	// wrong key, such as firstName, is an error. A field that is set inline takes precedence over the key. The Secret
	// needs the type idv.mandate.io/individual, or the label idv.mandate.io/use with individual among its values.
	// +optional
	DetailsSecretRef *SecretReference `json:"detailsSecretRef,omitempty"`

	// erased true says that the personal data of this individual was removed. The operator then reads no Secret for it,
	// and never creates an application for the Mandate. Once there is an outcome, you can replace the inline fields by
	// erased: true. You cannot take that back. Default: false.
	// +optional
	Erased bool `json:"erased,omitempty"`
}

// WithoutInline is the individual without the personal data that is inline.
func (i *Individual) WithoutInline() Individual {
	return Individual{Name: i.Name, DetailsSecretRef: i.DetailsSecretRef, Erased: i.Erased}
}

// HasInline reports whether the individual has personal data inline.
func (i *Individual) HasInline() bool { return *i != i.WithoutInline() }
