package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ApplicationRecord is the operator's record of the application that it created, or may have created, for a Mandate. It
// has the name of the Mandate, and outlives it. So a Mandate that is replaced, restored or applied again finds its
// application, even with another spec, and the operator creates no second one. Only the operator writes records. They
// hold no personal data.
//
// Do not delete a record while somebody may apply its Mandate again, even if the application is gone. Without the
// record, the operator can create an application and e-mail again. The operator deletes a record after its Mandate has
// been gone for a year, by default.
//
// The operator creates the record before the application, so the record is also a lock. It has no status, because
// backups drop the status.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=apr
// +kubebuilder:selectablefield:JSONPath=`.spec.applicationID`
// +kubebuilder:selectablefield:JSONPath=`.spec.reference`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceRef.kind`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceURL`
// +kubebuilder:printcolumn:name="REFERENCE",type=string,JSONPath=`.spec.reference`
// +kubebuilder:printcolumn:name="APPLICATION",type=integer,JSONPath=`.spec.applicationID`
// +kubebuilder:printcolumn:name="SENT",type=boolean,JSONPath=`.spec.attempt.sent`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="VERDICT",type=string,priority=1,JSONPath=`.spec.attempt.verdict`
// +kubebuilder:printcolumn:name="SERVICE",type=string,priority=1,JSONPath=`.spec.serviceURL`
type ApplicationRecord struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the object's standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the operator recorded.
	// +required
	Spec ApplicationRecordSpec `json:"spec"`
}

// ApplicationRecordList is a list of ApplicationRecords.
//
// +kubebuilder:object:root=true
type ApplicationRecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ApplicationRecord `json:"items"`
}

// ApplicationRecordSpec is what the operator recorded about an application.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.applicationID) || (has(self.applicationID) && self.applicationID == oldSelf.applicationID)",message="cannot change or go away once it is set: a record has one application, ever",fieldPath=".applicationID"
// +kubebuilder:validation:XValidation:rule="self.serviceURL == oldSelf.serviceURL || (!has(oldSelf.applicationID) && !(has(oldSelf.attempt) && oldSelf.attempt.sent))",message="cannot change once an application may have been created there",fieldPath=".serviceURL"
// +kubebuilder:validation:XValidation:rule="self.reference == oldSelf.reference || (!has(oldSelf.applicationID) && !(has(oldSelf.attempt) && oldSelf.attempt.sent))",message="cannot change once an application may have been created with it",fieldPath=".reference"
// +kubebuilder:validation:XValidation:rule="self.account == oldSelf.account || has(self.applicationID) || !(has(oldSelf.attempt) && oldSelf.attempt.sent)",message="cannot change while an application may have been created with it and is not known",fieldPath=".account"
// +kubebuilder:validation:XValidation:rule="self.salt == oldSelf.salt",message="cannot change: digests of the application are keyed with it",fieldPath=".salt"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.subscription) || has(self.subscription)",message="cannot go away once it is set: the application could be subscribed twice",fieldPath=".subscription"
type ApplicationRecordSpec struct {
	// salt is a random key of the digests that the operator makes for this application. It is set when the record is made
	// and never changes, so that digests stay the same when the record is restored or moved. Without it, a reader
	// of a digest could find out by trying what it was made from.
	// +required
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{32}$`
	// +kubebuilder:validation:MaxLength=32
	Salt string `json:"salt"`

	// serviceURL is the base URL of the service that has the application, or of the last attempt, in normal form. It
	// can change only while it is certain that no application was created there.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	ServiceURL string `json:"serviceURL"`

	// account is a digest of the user name and the client id with which the application was created, or the last attempt
	// was made. The operator does nothing to people with the credentials of another account. It changes the account only
	// if no application was created, or if the service shows the application to the new account.
	// +required
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{32}$`
	// +kubebuilder:validation:MaxLength=32
	Account string `json:"account"`

	// reference of the application at the service, or of the last attempt. It can change only while it is certain that
	// no application was created with it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=150
	Reference string `json:"reference"`

	// serviceRef names the IdentityService or ClusterIdentityService of the application, or of the last attempt.
	// +optional
	ServiceRef IdentityServiceReference `json:"serviceRef,omitzero"`

	// mandateRef identifies the Mandate that the last attempt was made for, or that adopted the application.
	// +required
	MandateRef RecordedMandate `json:"mandateRef"`

	// attempt is the last attempt to create the application. It is absent if the application was adopted.
	// +optional
	Attempt *Attempt `json:"attempt,omitempty"`

	// applicationID is the id of the application at the service, as soon as it is known. Once set, it never changes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	ApplicationID *int64 `json:"applicationID,omitempty"`

	// createdTime is when the application was created.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	CreatedTime *metav1.Time `json:"createdTime,omitempty"`

	// subscription is the webhook subscription of the application that the operator made, or may have made. It is
	// present only with spec.notifications.subscribe: Application of the service. It holds neither the URL nor the
	// token.
	// +optional
	Subscription *RecordedSubscription `json:"subscription,omitempty"`

	// actions are the last 100 MandateActions that the operator started on the application. The operator starts no
	// other action with one of these names. It removes an entry only if the request certainly did nothing.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Actions []RecordedAction `json:"actions,omitempty"`

	// earlierActions are digests of the MandateActions before those in actions. The operator does not start them again
	// either. When both lists are full, the operator starts no further action of this Mandate.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=64
	EarlierActions []string `json:"earlierActions,omitempty"`
}

