package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ApplicationFinalizer keeps a Mandate with deletionPolicy Archive or Delete until its application is archived or
// deleted.
const ApplicationFinalizer = "idv.mandate.io/application"

// ReconcileRequestAnnotation on a Mandate asks for a read of its application now. On an IdentityService or
// ClusterIdentityService it asks for a probe. Each value that differs from the one before is a request. The status
// acknowledges it in lastHandledReconcileAt.
const ReconcileRequestAnnotation = "idv.mandate.io/reconcile-requested-at"

// NotificationRequestPrefix begins the value of a request that is not a person's. It costs no write of its own: the
// status acknowledges it together with the next change.
const NotificationRequestPrefix = "notification/"

// CandidateAnnotation on a Mandate whose create had no answer names applications that may be its own, by their ids,
// separated by commas: at most MaxCandidates. The operator reads each of them, and binds the one that has the Mandate's
// reference. The operator sets it for what a notification named and shows that reference, and so can a person.
const CandidateAnnotation = "idv.mandate.io/candidate-application-ids"

// RecordCompleteAnnotation on a Mandate has the metadata.uid of its ApplicationRecord, if a person says that the
// record, which was restored from a backup, lacks nothing that was sent. It needs the verb adopt.
const RecordCompleteAnnotation = "idv.mandate.io/record-complete"

// NotCreatedAnnotation on a Mandate names the create in its ApplicationRecord whose result is Unknown, if a person says
// that it created nothing: endedTime, in UTC, a slash and the nonce. The operator records that, and creates again. It
// needs the verb adopt. It says nothing of another create.
const NotCreatedAnnotation = "idv.mandate.io/not-created"

// ArchivingAnnotation on a Mandate is the nonce of the call by which the operator archives its application. The
// operator sets it before it records the call: the ApplicationRecord may go first, together with the namespace.
const ArchivingAnnotation = "idv.mandate.io/archiving"

// RestoredAnnotation on the Lease of the operator says since when nothing is sent, because etcd was restored from a
// backup. The operator sets it. A person removes it who has compared the Mandates with the service.
const RestoredAnnotation = "idv.mandate.io/restored"

// RequestedByAnnotation on a Mandate or MandateAction is the user name of the author of what it orders. The plugin sets
// it, and the admission policy requested-by.idv.mandate.io holds it equal to the user of the request. Without the
// policy, everybody who may edit the object can write any name.
const RequestedByAnnotation = "idv.mandate.io/requested-by"

// MaxRequestedBy is the most characters of a user name that a call records. A longer one is not recorded.
const MaxRequestedBy = 256

// UnknownIDsAnnotation on an IdentityService or ClusterIdentityService names applications that its notifications named
// while the create of a Mandate had no answer: at most MaxCandidates ids, separated by commas. The operator reads each
// of them once, and names it to the Mandate whose reference it shows. Only the receiver of notifications sets it.
const UnknownIDsAnnotation = "idv.mandate.io/unknown-application-ids"

// MaxCandidates is how many ids each of these annotations has at most. Of more, the last ones count.
const MaxCandidates = 20

// The rules of Mandate that compare with status are at its root, because only the root sees spec and status together.
// Every field has a rule of its own, so that the error of the API server names the field.

