package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ApplicationRecord is the operator's log of everything that it sent, or may have sent, for a Mandate, and that acts on
// people or cannot be undone. It has the name of the Mandate, and outlives it. So a Mandate that is replaced, restored
// or applied again finds its application, even with another spec, and the operator creates no second one. Only the
// operator writes records. They hold no details of individuals.
//
// Do not delete a record while somebody may apply its Mandate again, even if the application is gone. Without the
// record, the operator can create an application and e-mail again. The operator deletes a record after its Mandate has
// been gone for a year, by default.
//
// The operator writes each call before it sends it, so the record is also a lock. It has no status, because
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
// +kubebuilder:printcolumn:name="LAST",type=string,JSONPath=`.spec.calls[-1:].kind`
// +kubebuilder:printcolumn:name="RESULT",type=string,JSONPath=`.spec.calls[-1:].result`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
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
// +kubebuilder:validation:XValidation:rule="self.serviceURL == oldSelf.serviceURL || (!has(oldSelf.applicationID) && !(has(oldSelf.calls) && oldSelf.calls.exists(c, c.kind == 'Create' && c.sends > 0)))",message="cannot change once an application may have been created there",fieldPath=".serviceURL"
// +kubebuilder:validation:XValidation:rule="self.reference == oldSelf.reference || (!has(oldSelf.applicationID) && !(has(oldSelf.calls) && oldSelf.calls.exists(c, c.kind == 'Create' && c.sends > 0)))",message="cannot change once an application may have been created with it",fieldPath=".reference"
// +kubebuilder:validation:XValidation:rule="self.account == oldSelf.account || (!has(oldSelf.applicationID) && (has(self.applicationID) || !has(oldSelf.calls) || !oldSelf.calls.exists(c, c.kind == 'Create' && c.sends > 0)))",message="cannot change once an application may have been created with it",fieldPath=".account"
// +kubebuilder:validation:XValidation:rule="self.salt == oldSelf.salt",message="cannot change: digests of the application are keyed with it",fieldPath=".salt"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.specDigests) || (has(self.specDigests) && self.specDigests == oldSelf.specDigests)",message="cannot change or go away once they are set: they tell whom the application is about",fieldPath=".specDigests"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.calls) || (oldSelf.calls.all(o, (has(o.result) && o.kind != 'Create') || (has(self.calls) && self.calls.exists(c, c.seq == o.seq))) && oldSelf.calls.filter(o, !has(self.calls) || !self.calls.exists(c, c.seq == o.seq)).size() <= [0, (has(self.earlier) ? size(self.earlier) : 0) - (has(oldSelf.earlier) ? size(oldSelf.earlier) : 0)].max())",message="must keep every call: what was sent once could be sent again",fieldPath=".calls"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.individuals) || (has(self.individuals) && oldSelf.individuals.all(o, self.individuals.exists(i, i.name == o.name)))",message="cannot go away once they are set",fieldPath=".individuals"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.earlier) || size(oldSelf.earlier) == 0 || (has(self.earlier) && (self.earlier.join(' ') + ' ').startsWith(oldSelf.earlier.join(' ') + ' '))",message="can only grow: what was sent once could be sent again",fieldPath=".earlier"
type ApplicationRecordSpec struct {
	// recordUID is the metadata.uid that the record had when the operator wrote it. A record that was restored from a
	// backup has another one, and may lack what was sent since.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	RecordUID types.UID `json:"recordUID,omitempty"`

	// salt is a random key of the digests that the operator makes for this application. It is set when the record is made
	// and never changes, so that digests stay the same when the record is restored or moved. Without it, a reader
	// of a digest could find out by trying what it was made from.
	// +required
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{32}$`
	// +kubebuilder:validation:MaxLength=32
	Salt string `json:"salt"`

	// serviceURL is the base URL of the service that has the application, or of the last create, in normal form. It
	// can change only while it is certain that no application was created there.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	ServiceURL string `json:"serviceURL"`

	// account that the application was created with, or that the last create was sent with: a digest, as in
	// status.account of the service. The operator does nothing to people with the credentials of another account. It
	// changes the account only if no application was created.
	// +required
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{32}$`
	// +kubebuilder:validation:MaxLength=32
	Account string `json:"account"`

	// reference of the application at the service, or of the last create. It can change only while it is certain that
	// no application was created with it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=150
	Reference string `json:"reference"`

	// serviceRef names the IdentityService or ClusterIdentityService of the application, or of the last create.
	// +optional
	ServiceRef IdentityServiceReference `json:"serviceRef,omitzero"`

	// mandateRef identifies the Mandate that the application was created for last, or that adopted it.
	// +required
	MandateRef RecordedMandate `json:"mandateRef"`

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

	// specDigests are digests of what the Mandate asked for when its application was created or adopted, keyed with salt.
	// A Mandate with the same name that is applied again gets the application only if it asks for the same, whatever the
	// service shows. They are absent if that is not known.
	// +optional
	SpecDigests *SpecDigests `json:"specDigests,omitempty"`

	// individuals are who the individuals of the spec are at the service, from the first call about the application on.
	// They never change: if the service shows them otherwise, nothing is sent for any of them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Individuals []RecordedIndividual `json:"individuals,omitempty"`

	// calls are the last 100 requests that act on people or cannot be undone, and that the operator sent for this name, or
	// may have sent. The operator records a call before it sends the request, and its result after the answer. An entry
	// never goes away without a digest of it in earlier.
	// +optional
	// +listType=map
	// +listMapKey=seq
	// +kubebuilder:validation:MaxItems=100
	Calls []Call `json:"calls,omitempty"`

	// earlier are digests of the calls before those in calls. The operator does not make them again either. When both
	// lists are full, the operator makes no further call for this Mandate.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=64
	Earlier []string `json:"earlier,omitempty"`
}

// SpecDigests are digests of the part of a Mandate that cannot change once its application exists.
//
// +structType=atomic
type SpecDigests struct {
	// name is the digest of the name of the application.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Name string `json:"name"`

	// mandateType is the digest of what the spec selects the mandate type by.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	MandateType string `json:"mandateType"`

	// individuals has a digest of the details of each individual, those from a Secret included.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Individuals []IndividualDigest `json:"individuals,omitempty"`
}

// IndividualDigest is the digest of the details of an individual.
type IndividualDigest struct {
	// name of the individual in the Mandate's spec.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// digest of the details.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Digest string `json:"digest"`
}

// RecordedIndividual is who an individual of the spec is at the service.
//
// +kubebuilder:validation:XValidation:rule="self.id == oldSelf.id",message="cannot change: an individual stays the same",fieldPath=".id"
type RecordedIndividual struct {
	// name of the individual in the Mandate's spec.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// id of the individual at the service.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	ID int64 `json:"id"`
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