// RecordedSubscription is a webhook subscription that the operator made, or may have made.
type RecordedSubscription struct {
	// startedTime is when the operator recorded that it subscribes, before it sent the request, to the microsecond. The
	// operator sends another request only if it is certain that this one created nothing.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	StartedTime metav1.MicroTime `json:"startedTime"`

	// ordinal is the number of requests to subscribe that the operator started, this one included.
	// +required
	// +kubebuilder:validation:Minimum=1
	Ordinal int32 `json:"ordinal"`

	// refused is true if the service refused the request. Otherwise, status.subscription of the Mandate says whether
	// the subscription exists.
	// +optional
	Refused bool `json:"refused,omitempty"`
}

// RecordedAction is a MandateAction that the operator started.
type RecordedAction struct {
	// name of the MandateAction, in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// type of the action.
	// +required
	Type MandateActionType `json:"type"`

	// individual is the name of the individual in the Mandate's spec.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Individual string `json:"individual"`

	// startedTime is when the operator recorded the action, before it sent the request.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	StartedTime metav1.Time `json:"startedTime"`

	// evidence is a digest of what the checks of the individual were before a reset. It is absent for other actions.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Evidence string `json:"evidence,omitempty"`

	// uid of the MandateAction. The operator does not start another object with the same name.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	UID types.UID `json:"uid,omitempty"`
}

// RecordedMandate identifies the Mandate of a record.
type RecordedMandate struct {
	// uid of the Mandate. It changes when another Mandate with the same name takes over the record.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID types.UID `json:"uid"`
}

// Attempt is one attempt to create the application.
type Attempt struct {
	// nonce identifies this attempt. Only the process that made the attempt may send it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Nonce string `json:"nonce"`

	// firstStartedTime is when the operator recorded the first attempt with this reference that may have created an
	// application. After seven weeks, the operator makes no further attempt, because the service forgets the reference
	// together with the application, and would create and e-mail again.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	FirstStartedTime metav1.MicroTime `json:"firstStartedTime"`

	// startedTime is when the operator recorded this attempt, to the microsecond. With whole seconds, another operator
	// could take the attempt over too early.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	StartedTime metav1.MicroTime `json:"startedTime"`

	// sent is false only if it is certain that no attempt with this reference created an application: no request
	// reached the service, or the service rejected all of them.
	// +required
	Sent bool `json:"sent"`

	// ordinal is the number of attempts with this reference that may have created an application, this one included.
	// +required
	// +kubebuilder:validation:Minimum=1
	Ordinal int32 `json:"ordinal"`

	// inputs is a digest of the generation and the Secret versions that the attempt was made from. It contains no
	// personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Inputs string `json:"inputs,omitempty"`

	// verdict is the result of the attempt. NotSent, Refused, Forbidden, Retryable and Taken mean that it created nothing:
	// no request reached the service, or the service rejected the content, this user, the request for a reason that may
	// pass (such as missing credit), or the reference, which exists. Accepted means that the service creates the
	// application later, or that the answer shows an id without the reference, and IDTooLarge that it shows an id above
	// 9007199254740991: after these, it is never sent again. It is empty while the attempt is open, and while its outcome
	// is unknown.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`

	// candidateID is an id that the answer shows without the reference. The operator binds the application with this id
	// once it shows the reference.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	CandidateID *int64 `json:"candidateID,omitempty"`
}

// Verdict is how an attempt ended.
//
// +kubebuilder:validation:Enum="";NotSent;Refused;Forbidden;Retryable;Taken;Accepted;IDTooLarge
type Verdict string

const (
	// VerdictNotSent means that nothing reached the service, or that it turned the request away for another reason than
	// the application: credentials, path, method or rate limit. The attempt can be made again.
	VerdictNotSent Verdict = "NotSent"
	// VerdictRefused means that the service refused the application for another reason than its reference.
	VerdictRefused Verdict = "Refused"
	// VerdictForbidden means that the service does not let this user create the application.
	VerdictForbidden Verdict = "Forbidden"
	// VerdictRetryable means that the service refused the application for a reason that may pass, such as missing credit.
	VerdictRetryable Verdict = "Retryable"
	// VerdictTaken means that the service refused the application because its reference exists.
	VerdictTaken Verdict = "Taken"
	// VerdictAccepted means that the service creates the application later, or that its answer shows an id that may not be
	// the application's. The attempt is never made again.
	VerdictAccepted Verdict = "Accepted"
	// VerdictIDTooLarge means that the answer shows an id above MaxID. The attempt is never made again.
	VerdictIDTooLarge Verdict = "IDTooLarge"
)
