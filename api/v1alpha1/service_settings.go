package v1alpha1

// The rules are at the object and not at its fields: a rule at a field makes the API server repeat the field's value in
// its error, and a value that breaks one may hold a password or a key.

// ServiceSettings are the settings that an IdentityService and a ClusterIdentityService share: where the service is,
// and how it handles what its interface leaves open.
//
// +kubebuilder:validation:XValidation:rule="isURL(self.baseURL) && url(self.baseURL).getScheme() in ['https', 'http'] && url(self.baseURL).getHostname().size() > 0",message="must be a URL such as https://idv.example.com",fieldPath=".baseURL"
// +kubebuilder:validation:XValidation:rule="!self.baseURL.matches('(?i)^http:') || self.baseURL.matches('(?i)^http://(localhost|127([.](25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})){3}|[[]::1[]])(:[0-9]*)?(/|$)')",message="must start with https://; http:// is only for localhost, 127.0.0.0/8 and [::1]",fieldPath=".baseURL"
// +kubebuilder:validation:XValidation:rule="!self.baseURL.matches('^[^/?#]*//[^/?#]*@') && !self.baseURL.contains('?') && !self.baseURL.contains('#')",message="must not contain a user, password, query or fragment: put credentials into the Secret of credentialsSecretRef",fieldPath=".baseURL"
// +kubebuilder:validation:XValidation:rule="!self.baseURL.matches('/api/v1/*$')",message="must not end with /api/v1: remove it, the operator adds it",fieldPath=".baseURL"
// +kubebuilder:validation:XValidation:rule="!has(self.caBundle) || self.caBundle.contains('-----BEGIN CERTIFICATE-----')",message="must be PEM text and not base64 of it: -----BEGIN CERTIFICATE----- is missing",fieldPath=".caBundle"
type ServiceSettings struct {
	// baseURL is the URL of the service without /api/v1, for example https://idv.example.com. The operator adds
	// /api/v1. The URL must be https. http is allowed for localhost, 127.0.0.0/8 and [::1] only. The URL can have a
	// path, but no user, password, query or fragment. Flags of the operator can restrict the hosts, and forbid http.
	// After a change, the operator acts only on applications that the service shows with their references.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	BaseURL string `json:"baseURL"`

	// caBundle contains the certificates of the authorities to trust, in PEM. Default: the authorities that the
	// operator's image trusts.
	// +optional
	// +kubebuilder:validation:MaxLength=262144
	CABundle string `json:"caBundle,omitempty"`

	// tokenAuthorization is the Authorization header of the token request, which the service does not document. None
	// sends no header. Basic sends client_id and client_secret as HTTP Basic, UserBasic sends username and password. Auto
	// means Basic if the Secret has both client keys, and None otherwise. Default: Auto.
	// +optional
	// +kubebuilder:default=Auto
	TokenAuthorization TokenAuthorization `json:"tokenAuthorization,omitempty"`

	// tokenRequest is what else the service expects of the token request.
	// +optional
	// +kubebuilder:default={}
	TokenRequest TokenRequest `json:"tokenRequest,omitzero"`

	// requestsPerSecond limits the requests of all Mandates of this connection together, as an average per second, 1 to
	// 1000. Default: 10.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	RequestsPerSecond int32 `json:"requestsPerSecond,omitempty"`

	// referencePrefix is the beginning of default references, which Mandates without spec.reference have. References
	// are unique in an account of the service, so two clusters that share an account need different prefixes. Set it
	// before the first Mandate. After a change, Mandates without a recorded application get new references. A Mandate
	// that has one, and is deleted and applied again, shows ApplicationExists. If you change the prefix after a restore
	// without the ApplicationRecords, the operator creates applications and e-mails their individuals again. Default:
	// none.
	// +optional
	// +kubebuilder:validation:MaxLength=50
	ReferencePrefix string `json:"referencePrefix,omitempty"`

	// creation stops and limits the requests that e-mail people: creates, resends and resets.
	// +optional
	// +kubebuilder:default={}
	Creation Creation `json:"creation,omitzero"`

	// polling says how often the operator reads an application.
	// +optional
	// +kubebuilder:default={}
	Polling Polling `json:"polling,omitzero"`

	// transitions are the HTTP methods that complete and reject an application, which the service does not document.
	// +optional
	// +kubebuilder:default={}
	Transitions Transitions `json:"transitions,omitzero"`

	// retention says whether personal data in the spec of a Mandate ends with the verification, for Mandates that do not
	// say so. Default: Keep.
	// +optional
	Retention Retention `json:"retention,omitzero"`

	// states are additional names that this service uses for the states of an application and of a check.
	// +optional
	States StateNames `json:"states,omitzero"`
}