// Mandate requests an application at an identity verification service. The service calls an application a mandate too.
// Creating the application e-mails an invite to each individual. The operator creates at most one application for each
// name of a Mandate, ever. For another verification, use another name. The status shows the progress of the
// verification.
//
// The service cannot update an application. Therefore, name, reference, mandateType, suppressEmailNotification,
// individuals and serviceRef cannot change once the application exists.
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
// +kubebuilder:printcolumn:name="REASON",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="STATE",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="PROGRESS",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="OUTCOME",type=string,JSONPath=`.status.outcome`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="APPLICATION",type=integer,priority=1,JSONPath=`.status.applicationID`
// +kubebuilder:printcolumn:name="REFERENCE",type=string,priority=1,JSONPath=`.status.reference`
// +kubebuilder:printcolumn:name="EXPIRES",type=string,priority=1,JSONPath=`.status.expiryTime`
// +kubebuilder:validation:XValidation:rule="has(self.spec.name) || size(self.metadata.name) <= 150",message="must be set, because its default, metadata.name, is longer than 150 characters",fieldPath=".spec.name"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || (has(self.spec.name) ? has(oldSelf.spec.name) && self.spec.name == oldSelf.spec.name : !has(oldSelf.spec.name))",message="cannot change once the application exists: restore the old value, or create another Mandate, which e-mails again",fieldPath=".spec.name"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || (has(self.spec.reference) ? has(oldSelf.spec.reference) && self.spec.reference == oldSelf.spec.reference : !has(oldSelf.spec.reference))",message="cannot change once the application exists: restore the old value, or create another Mandate, which e-mails again",fieldPath=".spec.reference"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || self.spec.mandateType == oldSelf.spec.mandateType",message="cannot change once the application exists: restore the old value, or create another Mandate, which e-mails again",fieldPath=".spec.mandateType"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || self.spec.suppressEmailNotification == oldSelf.spec.suppressEmailNotification",message="cannot change once the application exists: restore the old value, or create another Mandate, which e-mails again",fieldPath=".spec.suppressEmailNotification"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || self.spec.individuals == oldSelf.spec.individuals || has(oldSelf.status.outcome) && size(self.spec.individuals) == size(oldSelf.spec.individuals) && self.spec.individuals.all(i, i in oldSelf.spec.individuals || has(i.erased) && i.erased && oldSelf.spec.individuals.exists(o, o.name == i.name && (has(i.detailsSecretRef) ? has(o.detailsSecretRef) && o.detailsSecretRef == i.detailsSecretRef : !has(o.detailsSecretRef))))",message="cannot change once the application exists: restore the old values, or create another Mandate, which e-mails again. Once there is an outcome, you can replace an individual's details by erased: true",fieldPath=".spec.individuals"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || self.spec.serviceRef == oldSelf.spec.serviceRef",message="cannot change once the application exists: restore the old value, or create another Mandate, which e-mails again",fieldPath=".spec.serviceRef"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status.applicationID) || (has(self.status.applicationID) && self.status.applicationID == oldSelf.status.applicationID)",message="cannot change or go away once it is set: a Mandate has one application, ever",fieldPath=".status.applicationID"
type Mandate struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the object's standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec describes the application and what to do with it.
	// +required
	Spec MandateSpec `json:"spec"`
	// status describes the application at the service. Only the operator writes it. It holds no names,
	// addresses or dates of birth.
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

