package mandate

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// Reasons that only this package gives, beside those of the API.
const (
	reasonDeleting = "Deleting"
	reasonVanished = "Vanished"
	// reasonOtherAccount shows as ReasonAccountChanged. Nobody looks any more for a proof that the account is the same.
	reasonOtherAccount = "OtherAccount"
	reasonStaleCache   = "StaleCache" // nothing to show; reconcile again
	reasonNotDue       = "NotDue"     // nothing to show; the application is read later
)

// progress is what kstatus is told about a Mandate that is not Ready.
type progress int

const (
	settled     progress = iota // nothing to tell
	reconciling                 // the operator has work to do
	stalled                     // a person must act
)

// The statuses of conditions, short for the table.
const (
	isTrue    = metav1.ConditionTrue
	isFalse   = metav1.ConditionFalse
	isUnknown = metav1.ConditionUnknown
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

// conditionSpecs has an entry for every reason that ends a reconciliation with a status. The sentences are fixed: no
// text of the service and no value of the Mandate goes into a condition.
var conditionSpecs = map[string]conditionSpec{
	v1alpha1.ReasonAccepted: {isTrue, settled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The application exists, and everything that the spec asks for is done, except for steps that wait for people."},
	v1alpha1.ReasonSuspended: {isFalse, settled, isFalse, v1alpha1.ReasonSuspended, isUnknown,
		"spec.suspend is true, so nothing is created, read or decided. Set it to false to continue."},
	v1alpha1.ReasonIdentityServiceNotFound: {isFalse, reconciling, isFalse, v1alpha1.ReasonCreating, isFalse,
		"The IdentityService or ClusterIdentityService that spec.serviceRef names does not exist. Create it, or correct " +
			"kind and name in spec.serviceRef."},
	v1alpha1.ReasonIdentityServiceNotAllowed: {isFalse, stalled, isFalse, v1alpha1.ReasonCreating, isFalse,
		"The ClusterIdentityService does not select this namespace, or the operator may not read it. Label the namespace " +
			"as its namespaceSelector requires, or name another service in spec.serviceRef."},
	v1alpha1.ReasonIdentityServiceNotReady: {isFalse, reconciling, isFalse, v1alpha1.ReasonCreating, isFalse,
		"The service that spec.serviceRef names is not Ready or is being deleted. See its Ready condition; the Mandate " +
			"continues when it is Ready."},
	v1alpha1.ReasonCreationSuspended: {isFalse, reconciling, isFalse, v1alpha1.ReasonCreating, isUnknown,
		"spec.creation.suspend of the service is true, so nothing is created. The Mandate continues when it is false."},
	v1alpha1.ReasonCreationBudgetReached: {isFalse, reconciling, isFalse, v1alpha1.ReasonCreating, isTrue,
		"spec.creation of the service allows no more e-mails now. The Mandate waits; status.creation of the service says " +
			"until when. Raise the limits only if so many are meant."},
	v1alpha1.ReasonSecretNotFound: {isFalse, reconciling, isFalse, v1alpha1.ReasonCreating, isFalse,
		"A Secret that a detailsSecretRef names does not exist in this namespace. Create it, or correct the name; " +
			"status.problems has the name."},
	v1alpha1.ReasonSecretNotForThis: {isFalse, stalled, isFalse, v1alpha1.ReasonCreating, isFalse,
		"A Secret that a detailsSecretRef names is not for an individual. If it is meant to be sent, run: kubectl label " +
			"secret NAME idv.mandate.io/use=individual; status.problems has the name."},
	v1alpha1.ReasonSecretInvalid: {isFalse, stalled, isFalse, v1alpha1.ReasonCreating, isFalse,
		"A Secret that a detailsSecretRef names lacks an email address or has a wrong key or value. Correct it; " +
			"status.problems names the Secret and the key."},
	v1alpha1.ReasonMandateTypeNotFound: {isFalse, stalled, isFalse, v1alpha1.ReasonCreating, isFalse,
		"spec.mandateType selects no mandate type of the service, or several. Choose one from status.mandateTypes of the " +
			"IdentityService."},
	v1alpha1.ReasonRefused: {isFalse, stalled, isFalse, v1alpha1.ReasonRefused, isTrue,
		"The service refused to create the application. Correct the spec or its Secrets; status.problems names the " +
			"fields. Until then nothing is sent."},
	v1alpha1.ReasonForbidden: {isFalse, stalled, isFalse, v1alpha1.ReasonForbidden, isTrue,
		"The service does not let this user create the application (HTTP 403). Ask for the permission. The operator tries " +
			"again, at least every hour, and on request."},
	v1alpha1.ReasonRefusedForNow: {isFalse, stalled, isFalse, v1alpha1.ReasonRefusedForNow, isTrue,
		"The service refused to create the application, for a reason that may pass, such as missing credit. The operator " +
			"tries again, at least every hour, and on request."},
	v1alpha1.ReasonCreateAccepted: {isFalse, reconciling, isUnknown, v1alpha1.ReasonOutcomeUnknown, isTrue,
		"The service accepted the create and shows no application yet. The operator looks for it for a day, and sends " +
			"nothing again."},
	v1alpha1.ReasonApplicationIDTooLarge: {isFalse, stalled, isUnknown, v1alpha1.ReasonOutcomeUnknown, isTrue,
		"The service gave the application an id above 9007199254740991, which the operator cannot handle. Nothing more is " +
			"sent. Look for status.reference at the service, and decide there."},
	v1alpha1.ReasonReadForbidden: {isUnknown, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The service does not let this user read the application (HTTP 403). Ask for the permission, or correct the " +
			"credentials. The operator tries again at every poll."},
	v1alpha1.ReasonApplicationMissing: {isUnknown, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"For a day, something that may be a proxy says that the application does not exist, and no other application " +
			"can be read. Check baseURL of the IdentityService."},
	v1alpha1.ReasonAccountChanged: {isUnknown, reconciling, isFalse, v1alpha1.ReasonCreating, isTrue,
		accountMessage},
	reasonOtherAccount: {isUnknown, stalled, isFalse, v1alpha1.ReasonCreating, isTrue,
		accountMessage},
	v1alpha1.ReasonApplicationExists: {isFalse, stalled, isUnknown, v1alpha1.ReasonApplicationExists, isTrue,
		"This Mandate has, or may have, an application with status.reference. Nothing is sent. Set spec.reference to that " +
			"value. A Mandate with another name creates another application and e-mails again."},
	v1alpha1.ReasonReferenceConflict: {isFalse, stalled, isFalse, v1alpha1.ReasonReferenceConflict, isTrue,
		"The service says that the reference is taken. If its application is this Mandate's, set " +
			"spec.adopt.applicationID. Only if it is not, choose another spec.reference; that can e-mail the individuals " +
			"again."},
	v1alpha1.ReasonAdoptionRefused: {isFalse, stalled, isFalse, v1alpha1.ReasonAdoptionRefused, isTrue,
		"The application that spec.adopt names is missing, has another reference or belongs to another Mandate. Correct " +
			"spec.adopt or spec.reference. Without spec.adopt, the operator may create and e-mail again."},
	v1alpha1.ReasonReferenceNotAllowed: {isFalse, stalled, isFalse, v1alpha1.ReasonReferenceNotAllowed, isTrue,
		"The ClusterIdentityService allows only references that begin with its referencePrefix, this namespace and a dot. " +
			"Correct or remove spec.reference, or ask for referencePolicy Any."},
	v1alpha1.ReasonCreateDeadlinePassed: {isFalse, stalled, isFalse, v1alpha1.ReasonCreateDeadlinePassed, isTrue,
		"spec.createBefore passed before an application was created. If one exists, set spec.adopt.applicationID. Move " +
			"spec.createBefore only to create one now, which e-mails the individuals."},
	v1alpha1.ReasonErased: {isFalse, stalled, isFalse, v1alpha1.ReasonErased, isTrue,
		"Personal data of an individual was erased, so nothing is created. If the application exists, set " +
			"spec.adopt.applicationID. Another Mandate is another verification, which e-mails people."},
	v1alpha1.ReasonSettling: {isFalse, reconciling, isUnknown, v1alpha1.ReasonOutcomeUnknown, isTrue,
		"An attempt to create the application got no clear answer. Wait: after the settle delay, the operator sends the " +
			"same reference again and learns the outcome."},
	v1alpha1.ReasonRecordPending: {isFalse, reconciling, isUnknown, v1alpha1.ReasonOutcomeUnknown, isTrue,
		"The service answered, but the API server refuses to record the answer in the ApplicationRecord. Keep the operator " +
			"running: it tries again; status.problems says why."},
	v1alpha1.ReasonLedgerUnavailable: {isFalse, reconciling, isFalse, v1alpha1.ReasonCreating, isTrue,
		"Nothing is created, because the API server refuses to write the ApplicationRecord, or earlier answers of this " +
			"service. See status.problems here, or of Mandates with reason RecordPending."},
	v1alpha1.ReasonOutcomeUnknown: {isFalse, stalled, isUnknown, v1alpha1.ReasonOutcomeUnknown, isTrue,
		"The application may exist, but its id is lost. Look for status.reference at the service and set " +
			"spec.adopt.applicationID. Nothing more is sent, so nobody is e-mailed twice."},
	v1alpha1.ReasonRecordRestored: {isFalse, stalled, isUnknown, v1alpha1.ReasonOutcomeUnknown, isTrue,
		"The ApplicationRecord was restored and may be too old, so nothing is created. If the service has " +
			"status.reference, set spec.adopt.applicationID, else annotate the Mandate with " +
			v1alpha1.RecordCompleteAnnotation + "."},
	v1alpha1.ReasonRetrying: {isFalse, reconciling, isFalse, v1alpha1.ReasonCreating, isTrue,
		"The last attempt had no effect at the service. The operator tries again. If this lasts, see status.problems " +
			"and the IdentityService."},
	v1alpha1.ReasonReadFailed: {isUnknown, reconciling, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The operator cannot read the application or carry out the spec. It tries again; see status.problems and " +
			"the IdentityService."},
	v1alpha1.ReasonConfirming: {isUnknown, reconciling, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The service did not find the application. The operator looks again before it reports the application as gone."},
	v1alpha1.ReasonIdentityServiceMismatch: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The application is, or may be, at another service or account than spec.serviceRef leads to. Nothing is sent. " +
			"Correct spec.serviceRef, or baseURL or credentials of the IdentityService."},
	reasonVanished: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue, ""}, // that of the outcome
	v1alpha1.ReasonIndividualsUnmatched: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The service shows other individuals than spec.individuals; nothing is sent for them. Restore what " +
			"status.problems names, as it was sent, or ask the service's support."},
	v1alpha1.ReasonSpecDiffers: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The application was created from another spec; nothing is sent. Restore the spec and Secrets; status.problems " +
			"names the fields. A new verification needs another name and e-mails again."},
	v1alpha1.ReasonDecisionOutdated: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The checks are not as the author of spec.decision saw them; nothing is sent. Look at status.individuals, and copy " +
			"status.evidence into spec.decision.evidence."},
	v1alpha1.ReasonDecisionRefused: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The service refused spec.decision. Look at status.problems and the checks in status.individuals. The operator " +
			"sends the decision again on request, or with new evidence."},
	v1alpha1.ReasonDecisionForbidden: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The service does not let this user complete or reject the application (HTTP 403). Ask for the permission, and " +
			"then request a reconciliation."},
	v1alpha1.ReasonDecisionUnknown: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"spec.decision was sent, or may have been before a restore, and does not show. It is not sent again. Look at the " +
			"application at the service, and decide there."},
	v1alpha1.ReasonLogFull: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The ApplicationRecord holds 1,100 calls, the maximum, so nothing more is sent for this Mandate. Act on the " +
			"application at the service."},
	v1alpha1.ReasonStateUnknown: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The individuals are done, but the operator does not know status.state, so it does not send spec.decision. If the " +
			"state means in review, add it to spec.states.inReview of the service."},
	v1alpha1.ReasonReviewRefused: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The service refused one of spec.checkReviews, or does not show it; see status.problems. The operator sends what " +
			"was refused again on request, or with new evidence."},
	v1alpha1.ReasonReviewOutdated: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"A check is not as the author of one of spec.checkReviews saw it; see status.problems. Nothing is sent. Copy its " +
			"evidence from status.individuals, or remove the review."},
	v1alpha1.ReasonNotArchived: {isFalse, reconciling, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The application is not archived yet, or the service refused; see status.problems. The operator tries again after " +
			"five minutes at first, and on request."},
	v1alpha1.ReasonDeletionWaiting: {isFalse, reconciling, isTrue, v1alpha1.ReasonCreated, isUnknown,
		"Deletion waits for a service that cannot be used. Correct the IdentityService, or set deletionPolicy to Retain. " +
			"The operator gives up after a day by default."},
	v1alpha1.ReasonDeletionRefused: {isFalse, stalled, isTrue, v1alpha1.ReasonCreated, isTrue,
		"The operator cannot archive or delete the application; see status.problems. Set deletionPolicy to Retain to " +
			"release the Mandate. The operator gives up after a day by default."},
}

