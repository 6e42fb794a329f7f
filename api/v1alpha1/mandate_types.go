package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ApplicationFinalizer keeps a Mandate with deletionPolicy Archive or Delete until its application is archived or deleted.
const ApplicationFinalizer = "idv.mandate.io/application"

// The rules of Mandate that compare with status are at its root, because only the root sees spec and status together.
// There is one rule a field, so that the API server's error names the field.

// Mandate is an application (the service calls it a mandate too) at an identity verification service. Creating one
// e-mails an invite to each of its individuals. At most one application is created for a Mandate, ever; its status
// shows how the verification is going.
//
// What was sent to the service (name, reference, mandateType, suppressEmailNotification, individuals) and serviceRef can
// be edited until the application exists, and not after: the service has no update.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=mdt,categories=identity
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.suspend`
// +kubebuilder:selectablefield:JSONPath=`.status.applicationID`
// +kubebuilder:selectablefield:JSONPath=`.status.archived`
// +kubebuilder:selectablefield:JSONPath=`.status.outcome`
// +kubebuilder:selectablefield:JSONPath=`.status.reference`
// +kubebuilder:selectablefield:JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="STATE",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="PROGRESS",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="OUTCOME",type=string,JSONPath=`.status.outcome`
// +kubebuilder:printcolumn:name="APPLICATION",type=integer,JSONPath=`.status.applicationID`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="REFERENCE",type=string,priority=1,JSONPath=`.status.reference`
// +kubebuilder:printcolumn:name="REASON",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="EXPIRES",type=string,priority=1,JSONPath=`.status.expiryTime`
// +kubebuilder:validation:XValidation:rule="has(self.spec.name) || size(self.metadata.name) <= 150",message="must be set, because its default, metadata.name, is longer than 150 characters",fieldPath=".spec.name"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || (has(self.spec.name) ? has(oldSelf.spec.name) && self.spec.name == oldSelf.spec.name : !has(oldSelf.spec.name))",message="cannot change once the application exists: put the old value back, or create another Mandate, which sends new e-mails",fieldPath=".spec.name"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || (has(self.spec.reference) ? has(oldSelf.spec.reference) && self.spec.reference == oldSelf.spec.reference : !has(oldSelf.spec.reference))",message="cannot change once the application exists: put the old value back, or create another Mandate, which sends new e-mails",fieldPath=".spec.reference"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || self.spec.mandateType == oldSelf.spec.mandateType",message="cannot change once the application exists: put the old value back, or create another Mandate, which sends new e-mails",fieldPath=".spec.mandateType"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || self.spec.suppressEmailNotification == oldSelf.spec.suppressEmailNotification",message="cannot change once the application exists: put the old value back, or create another Mandate, which sends new e-mails",fieldPath=".spec.suppressEmailNotification"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || self.spec.individuals == oldSelf.spec.individuals",message="cannot change once the application exists: put the old values back, or create another Mandate, which sends new e-mails",fieldPath=".spec.individuals"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || self.spec.serviceRef == oldSelf.spec.serviceRef",message="cannot change once the application exists: put the old value back, or create another Mandate, which sends new e-mails",fieldPath=".spec.serviceRef"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || (has(self.spec.adopt) ? has(oldSelf.spec.adopt) && self.spec.adopt == oldSelf.spec.adopt : !has(oldSelf.spec.adopt))",message="cannot change once the application exists: put the old value back, or create another Mandate, which sends new e-mails",fieldPath=".spec.adopt"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || (has(self.status.applicationID) && self.status.applicationID == oldSelf.status.applicationID)",message="cannot change or go away once it is set: a Mandate has one application, ever",fieldPath=".status.applicationID"
type Mandate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object, as for every Kubernetes object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the application that is wanted, and what to do with it.
	// +required
	Spec MandateSpec `json:"spec"`
	// status is how the application is doing. It is written by the operator only and holds no personal data.
	// +optional
	// +kubebuilder:default={}
	Status MandateStatus `json:"status,omitzero"`
}

// MandateList is a list of Mandates.
//
// +kubebuilder:object:root=true
type MandateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Mandate `json:"items"`
}

// MandateSpec is the application that is wanted, and what to do with it.
//
// +kubebuilder:validation:XValidation:rule="!has(self.checkReviews) || self.checkReviews.all(r, self.individuals.exists(i, i.name == r.individual))",message="must refer to individuals of this Mandate: each individual here must be the name of one in spec.individuals",fieldPath=".checkReviews"
type MandateSpec struct {
	// serviceRef names the IdentityService, in the same namespace, or the ClusterIdentityService where the application is
	// created. It cannot change once the application exists. Default: the IdentityService that is called default.
	// +optional
	// +kubebuilder:default={}
	ServiceRef IdentityServiceReference `json:"serviceRef,omitzero"`

	// name of the application, 1 to 150 characters. It is shown to people who work with the service, and is not taken to
	// be personal data. It cannot change once the application exists. Default: metadata.name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=150
	Name string `json:"name,omitempty"`

	// reference of the application, 1 to 150 characters, unique in the whole account at the service. It is shown in
	// status, so it should not be personal data. To the service, another reference is another application: where this one is
	// taken by an application that is this Mandate's, as after a restore, set adopt and keep the reference, or its
	// individuals are e-mailed again. It cannot change once the application exists. Default: the
	// IdentityService's referencePrefix followed by <namespace>.<name>, shortened with a hash if it is too long.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=150
	Reference string `json:"reference,omitempty"`

	// mandateType is the type of the application, by exactly one of id, code and name. It cannot change once the
	// application exists.
	// +required
	MandateType MandateTypeSelector `json:"mandateType"`

	// suppressEmailNotification true asks the service to send no e-mails for this application. Whether that concerns the
	// invites only, or everything after them too, is not documented by the service. It cannot change once the application
	// exists. Default: false, which e-mails an invite to each individual.
	// +optional
	// +kubebuilder:default=false
	SuppressEmailNotification bool `json:"suppressEmailNotification,omitempty"`

	// individuals are the 1 to 50 people to verify. They cannot change once the application exists.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	Individuals []Individual `json:"individuals"`

	// decision is what to do with the application when it is in review: Complete or Reject. It is carried out as soon as
	// the service allows it, whatever the checks say, failed ones included: look at status.progress before you set Complete.
	// A refusal is shown and tried again when the checks or the state change. Once there is an outcome, a decision
	// changes nothing. Default: none, the decision is taken elsewhere.
	// +optional
	Decision Decision `json:"decision,omitempty"`

	// archived true archives the application: its data is kept and stays retrievable. It cannot be undone, so it cannot be
	// set back to false. Default: false.
	// +optional
	// +kubebuilder:default=false
	// +kubebuilder:validation:XValidation:rule="self || !oldSelf",message="cannot be set back to false: the service cannot undo archiving"
	Archived bool `json:"archived,omitempty"`

	// checkReviews are manual decisions on checks. Each is carried out once, when the check exists.
	// +optional
	// +listType=map
	// +listMapKey=individual
	// +listMapKey=check
	// +kubebuilder:validation:MaxItems=200
	CheckReviews []CheckReview `json:"checkReviews,omitempty"`

	// deletionPolicy is what deleting this Mandate does to the application at the service. Retain (the default) does
	// nothing; Archive archives it; Delete deletes it with its individuals and their check data, for good. With Archive and
	// Delete, a deletion waits until that is done, for a day at most by default, and the condition Ready says what it waits
	// for. Setting it to Retain then lets the Mandate go at once. The IdentityService stays as long as it is needed for this.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// adopt binds this Mandate to an application that exists already, instead of creating one. It can be edited as long
	// as there is no status.applicationID; taking it out before makes this a Mandate for which one may be created.
	// +optional
	Adopt *Adoption `json:"adopt,omitempty"`

	// createBefore is a time after which no application is created for this Mandate, RFC 3339, for example
	// 2026-12-31T00:00:00Z. It guards against manifests that come back from backups and old commits: before you
	// move it, make sure that their individuals were not e-mailed already. Default: none.
	// +optional
	CreateBefore *metav1.Time `json:"createBefore,omitempty"`

	// suspend true makes the operator leave this Mandate alone: nothing is created, read or decided. Deletion still works.
	// Default: false.
	// +optional
	// +kubebuilder:default=false
	Suspend bool `json:"suspend,omitempty"`
}

// MandateTypeSelector chooses a mandate type by exactly one of its id, its code and its name.
//
// +kubebuilder:validation:XValidation:rule="[has(self.id), has(self.code), has(self.name)].filter(set, set).size() == 1",message="must have exactly one of id, code and name"
type MandateTypeSelector struct {
	// id of the mandate type.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ID *int64 `json:"id,omitempty"`
	// code of the mandate type, for example kyc.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Code string `json:"code,omitempty"`
	// name of the mandate type.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
}

// Decision is what to do with an application that is in review.
//
// +kubebuilder:validation:Enum=Complete;Reject
type Decision string

const (
	// DecisionComplete completes the application.
	DecisionComplete Decision = "Complete"
	// DecisionReject rejects the application.
	DecisionReject Decision = "Reject"
)

// CheckReview is a manual decision on one check of one individual.
type CheckReview struct {
	// individual is the name of one of spec.individuals.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Individual string `json:"individual"`
	// check is the name or the id of a check, as status.individuals shows them.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Check string `json:"check"`
	// decision is Accept or Reject.
	// +required
	Decision CheckDecision `json:"decision"`
	// comment says why. It is sent to the service as it is and shown nowhere else.
	// +optional
	// +kubebuilder:validation:MaxLength=2000
	Comment string `json:"comment,omitempty"`
	// commentFor is the kind of thing that the comment is about, for example IndividualCheck.
	// +optional
	// +kubebuilder:validation:MaxLength=150
	CommentFor string `json:"commentFor,omitempty"`
	// reference is the check's reference id at the service, for services that want it. Default: none is sent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Reference *int64 `json:"reference,omitempty"`
}

// CheckDecision is a manual decision on a check.
//
// +kubebuilder:validation:Enum=Accept;Reject
type CheckDecision string

const (
	// CheckDecisionAccept accepts the check.
	CheckDecisionAccept CheckDecision = "Accept"
	// CheckDecisionReject rejects the check.
	CheckDecisionReject CheckDecision = "Reject"
)

// DeletionPolicy is what deleting a Mandate does to its application at the service.
//
// +kubebuilder:validation:Enum=Retain;Archive;Delete
type DeletionPolicy string

const (
	// DeletionPolicyRetain leaves the application as it is.
	DeletionPolicyRetain DeletionPolicy = "Retain"
	// DeletionPolicyArchive archives the application.
	DeletionPolicyArchive DeletionPolicy = "Archive"
	// DeletionPolicyDelete deletes the application with its individuals and their check data.
	DeletionPolicyDelete DeletionPolicy = "Delete"
)

// Adoption names an application that exists already.
type Adoption struct {
	// applicationID is the id of an application that exists at the service. It is bound only if its reference equals the
	// reference of this Mandate, which status.reference shows, and no other Mandate has it. Nothing is created meanwhile.
	// +required
	// +kubebuilder:validation:Minimum=1
	ApplicationID int64 `json:"applicationID"`
}