// TokenAuthorization is the Authorization header of the token request.
//
// +kubebuilder:validation:Enum=Auto;None;Basic;UserBasic
type TokenAuthorization string

const (
	// TokenAuthorizationAuto is Basic if client_id and client_secret are both there, else None.
	TokenAuthorizationAuto TokenAuthorization = "Auto"
	// TokenAuthorizationNone sends no Authorization header.
	TokenAuthorizationNone TokenAuthorization = "None"
	// TokenAuthorizationBasic sends client_id and client_secret as HTTP Basic.
	TokenAuthorizationBasic TokenAuthorization = "Basic"
	// TokenAuthorizationUserBasic sends username and password as HTTP Basic.
	TokenAuthorizationUserBasic TokenAuthorization = "UserBasic"
)

// TokenRequest is what the service expects of the token request.
type TokenRequest struct {
	// grantType is the field grant_type: password, or client_credentials, which sends client_id and client_secret only.
	// The service documents password, and that there are others. Default: password.
	// +optional
	// +kubebuilder:default=password
	GrantType GrantType `json:"grantType,omitempty"`
}

// GrantType is the field grant_type of the token request.
//
// +kubebuilder:validation:Enum=password;client_credentials
type GrantType string

const (
	// GrantTypePassword sends the credentials that the Secret has.
	GrantTypePassword GrantType = "password"
	// GrantTypeClientCredentials sends client_id and client_secret only.
	GrantTypeClientCredentials GrantType = "client_credentials"
)

// Creation stops and limits the requests that e-mail people: those that create an application, resend an invitation or
// reset an individual.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxPerHour) || !has(self.maxPerDay) || self.maxPerHour <= self.maxPerDay",message="must not be below maxPerHour",fieldPath=".maxPerDay"
type Creation struct {
	// suspend stops these requests at once. Mandates and MandateActions wait with the reason CreationSuspended. Reads,
	// decisions, reviews and deletions continue. Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
	// maxPerHour is how many of these requests the operator sends in any hour, 1 to 1000000. What is above waits with the
	// reason CreationBudgetReached, the oldest first. Clusters that share an account divide it among them. Default: 500.
	// +optional
	// +kubebuilder:default=500
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	MaxPerHour int32 `json:"maxPerHour,omitempty"`
	// maxPerDay is how many of these requests the operator sends in any 24 hours, 1 to 10000000. It must not be below
	// maxPerHour. Default: 5000.
	// +optional
	// +kubebuilder:default=5000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	MaxPerDay int32 `json:"maxPerDay,omitempty"`
}

// Polling bounds the time between two reads of an application. The time grows from the minimum to the maximum while
// nothing changes.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minIntervalSeconds) || !has(self.maxIntervalSeconds) || self.minIntervalSeconds <= self.maxIntervalSeconds",message="must not be below minIntervalSeconds",fieldPath=".maxIntervalSeconds"
type Polling struct {
	// minIntervalSeconds is the shortest time between two reads of an application, in seconds, 1 to 604800. Default: 30.
	// +optional
	// +kubebuilder:default=30
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	MinIntervalSeconds int32 `json:"minIntervalSeconds,omitempty"`
	// maxIntervalSeconds is the longest time between two reads of an application without an outcome, in seconds, 1 to
	// 604800. It must not be below minIntervalSeconds. Default: 3600.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	MaxIntervalSeconds int32 `json:"maxIntervalSeconds,omitempty"`
}

