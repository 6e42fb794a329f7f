package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// IdentityService is a connection to an identity verification service: where the service is, which credentials to use,
// and how it reads what its interface leaves open. Mandates of the same namespace use it by name. A deleted
// IdentityService stays while Mandates need it, and creates nothing new.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=idsvc,categories=identity
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.baseURL`
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="REASON",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
type IdentityService struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the object's standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec describes the connection.
	// +required
	Spec IdentityServiceSpec `json:"spec"`
	// status describes whether the connection works. Only the operator writes it.
	// +optional
	// +kubebuilder:default={}
	Status IdentityServiceStatus `json:"status,omitzero"`
}

// Settings are what it has in common with a ClusterIdentityService.
func (s *IdentityService) Settings() *ServiceSettings { return &s.Spec.ServiceSettings }

// CredentialsSecret is where its credentials are.
func (s *IdentityService) CredentialsSecret() NamespacedSecretReference {
	return NamespacedSecretReference{Namespace: s.Namespace, Name: s.Spec.CredentialsSecretRef.Name}
}

// NotificationsSecret is where the tokens of the senders of notifications are; nil if it takes none.
func (s *IdentityService) NotificationsSecret() *NamespacedSecretReference {
	if s.Spec.Notifications == nil {
		return nil
	}
	return &NamespacedSecretReference{Namespace: s.Namespace, Name: s.Spec.Notifications.SecretRef.Name}
}

// Subscribing says who subscribes the receiver; nil if it takes no notifications.
func (s *IdentityService) Subscribing() *Subscribing {
	if s.Spec.Notifications == nil {
		return nil
	}
	return &s.Spec.Notifications.Subscribing
}

// NamespacedReferences is false: no other namespace uses it.
func (s *IdentityService) NamespacedReferences() bool { return false }

// ServiceStatus is its status.
func (s *IdentityService) ServiceStatus() *IdentityServiceStatus { return &s.Status }

// IdentityServiceList is a list of IdentityServices.
//
// +kubebuilder:object:root=true
type IdentityServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []IdentityService `json:"items"`
}

// IdentityServiceSpec describes the connection.
type IdentityServiceSpec struct {
	ServiceSettings `json:",inline"`

	// credentialsSecretRef names the Secret that holds the credentials: username and password, or client_id and
	// client_secret, or all four. The operator notices a changed Secret within 20 seconds. The Secret needs the
	// type idv.mandate.io/credentials, or the label idv.mandate.io/use with credentials among its values.
	// +required
	CredentialsSecretRef SecretReference `json:"credentialsSecretRef"`

	// notifications lets the operator receive the notifications of the service, if its receiver runs. Statuses then follow
	// the service within seconds, and the operator polls less often. Default: none, the operator only polls.
	// +optional
	Notifications *Notifications `json:"notifications,omitempty"`
}

// Notifications says who may send notifications, and who subscribes.
type Notifications struct {
	// secretRef names the Secret with the token that a notification must contain. The key token has at least 32
	// characters, and no white space. While you rotate the token, the key previousToken has the old one. The operator
	// notices a change within 20 seconds. The Secret needs the type idv.mandate.io/notifications, or the label
	// idv.mandate.io/use with notifications among its values.
	// +required
	SecretRef SecretReference `json:"secretRef"`

	Subscribing `json:",inline"`
}

// IdentityServiceStatus describes whether the connection works.
type IdentityServiceStatus struct {
	// observedGeneration is the generation of the spec that the status describes. -1 means that the operator has not seen
	// the object yet.
	// +optional
	// +kubebuilder:default=-1
	// +kubebuilder:validation:Maximum=9007199254740991
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready (the connection works) and, only while they are true, Stalled (a person must correct the spec
	// or the Secret), InUse (somebody deleted this object, but Mandates still need it), ApplicationsMissing (the service
	// does not find the applications of several Mandates), AccountChanged (the credentials may belong to another account
	// than the applications of Mandates, so nothing is created or sent), NotificationsUnavailable (the
	// operator refuses notifications), CreationSuspended (spec.creation.suspend is true) and CreationBudgetReached
	// (Mandates or MandateActions wait, because spec.creation allows no more e-mails now). StatesUnderstood is present
	// only while it is False: Mandates wait, and the operator does not understand the state of their applications. While
	// Ready is False, Mandates wait and keep their status.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// problems are what is wrong: the keys of the Secret, or what the service answered when the reason of Ready began.
	// They have no values.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Problems []Problem `json:"problems,omitempty"`

	// account is a digest of the base URL, the grant type, and the user name and client id of the credentials. It changes
	// when they do. A person who knows that both belong to one account says so by the annotation
	// idv.mandate.io/same-account with this value.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Account string `json:"account,omitempty"`

	// sameAccounts are accounts that are one: with the credentials of the one, the operator has read an application that
	// was created with those of the other. The newest are last.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	SameAccounts []SameAccount `json:"sameAccounts,omitempty"`

	// mandateTypes are the mandate types that the service offers to this account, for spec.mandateType of Mandates.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=500
	MandateTypes []MandateType `json:"mandateTypes,omitempty"`

	// states are the names that the service has used for the states of applications, and how the operator understands
	// them, by name. If there are more than 50, a new name is shown in place of one that was not used for a day.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	States []StateStatus `json:"states,omitempty"`

	// truncated is true if mandateTypes does not show all mandate types of the service, or cuts their texts. Mandates
	// can still select all of them.
	// +optional
	Truncated bool `json:"truncated,omitempty"`

	// lastHandledReconcileAt is the last value of the annotation idv.mandate.io/reconcile-requested-at that the
	// operator has handled, cut to 256 characters. Do not put personal data into the annotation.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`

	// creation is how much of spec.creation is used.
	// +optional
	Creation *CreationStatus `json:"creation,omitempty"`

	// notifications describes the notifications of the service. It is present while spec.notifications is set.
	// +optional
	Notifications *NotificationsStatus `json:"notifications,omitempty"`
}