const accountMessage = "The credentials of the IdentityService may belong to another account than its applications, " +
	"so nothing is sent. See the condition AccountChanged of the IdentityService."

// messages of the other conditions.
var messages = map[string]string{
	v1alpha1.ReasonResolved:   "Everything that the spec names was found.",
	v1alpha1.ReasonCreated:    "The application exists and its id is known.",
	v1alpha1.ReasonCreating:   "No application has been created yet. The Ready condition says why.",
	v1alpha1.ReasonInProgress: "The verification has no outcome yet.",
	v1alpha1.ReasonAdopted: "The operator bound the application that spec.adopt names. spec.adopt has no effect any " +
		"more.",
	v1alpha1.ReasonNoDecision: "The spec has no decision.",
	v1alpha1.ReasonDecided:    "The decision was carried out.",
	v1alpha1.ReasonDecisionWaiting: "The decision waits until the application is in review, its rule holds, and all " +
		"reviews are carried out. If it was sent, it waits until the application shows it.",
	v1alpha1.ReasonDecidedOtherwise: "The application has another outcome than spec.decision asks for.",
	"Completed":                     "The application was completed.",
	"Rejected":                      "The application was rejected. A rejection is an outcome, not a failure.",
	"Expired": "The service deleted the application, as it does eight weeks after creation. For another verification, " +
		"create a Mandate of another name, which e-mails the individuals again.",
	"Deleted": "The service no longer has the application. Check the credentials of the IdentityService first. The " +
		"operator looks for it again, daily at least, until it would have expired.",
}

// subscriptionMessages are the events about subscriptions that a person may do something about.
var subscriptionMessages = map[v1alpha1.SubscriptionState]string{
	v1alpha1.SubscriptionRefused: "The service refused the webhook subscription of the application, so the operator " +
		"polls the application. Correct spec.notifications of the IdentityService; status.problems names the fields.",
	v1alpha1.SubscriptionOutcomeUnknown: "The answer to the webhook subscription was lost, so the subscription may " +
		"exist. It is not sent again. The operator polls the application and looks for the subscription daily.",
}
