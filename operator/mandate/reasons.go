package mandate

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// Reasons that only this package gives, beside those of the API.
const (
	reasonDeleting   = "Deleting"
	reasonVanished   = "Vanished"
	reasonStaleCache = "StaleCache" // nothing to show; reconcile again
)

// progress is what kstatus is told about a Mandate that is not Ready.
type progress int

const (
	settled     progress = iota // nothing to tell
	reconciling                 // the operator has work to do
	stalled                     // a person must act
)

// conditionSpec is how a reason shows in the conditions.
type conditionSpec struct {
	ready    metav1.ConditionStatus
	progress progress
	// created and createdReason hold while no application is known; with one, Created is True.
	created       metav1.ConditionStatus
	createdReason string
	refs          metav1.ConditionStatus
	message       string
}

// conditionSpecs has an entry for every reason that ends a reconciliation with a status. The sentences are fixed: no text of the service and
// no value of the Mandate goes into a condition.
var conditionSpecs = map[string]conditionSpec{
	v1alpha1.ReasonAccepted: {metav1.ConditionTrue, settled, metav1.ConditionTrue, v1alpha1.ReasonCreated, metav1.ConditionTrue,
		"The application exists, and what the spec asks for has been carried out, unless it waits for people or the outcome came first."},
	v1alpha1.ReasonSuspended: {metav1.ConditionFalse, settled, metav1.ConditionFalse, v1alpha1.ReasonSuspended, metav1.ConditionUnknown,
		"spec.suspend is true: nothing is created, read or decided until it is false."},
	v1alpha1.ReasonServiceNotFound: {metav1.ConditionFalse, reconciling, metav1.ConditionFalse, v1alpha1.ReasonCreating, metav1.ConditionFalse,
		"The IdentityService that spec.serviceRef names does not exist in this namespace, or the ClusterIdentityService not at all. Create it, or correct kind and name."},
	v1alpha1.ReasonServiceNotAllowed: {metav1.ConditionFalse, stalled, metav1.ConditionFalse, v1alpha1.ReasonCreating, metav1.ConditionFalse,
		"The ClusterIdentityService that spec.serviceRef names is not for this namespace: its namespaceSelector does not select the namespace's labels, or the operator may not read ClusterIdentityServices. Nothing is created, read or decided; an application that exists stays as it is."},
	v1alpha1.ReasonServiceNotReady: {metav1.ConditionFalse, reconciling, metav1.ConditionFalse, v1alpha1.ReasonCreating, metav1.ConditionFalse,
		"The IdentityService or ClusterIdentityService that spec.serviceRef names is not Ready: its condition Ready says why. Or it is being deleted: then nothing new is created."},
	v1alpha1.ReasonSecretNotFound: {metav1.ConditionFalse, reconciling, metav1.ConditionFalse, v1alpha1.ReasonCreating, metav1.ConditionFalse,
		"A Secret that detailsSecretRef of an individual names does not exist in this namespace. Create it, or correct the name: the operator's log has it."},
	v1alpha1.ReasonSecretInvalid: {metav1.ConditionFalse, stalled, metav1.ConditionFalse, v1alpha1.ReasonCreating, metav1.ConditionFalse,
		"A Secret that detailsSecretRef of an individual names has no email address, a value that is too long or not text, a date_of_birth that is not a date such as 1990-02-28, or a key in other letters, such as firstName for first_name. The operator's log names the Secret and the key."},
	v1alpha1.ReasonMandateTypeNotFound: {metav1.ConditionFalse, stalled, metav1.ConditionFalse, v1alpha1.ReasonRefused, metav1.ConditionFalse,
		"The service has no mandate type, or more than one, that spec.mandateType selects. status.mandateTypes of the IdentityService lists them."},
	v1alpha1.ReasonRefused: {metav1.ConditionFalse, stalled, metav1.ConditionFalse, v1alpha1.ReasonRefused, metav1.ConditionTrue,
		"The service refused to create the application; the operator's log names the fields. Correct the spec or the Secrets that it names: it is not sent again before that."},
	v1alpha1.ReasonReferenceConflict: {metav1.ConditionFalse, stalled, metav1.ConditionFalse, v1alpha1.ReasonReferenceConflict, metav1.ConditionTrue,
		"The reference is taken: by another Mandate, or by an application that is not known here. After a restore that is this Mandate's own application: set spec.adopt.applicationID to its id. Choose another spec.reference only if it is somebody else's: that creates another application and e-mails the individuals, again if they have had an e-mail."},
	v1alpha1.ReasonAdoptionRefused: {metav1.ConditionFalse, stalled, metav1.ConditionFalse, v1alpha1.ReasonAdoptionRefused, metav1.ConditionTrue,
		"The application that spec.adopt names does not exist, has another reference than this Mandate, or belongs to another Mandate or ApplicationRecord. Nothing is bound and nothing is created. Correct spec.adopt or spec.reference. Without spec.adopt an application may be created, and the individuals e-mailed again."},
	v1alpha1.ReasonCreateDeadlinePassed: {metav1.ConditionFalse, stalled, metav1.ConditionFalse, v1alpha1.ReasonCreateDeadlinePassed, metav1.ConditionTrue,
		"spec.createBefore has passed before an application was created, so none is created. The manifest may be an old one whose individuals were e-mailed before: if the application exists, set spec.adopt.applicationID; move spec.createBefore only if they are to be e-mailed now."},
	v1alpha1.ReasonSettling: {metav1.ConditionFalse, reconciling, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown, metav1.ConditionTrue,
		"An attempt to create the application got no clear answer. The operator waits until the service must have finished with it, then finds out with the same reference."},
	v1alpha1.ReasonOutcomeUnknown: {metav1.ConditionFalse, stalled, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown, metav1.ConditionTrue,
		"The application may exist at the service, but its id was lost. Nothing more is sent, so that nobody is e-mailed twice. Look for the reference in status at the service, and set spec.adopt to the application's id."},
	v1alpha1.ReasonRetrying: {metav1.ConditionFalse, reconciling, metav1.ConditionFalse, v1alpha1.ReasonCreating, metav1.ConditionTrue,
		"The last attempt did not reach the service, or was turned away without effect. It is tried again."},
	v1alpha1.ReasonReadFailed: {metav1.ConditionUnknown, reconciling, metav1.ConditionTrue, v1alpha1.ReasonCreated, metav1.ConditionTrue,
		"The application is known, but reading it, or carrying out what the spec asks for, fails. It is tried again."},
	v1alpha1.ReasonConfirming: {metav1.ConditionUnknown, reconciling, metav1.ConditionTrue, v1alpha1.ReasonCreated, metav1.ConditionTrue,
		"The service did not find the application. It is looked for again before that is believed."},
	v1alpha1.ReasonServiceMismatch: {metav1.ConditionFalse, stalled, metav1.ConditionTrue, v1alpha1.ReasonCreated, metav1.ConditionTrue,
		"The IdentityService leads to another service or account than the one that has the application: it shows an application with another reference under the id, or the ledger names another base URL. Nothing is read, decided or archived there. Correct the IdentityService, and give other services an IdentityService of their own."},
	reasonVanished: {metav1.ConditionFalse, stalled, metav1.ConditionTrue, v1alpha1.ReasonCreated, metav1.ConditionTrue,
		"The service does not have the application any more. It is not created again. First make sure that the service's credentials are still those of the account that has it. Another Mandate, with another reference, creates another application and e-mails the individuals again."},
	v1alpha1.ReasonNotArchived: {metav1.ConditionFalse, reconciling, metav1.ConditionTrue, v1alpha1.ReasonCreated, metav1.ConditionTrue,
		"The service refused to archive the application, or has not done so yet. It is tried again when the application is read next."},
	v1alpha1.ReasonDeletionWaiting: {metav1.ConditionFalse, reconciling, metav1.ConditionTrue, v1alpha1.ReasonCreated, metav1.ConditionUnknown,
		"The Mandate is being deleted, and the service that would archive or delete the application cannot be used: see the IdentityService, or whether a ClusterIdentityService still selects this namespace. It is tried again until the operator gives up, a day after the deletion by default. deletionPolicy Retain lets the Mandate go at once."},
	v1alpha1.ReasonDeletionRefused: {metav1.ConditionFalse, stalled, metav1.ConditionTrue, v1alpha1.ReasonCreated, metav1.ConditionTrue,
		"The Mandate is being deleted, and the service refuses to archive or delete the application, or shows one with another reference under its id. It is tried again until the operator gives up, a day after the deletion by default. deletionPolicy Retain lets the Mandate go at once."},
}

// messages of the other conditions.
var messages = map[string]string{
	v1alpha1.ReasonResolved:        "The IdentityService and everything else that the spec names was found.",
	v1alpha1.ReasonCreated:         "The application exists and its id is known.",
	v1alpha1.ReasonCreating:        "No application has been created yet.",
	v1alpha1.ReasonInProgress:      "The verification has no outcome yet.",
	v1alpha1.ReasonDecisionRefused: "The service refused spec.decision. It is tried again when the checks or the state change.",
	v1alpha1.ReasonAdopted:         "The application existed and was bound as spec.adopt says.",
	v1alpha1.ReasonReviewRefused:   "The service refused one of spec.checkReviews, or it names a check that several have the name of: use the check's id then. It is tried again when the checks or the state change.",
	"Completed":                    "The application was completed.",
	"Rejected":                     "The application was rejected. That is an outcome, not a failure.",
	"Expired":                      "The service deleted the application, as it does eight weeks after its creation.",
	"Deleted":                      "The application was deleted at the service.",
}
