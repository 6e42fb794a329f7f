package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ApplicationRecord is the operator's memory of an application that it created, or may have created, at a service: what a
// PersistentVolume is to its claim. It outlives the Mandate, so that a Mandate that is replaced, restored or applied again
// finds its application instead of creating a second one. It is written by the operator only and holds no personal data.
// Do not delete one as long as somebody may apply its Mandate again, even if the application is gone: without it, that
// can create, and e-mail, again. The operator deletes records whose Mandates have been gone for long.
//
// It is named by a hash of service URL and reference, so that creating it is the lock. All of it is spec and nothing is
// status, because backups drop status.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=apr
// +kubebuilder:printcolumn:name="MANDATE",type=string,JSONPath=`.spec.mandateRef.name`
// +kubebuilder:printcolumn:name="REFERENCE",type=string,JSONPath=`.spec.reference`
// +kubebuilder:printcolumn:name="APPLICATION",type=integer,JSONPath=`.spec.applicationID`
// +kubebuilder:printcolumn:name="SENT",type=boolean,JSONPath=`.spec.attempt.sent`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="VERDICT",type=string,priority=1,JSONPath=`.spec.attempt.verdict`
// +kubebuilder:printcolumn:name="SERVICE",type=string,priority=1,JSONPath=`.spec.serviceURL`
type ApplicationRecord struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object, as for every Kubernetes object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the operator remembers.
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

// ApplicationRecordSpec is what the operator remembers of an application.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.applicationID) || (has(self.applicationID) && self.applicationID == oldSelf.applicationID)",message="cannot change or go away once it is set: a record has one application, ever",fieldPath=".applicationID"
type ApplicationRecordSpec struct {
	// serviceURL is the base URL of the service, in the normal form that the record's name was made from.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: the record's name is made from it"
	ServiceURL string `json:"serviceURL"`

	// reference of the application at the service.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=150
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: the record's name is made from it"
	Reference string `json:"reference"`

	// mandateRef is the Mandate that the application belongs to.
	// +required
	MandateRef RecordedMandate `json:"mandateRef"`

	// attempt is the last attempt to create the application. Absent if the application was adopted.
	// +optional
	Attempt *Attempt `json:"attempt,omitempty"`

	// applicationID is the id of the application, once it is known. Once set, it never changes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ApplicationID *int64 `json:"applicationID,omitempty"`

	// createdTime is when the application was created.
	// +optional
	CreatedTime *metav1.Time `json:"createdTime,omitempty"`
}

// RecordedMandate is the Mandate that a record belongs to.
type RecordedMandate struct {
	// name of the Mandate, in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: an application belongs to the Mandate of one name, ever"
	Name string `json:"name"`
	// uid of the Mandate. It changes when a Mandate of the same name is created again and takes the record over.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID types.UID `json:"uid"`
}

// Attempt is one attempt to create the application.
type Attempt struct {
	// nonce tells this attempt from every other; only the process that made it may send it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Nonce string `json:"nonce"`

	// firstStartedTime is when the first attempt with this reference was recorded that may have reached the service. Seven
	// weeks later no further attempt is made: the service forgets a reference with its application, and would create and
	// e-mail again.
	// +required
	FirstStartedTime metav1.MicroTime `json:"firstStartedTime"`

	// startedTime is when the attempt was recorded, to the microsecond: whole seconds would let a take-over begin too early.
	// +required
	StartedTime metav1.MicroTime `json:"startedTime"`

	// sent is false only if it is certain that nothing of this attempt reached the service.
	// +required
	Sent bool `json:"sent"`

	// ordinal is how many POSTs with this reference may have reached the service, this attempt's included.
	// +required
	// +kubebuilder:validation:Minimum=1
	Ordinal int32 `json:"ordinal"`

	// inputs is a fingerprint of the generation and the Secret versions that the attempt was made from. It is not made from
	// personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Inputs string `json:"inputs,omitempty"`

	// verdict is how the attempt ended, if it proved that it created nothing: NotSent, Refused, or Taken (the reference is
	// somebody else's). Empty while the attempt is open, or if its outcome is unknown.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`
}

// Verdict is how an attempt ended that created nothing.
//
// +kubebuilder:validation:Enum="";NotSent;Refused;Taken
type Verdict string

const (
	// VerdictNotSent means that nothing reached the service.
	VerdictNotSent Verdict = "NotSent"
	// VerdictRefused means that the service refused the application for another reason than its reference.
	VerdictRefused Verdict = "Refused"
	// VerdictTaken means that the service refused the application because its reference exists.
	VerdictTaken Verdict = "Taken"
)