// MandateSpec describes the application and what to do with it.
//
// +kubebuilder:validation:XValidation:rule="!has(self.checkReviews) || self.checkReviews.all(r, self.individuals.exists(i, i.name == r.individual))",message="must name individuals of this Mandate: each individual here must be in spec.individuals",fieldPath=".checkReviews"
type MandateSpec struct {
	// serviceRef names the IdentityService in the same namespace, or the ClusterIdentityService, that creates the
	// application. It cannot change once the application exists. Default: the IdentityService with the name default.
	// +optional
	// +kubebuilder:default={}
	ServiceRef IdentityServiceReference `json:"serviceRef,omitzero"`

	// name of the application, 1 to 150 characters. Users of the service see it, so do not put personal data into it.
	// It cannot change once the application exists. Default: metadata.name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=150
	Name string `json:"name,omitempty"`

	// reference of the application, 1 to 150 characters, unique in the account at the service. The status shows it, so
	// do not put personal data into it. With a ClusterIdentityService, it must begin with the referencePrefix and
	// <namespace>., unless referencePolicy is Any. It cannot change once the application exists. If you delete the
	// Mandate and apply it again with another reference, it gets no other application, and shows ApplicationExists. If
	// the service says that the reference of this Mandate's own application is taken, for example after a restore, keep
	// the reference and set adopt. Default: the referencePrefix of the IdentityService followed by <namespace>.<name>.
	// A hash shortens a reference that is too long.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=150
	Reference string `json:"reference,omitempty"`

	// mandateType selects the type of the application by exactly one of id, code and name. It cannot change once the
	// application exists.
	// +required
	MandateType MandateTypeSelector `json:"mandateType"`

	// suppressEmailNotification asks the service to send no e-mails for this application. The service does not document
	// whether this covers the invites only or all e-mails. It cannot change once the application exists. Default: false,
	// which e-mails an invite to each individual.
	// +optional
	// +kubebuilder:default=false
	SuppressEmailNotification bool `json:"suppressEmailNotification,omitempty"`

	// individuals are the people to verify, 1 to 50. They cannot change once the application exists.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	Individuals []Individual `json:"individuals"`

	// decision is what to do with the application when it is in review. It names what its author has seen, by evidence,
	// or a rule, by when. The operator sends it once, when the application is in review and its evidence or rule holds.
	// The condition Decided says what became of it. If the service refuses it, the operator sends it again on request, or
	// when decision names new evidence. After an outcome, decision has no effect. Default: none.
	// +optional
	Decision *Decision `json:"decision,omitempty"`

	// archived true archives the application at the service, which keeps its data. You cannot set it back to false,
	// because the service cannot undo it. Default: false.
	// +optional
	// +kubebuilder:default=false
	// +kubebuilder:validation:XValidation:rule="self || !oldSelf",message="cannot be set back to false: the service cannot undo archiving"
	Archived bool `json:"archived,omitempty"`

	// checkReviews are manual decisions on checks, at most 200. The operator carries out each of them once, while the
	// check has the evidence that the review names, and then lists it in status.reviews. To decide a check again, such
	// as after a reset of the individual, set its new evidence.
	// +optional
	// +listType=map
	// +listMapKey=individual
	// +listMapKey=check
	// +kubebuilder:validation:MaxItems=200
	CheckReviews []CheckReview `json:"checkReviews,omitempty"`

	// deletionPolicy is what the deletion of this Mandate does to the application. Retain leaves the application as it
	// is. Archive archives it. Delete deletes it permanently, with its individuals and their check data. With Archive
	// and Delete, the deletion of the Mandate waits until the service has done this, by default for at most a day. The
	// condition Ready says what it waits for. The IdentityService stays until then. To end the wait, set Retain.
	// Default: Retain.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// adopt binds this Mandate to an application that exists. The operator then creates no application. If you remove
	// adopt before status.applicationID is set, the operator may create an application. Once status.applicationID is
	// set, adopt has no effect, and you can change or remove it. Default: none.
	// +optional
	Adopt *Adoption `json:"adopt,omitempty"`

	// createBefore is a time, in RFC 3339 with capital T and Z, such as 2026-12-31T00:00:00Z. After this time, the
	// operator creates no application for this Mandate. This protects against old manifests from backups and commits.
	// Before you set a later time, make sure that the individuals were not e-mailed already. Default: none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	CreateBefore *metav1.Time `json:"createBefore,omitempty"`

	// suspend true stops the operator from creating, reading and deciding for this Mandate. Deletion still works.
	// Default: false.
	// +optional
	// +kubebuilder:default=false
	Suspend bool `json:"suspend,omitempty"`

	// retention says whether the personal data in this spec ends with the verification. Default: that of the
	// IdentityService.
	// +optional
	Retention Retention `json:"retention,omitzero"`
}