// Transitions are the HTTP methods that complete and reject an application.
type Transitions struct {
	// completeMethod completes an application: Auto, PATCH, POST or PUT. Auto tries PATCH first, and then what the
	// service allows. Default: Auto.
	// +optional
	// +kubebuilder:default=Auto
	CompleteMethod TransitionMethod `json:"completeMethod,omitempty"`
	// rejectMethod rejects an application: Auto, PATCH, POST or PUT. Auto tries PATCH first, and then what the service
	// allows. Default: Auto.
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

// StateNames are further names of the states of an application and of a check. Letter case, spaces, - and _ make no
// difference.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.completed) || !(has(self.inReview) && [self.inReview.map(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', ""))].exists(names, self.completed.exists(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', "") in names)))`,message="must not have a name that is also in inReview",fieldPath=".completed"
// +kubebuilder:validation:XValidation:rule=`!has(self.rejected) || !((has(self.inReview) && [self.inReview.map(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', ""))].exists(names, self.rejected.exists(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', "") in names))) || (has(self.completed) && [self.completed.map(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', ""))].exists(names, self.rejected.exists(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', "") in names))))`,message="must not have a name that is also in inReview or completed",fieldPath=".rejected"
// +kubebuilder:validation:XValidation:rule=`!has(self.inReview) || !self.inReview.exists(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', "").matches('^(completed$|rejected|declined)'))`,message="must not have completed, or a name that starts with rejected or declined: these always mean an outcome",fieldPath=".inReview"
// +kubebuilder:validation:XValidation:rule=`!has(self.completed) || !self.completed.exists(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', "").matches('^(inreview$|reject|declin)'))`,message="must not have in review, or a name that starts with reject or declin: these never mean completed",fieldPath=".completed"
// +kubebuilder:validation:XValidation:rule=`!has(self.rejected) || !self.rejected.exists(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', "").matches('^(inreview|completed)$'))`,message="must not have in review or completed: these never mean rejected",fieldPath=".rejected"
// +kubebuilder:validation:XValidation:rule=`!has(self.checkPassed) || !self.checkPassed.exists(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', "").matches('^((manually)?(accepted|rejected)|passed|failed)$'))`,message="must not have accepted, manually_accepted, passed, rejected, manually_rejected or failed: the operator knows what these mean",fieldPath=".checkPassed"
// +kubebuilder:validation:XValidation:rule=`!has(self.checkFailed) || !self.checkFailed.exists(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', "").matches('^((manually)?(accepted|rejected)|passed|failed)$'))`,message="must not have accepted, manually_accepted, passed, rejected, manually_rejected or failed: the operator knows what these mean",fieldPath=".checkFailed"
// +kubebuilder:validation:XValidation:rule=`!has(self.checkFailed) || !(has(self.checkPassed) && [self.checkPassed.map(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', ""))].exists(names, self.checkFailed.exists(s, s.lowerAscii().replace(' ', "").replace('_', "").replace('-', "") in names)))`,message="must not have a name that is also in checkPassed",fieldPath=".checkFailed"
type StateNames struct {
	// inReview are additional names of the state in which an application can be completed or rejected. The operator
	// knows the name in review. The name completed, and names that start with rejected or declined, are not allowed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=150
	InReview []string `json:"inReview,omitempty"`
	// completed are additional names of the state of a completed application. The operator knows the name completed.
	// The name in review, and names that start with reject or declin, are not allowed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=150
	Completed []string `json:"completed,omitempty"`
	// rejected are additional names of the state of a rejected application. The operator knows names that start with
	// reject or declin. The names in review and completed are not allowed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=150
	Rejected []string `json:"rejected,omitempty"`
	// closed are names of states in which the service ends an application without a decision, such as withdrawn. The
	// operator knows none. Names that mean in review, completed or rejected have no effect here.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=150
	Closed []string `json:"closed,omitempty"`
	// checkPassed are additional names of the state of a check that passed. The operator knows accepted,
	// manually_accepted and passed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=150
	CheckPassed []string `json:"checkPassed,omitempty"`
	// checkFailed are additional names of the state of a check that failed. The operator knows rejected,
	// manually_rejected and failed. A check with any other state is neither passed nor failed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=150
	CheckFailed []string `json:"checkFailed,omitempty"`
}
