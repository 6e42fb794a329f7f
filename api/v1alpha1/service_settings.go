package v1alpha1

// The rules are at the object and not at its fields: a rule at a field makes the API server repeat the field's value in
// its error, and a value that breaks one may hold a password or a key.

// ServiceSettings are what an IdentityService and a ClusterIdentityService have in common: where the service is, and how
// this one reads what its interface leaves open.
//
// +kubebuilder:validation:XValidation:rule="isURL(self.baseURL) && url(self.baseURL).getScheme() in ['https', 'http'] && url(self.baseURL).getHostname().size() > 0",message="must be a URL such as https://idv.example.com",fieldPath=".baseURL"
// +kubebuilder:validation:XValidation:rule="!self.baseURL.matches('(?i)^http:') || self.baseURL.matches('(?i)^http://(localhost|127([.](25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})){3}|[[]::1[]])(:[0-9]*)?(/|$)')",message="must start with https://; http:// is only for localhost, 127.0.0.0/8 and [::1]",fieldPath=".baseURL"
// +kubebuilder:validation:XValidation:rule="!self.baseURL.matches('^[^/?#]*//[^/?#]*@') && !self.baseURL.contains('?') && !self.baseURL.contains('#')",message="must have no user, password, query or fragment: take them out, and put credentials into the Secret of credentialsSecretRef",fieldPath=".baseURL"
// +kubebuilder:validation:XValidation:rule="!self.baseURL.matches('/api/v1/*$')",message="must not end with /api/v1: leave it out, the operator adds it",fieldPath=".baseURL"
// +kubebuilder:validation:XValidation:rule="!has(self.caBundle) || self.caBundle.contains('-----BEGIN CERTIFICATE-----')",message="must hold PEM certificates as plain text, not encoded once more: -----BEGIN CERTIFICATE----- is missing",fieldPath=".caBundle"
type ServiceSettings struct {
	// baseURL of the service without /api/v1, which is added to it; for example https://idv.example.com. It is https,
	// or http for a service on the loopback interface (localhost, 127.0.0.0/8, [::1]). A path in front of /api/v1 is
	// allowed; user, password, query and fragment are not: credentials belong in the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	BaseURL string `json:"baseURL"`

	// caBundle holds the certificates, in PEM, of the authorities that the service's certificate may come from.
	// Default: those that the operator's image trusts.
	// +optional
	// +kubebuilder:validation:MaxLength=262144
	CABundle string `json:"caBundle,omitempty"`

	// tokenAuthorization is the Authorization header of the token request, whose format the service's interface does
	// not tell. None sends none; Basic sends client_id and client_secret as HTTP Basic; Auto (the default) is Basic if
	// the Secret has both, else None.
	// +optional
	// +kubebuilder:default=Auto
	TokenAuthorization TokenAuthorization `json:"tokenAuthorization,omitempty"`

	// requestsPerSecond is how many requests all Mandates of this connection together may send to the service in a
	// second, on average. Default: 10.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	RequestsPerSecond int32 `json:"requestsPerSecond,omitempty"`

	// referencePrefix is put before the references of Mandates that do not set spec.reference. References are unique in
	// the whole account at the service, so two clusters that share an account need two prefixes. Choose it before the first
	// Mandate: changing it changes the references of Mandates of which no application is on record, and after a restore
	// without the ApplicationRecords that would create applications, and e-mail their individuals, again. Default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=50
	ReferencePrefix string `json:"referencePrefix,omitempty"`

	// polling is how often the state of an application is read.
	// +optional
	// +kubebuilder:default={}
	Polling Polling `json:"polling,omitzero"`

	// transitions are the HTTP methods that complete and reject an application, which the service's interface does not
	// tell.
	// +optional
	// +kubebuilder:default={}
	Transitions Transitions `json:"transitions,omitzero"`

	// states are further names that this service uses for the states of an application.
	// +optional
	States StateNames `json:"states,omitzero"`
}

// TokenAuthorization is the Authorization header of the token request.
//
// +kubebuilder:validation:Enum=Auto;None;Basic
type TokenAuthorization string

const (
	// TokenAuthorizationAuto is Basic if client_id and client_secret are both there, else None.
	TokenAuthorizationAuto TokenAuthorization = "Auto"
	// TokenAuthorizationNone sends no Authorization header.
	TokenAuthorizationNone TokenAuthorization = "None"
	// TokenAuthorizationBasic sends client_id and client_secret as HTTP Basic.
	TokenAuthorizationBasic TokenAuthorization = "Basic"
)

// Polling bounds the time between two reads of an application. It grows from the minimum to the maximum while nothing
// changes.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minIntervalSeconds) || !has(self.maxIntervalSeconds) || self.minIntervalSeconds <= self.maxIntervalSeconds",message="must not be below minIntervalSeconds",fieldPath=".maxIntervalSeconds"
type Polling struct {
	// minIntervalSeconds is the shortest time between two reads of an application, in seconds. Default: 30.
	// +optional
	// +kubebuilder:default=30
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	MinIntervalSeconds int32 `json:"minIntervalSeconds,omitempty"`
	// maxIntervalSeconds is the longest time between two reads of an application that is not final, in seconds.
	// Default: 3600.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	MaxIntervalSeconds int32 `json:"maxIntervalSeconds,omitempty"`
}

// Transitions are the HTTP methods that complete and reject an application.
type Transitions struct {
	// completeMethod is the method that completes an application. Auto (the default) tries PATCH first and then what
	// the service allows.
	// +optional
	// +kubebuilder:default=Auto
	CompleteMethod TransitionMethod `json:"completeMethod,omitempty"`
	// rejectMethod is the method that rejects an application. Auto (the default) tries PATCH first and then what the
	// service allows.
	// +optional
	// +kubebuilder:default=Auto
	RejectMethod TransitionMethod `json:"rejectMethod,omitempty"`
}

// TransitionMethod is the HTTP method of a transition, or Auto.
//
// +kubebuilder:validation:Enum=Auto;PATCH;POST;PUT
type TransitionMethod string

const (
	// TransitionMethodAuto finds out which method the service takes.
	TransitionMethodAuto TransitionMethod = "Auto"
	// TransitionMethodPATCH always sends PATCH.
	TransitionMethodPATCH TransitionMethod = "PATCH"
	// TransitionMethodPOST always sends POST.
	TransitionMethodPOST TransitionMethod = "POST"
	// TransitionMethodPUT always sends PUT.
	TransitionMethodPUT TransitionMethod = "PUT"
)

// StateNames are further names of the states of an application. Letter case, spaces, - and _ make no difference.
//
// +kubebuilder:validation:XValidation:rule="!has(self.inReview) || !has(self.completed) || !self.inReview.exists(s, s in self.completed)",message="must not have a name that is also in inReview",fieldPath=".completed"
// +kubebuilder:validation:XValidation:rule="!has(self.rejected) || !((has(self.inReview) && self.inReview.exists(s, s in self.rejected)) || (has(self.completed) && self.completed.exists(s, s in self.rejected)))",message="must not have a name that is also in inReview or completed",fieldPath=".rejected"
type StateNames struct {
	// inReview are further names of the state in which an application can be completed or rejected. Known without
	// being listed: in review.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=150
	InReview []string `json:"inReview,omitempty"`
	// completed are further names of the state of an application that was completed. Known without being listed:
	// completed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=150
	Completed []string `json:"completed,omitempty"`
	// rejected are further names of the state of an application that was rejected. Known without being listed: any name
	// that starts with reject or declin.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=150
	Rejected []string `json:"rejected,omitempty"`
}