// MandateTypeSelector selects a mandate type by exactly one of its id, code and name.
//
// +structType=atomic
// +kubebuilder:validation:XValidation:rule="[has(self.id), has(self.code), has(self.name)].filter(set, set).size() == 1",message="must have exactly one of id, code and name"
type MandateTypeSelector struct {
	// id of the mandate type, at least 1. The operator does not check it against the reference data.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	ID *int64 `json:"id,omitempty"`
	// code of the mandate type, such as kyc.
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

// Decision is what to do with an application that is in review, and on what evidence.
//
// +structType=atomic
// +kubebuilder:validation:XValidation:rule="has(self.evidence) != has(self.when)",message="must have exactly one of evidence and when: copy evidence from status.evidence, or set when to AllChecksPassed"
// +kubebuilder:validation:XValidation:rule="!has(self.when) || self.outcome == 'Complete'",message="is only for outcome Complete: to reject, set evidence",fieldPath=".when"
type Decision struct {
	// outcome is Complete or Reject.
	// +required
	Outcome DecisionOutcome `json:"outcome"`
	// evidence is the value of status.evidence that the author of the decision has seen. The operator sends the decision
	// only while the application shows this evidence. Reviews of the same spec do not change it. If the evidence is
	// another one, the condition Decided has the reason DecisionOutdated, and nothing is sent.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Evidence string `json:"evidence,omitempty"`
	// when is a rule, for outcome Complete only. AllChecksPassed: every individual has a check, all checks have passed or
	// are accepted manually, and the application shows this for ten minutes.
	// +optional
	When DecisionRule `json:"when,omitempty"`
}

// DecisionOutcome is what a decision does.
//
// +kubebuilder:validation:Enum=Complete;Reject
type DecisionOutcome string

const (
	// DecisionComplete completes the application.
	DecisionComplete DecisionOutcome = "Complete"
	// DecisionReject rejects the application.
	DecisionReject DecisionOutcome = "Reject"
)

// DecisionRule says when a decision is sent whose author has seen no evidence.
//
// +kubebuilder:validation:Enum=AllChecksPassed
type DecisionRule string

// DecisionRuleAllChecksPassed sends the decision when all checks of all individuals have passed.
const DecisionRuleAllChecksPassed DecisionRule = "AllChecksPassed"

// CheckReview is a manual decision on one check of one individual.
type CheckReview struct {
	// individual is the name of an individual in spec.individuals.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Individual string `json:"individual"`
	// check is the name or the id of a check in status.individuals. Use the id if several checks have the name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Check string `json:"check"`
	// evidence is the value of evidence that the author of the review has seen at this check in status.individuals. The
	// operator carries out the review only while the check has this evidence.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Evidence string `json:"evidence"`
	// decision on the check: Accept or Reject.
	// +required
	Decision CheckDecision `json:"decision"`
	// comment gives the reason for the decision. The operator sends it to the service and shows it nowhere.
	// +optional
	// +kubebuilder:validation:MaxLength=2000
	Comment string `json:"comment,omitempty"`
	// commentFor is the kind of object that the comment is about, such as IndividualCheck.
	// +optional
	// +kubebuilder:validation:MaxLength=150
	CommentFor string `json:"commentFor,omitempty"`
	// reference is the check's reference id at the service, if the service requires it. Default: none is sent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
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

// DeletionPolicy is what the deletion of a Mandate does to its application at the service.
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

// Retention says whether personal data that is inline in the spec of a Mandate ends with the verification.
type Retention struct {
	// afterOutcome is what the operator does with it once the Mandate has an outcome; after Deleted, which can be taken
	// back, about eight weeks after the creation. Keep leaves it. Erase removes, of
	// each individual, reference, email, title, firstName, middleName, lastName, dateOfBirth and gender, and sets erased
	// to true. It does not remove what another field manager applies: status.problems then says ErasedDataInGit.
	// +optional
	AfterOutcome RetentionPolicy `json:"afterOutcome,omitempty"`
}

// RetentionPolicy is what the operator does with inline personal data once there is an outcome.
//
// +kubebuilder:validation:Enum=Keep;Erase
type RetentionPolicy string

const (
	// RetentionKeep leaves it.
	RetentionKeep RetentionPolicy = "Keep"
	// RetentionErase removes it.
	RetentionErase RetentionPolicy = "Erase"
)

// Adoption names an application that exists.
//
// +structType=atomic
type Adoption struct {
	// applicationID is the id of the application at the service. The operator binds the application only if its
	// reference equals status.reference of this Mandate, and if no other Mandate has, or may have, the application. It
	// compares nothing else, so make sure that the application is this Mandate's. The exception is an application that
	// another Mandate of this name had: see status.adoptableApplicationID. Set the reference of each individual, so that
	// the operator can match them. Until the application is bound, the operator creates nothing.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	ApplicationID int64 `json:"applicationID"`
}