// NotificationsStatus describes what the service delivers.
type NotificationsStatus struct {
	// path of the URL to subscribe, without the token. Append / and the token, or let the service send the token in the
	// header Authorization: Bearer.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`
	// tokenDigests are the SHA-256 digests of the tokens that are good now. The receiver of notifications compares them,
	// so that it needs to read no Secret.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:MaxLength=64
	TokenDigests []string `json:"tokenDigests,omitempty"`
	// lastReceivedTime is when the last notification about an application of a Mandate arrived. It is at most ten
	// minutes late. For seven days after it, the operator reads applications about once a day.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	LastReceivedTime *metav1.Time `json:"lastReceivedTime,omitempty"`
}

// CreationStatus is how much of spec.creation is used. The operator reserves a few requests at a time before it sends
// them, so the numbers can be a little above what was sent.
type CreationStatus struct {
	// lastHour is how many requests that e-mail people were reserved in the last hour.
	// +optional
	LastHour int32 `json:"lastHour"`
	// lastDay is how many were reserved in the last 24 hours.
	// +optional
	LastDay int32 `json:"lastDay"`
	// waiting is how many Mandates and MandateActions wait, because spec.creation allows no more now.
	// +optional
	Waiting int32 `json:"waiting"`
	// nextTime is when spec.creation allows the next request. It is absent while it allows one now.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	NextTime *metav1.Time `json:"nextTime,omitempty"`
	// reserved are the reservations of the last day, the oldest first. The operator counts with them; do not edit them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	Reserved []CreationReservation `json:"reserved,omitempty"`
}

// CreationReservation is a number of requests that the operator may have sent.
type CreationReservation struct {
	// time of the last of them, by the clock of the API server.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	Time metav1.Time `json:"time"`
	// count of the requests.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000000
	Count int32 `json:"count"`
}

// MandateType is a mandate type of the service's reference data.
type MandateType struct {
	// id of the mandate type.
	// +optional
	// +kubebuilder:validation:Maximum=9007199254740991
	ID int64 `json:"id,omitempty"`
	// name of the mandate type.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
	// code of the mandate type.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Code string `json:"code,omitempty"`
}

// StateStatus is a name that the service uses for a state of applications.
type StateStatus struct {
	// name as the service writes it.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`
	// stage is what the name means to the operator. Open is before the review, and Closed is over without a decision.
	// To explain a name that is Unknown, add it to a field of spec.states.
	// +required
	Stage StateStage `json:"stage"`
	// lastSeenTime is when the operator last read an application in this state. It is at most a day late.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	LastSeenTime metav1.Time `json:"lastSeenTime"`
}

// StateStage is the part of its lifecycle that an application is in.
//
// +kubebuilder:validation:Enum=Open;InReview;Completed;Rejected;Closed;Unknown
type StateStage string

// SameAccount says that two accounts are one.
type SameAccount struct {
	// account that created an application, as in its ApplicationRecord.
	// +required
	// +kubebuilder:validation:MaxLength=32
	Account string `json:"account"`

	// sameAs is the account that has read the application.
	// +required
	// +kubebuilder:validation:MaxLength=32
	SameAs string `json:"sameAs"`
}
