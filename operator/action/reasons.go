package action

import "github.com/mandate-io/idv/api/v1alpha1"

// Reasons that end a reconciliation and are not shown.
const (
	reasonDeleting   = "Deleting"
	reasonEnded      = "Ended"      // finished; deleted after ttlSecondsAfterFinished
	reasonAwaiting   = "Awaiting"   // a call that somebody else has begun may be under way
	reasonStaleCache = "StaleCache" // or a shutdown waits: reconcile again
)

// progress is how far a reason brings an action.
type progress int

const (
	progressing progress = iota
	complete
	failed
)

// conditionSpec is how a reason shows in the conditions.
type conditionSpec struct {
	progress progress
	message  string
}

// conditionSpecs has an entry for every reason that is shown. The sentences are fixed: no text of the service and no
// value of the action goes into a condition.
var conditionSpecs = map[string]conditionSpec{
	v1alpha1.ReasonMandateNotFound: {progressing,
		"The Mandate that spec.mandateRef names does not exist in this namespace. Create it within ten minutes of this " +
			"action, or correct the name in another action."},
	v1alpha1.ReasonMandateNotReady: {progressing,
		"The Mandate has no application yet, its individuals are not known yet, or a call of it has no result yet. Its " +
			"Ready condition says why; the action waits."},
	v1alpha1.ReasonMandateStalled: {progressing,
		"The Mandate has no application and a person must act on it; see its Stalled condition. Delete the action to " +
			"cancel it."},
	v1alpha1.ReasonIndividualsUnmatched: {progressing,
		"The individuals at the service do not match those of the Mandate, so nothing is sent for any of them. See the " +
			"Ready condition of the Mandate; the action waits."},
	v1alpha1.ReasonSuspended: {progressing,
		"spec.suspend of the Mandate is true. The action waits until it is false."},
	v1alpha1.ReasonIdentityServiceNotFound: {progressing,
		"The IdentityService or ClusterIdentityService that the Mandate names does not exist. Create it; the action waits."},
	v1alpha1.ReasonIdentityServiceNotAllowed: {progressing,
		"The ClusterIdentityService that the Mandate names does not select this namespace. Label the namespace, or delete " +
			"the action to cancel it."},
	v1alpha1.ReasonIdentityServiceNotReady: {progressing,
		"The IdentityService or ClusterIdentityService that the Mandate names is not Ready. Its Ready condition says why; " +
			"the action waits."},
	v1alpha1.ReasonCreationSuspended: {progressing,
		"spec.creation.suspend of the service is true, so nobody is e-mailed. The action waits until it is false."},
	v1alpha1.ReasonCreationBudgetReached: {progressing,
		"spec.creation of the service allows no more e-mails now. The action waits for its share; status.creation of the " +
			"service says until when."},
	v1alpha1.ReasonRecordNotFound: {progressing,
		"The ApplicationRecord of the Mandate is missing or has another application, so earlier actions are unknown. " +
			"Restore it from a backup; the action waits."},
	v1alpha1.ReasonRecordRestored: {progressing,
		"The ApplicationRecord was restored and may lack this action, so nothing is sent. If it was not carried out, " +
			"annotate the Mandate with " + v1alpha1.RecordCompleteAnnotation + "; else delete it."},
	v1alpha1.ReasonAccountChanged: {progressing,
		"The credentials of the IdentityService may belong to another account than the application. See its condition " +
			"AccountChanged; the action waits."},
	v1alpha1.ReasonRetrying: {progressing,
		"The last attempt changed nothing and e-mailed nobody. The operator tries again. If this lasts, see " +
			"status.problems and the IdentityService."},
	v1alpha1.ReasonRecordPending: {progressing,
		"The request is over, but the API server refuses to record its result in the ApplicationRecord. Keep the operator " +
			"running: it tries again; status.problems says why."},
	v1alpha1.ReasonReportNotReady: {progressing,
		"The service has no report on the individual yet. The operator asks again when the Mandate's status changes."},
	v1alpha1.ReasonSecretRefused: {progressing,
		"The API server refused to create the Secret that spec.reportSecretRef names. status.problems has the cause; " +
			"the operator tries again."},

	v1alpha1.ReasonCarriedOut: {complete,
		"The service did what the action asks for."},
	v1alpha1.ReasonRequestAccepted: {complete,
		"The service accepted the request, and does what the action asks for later."},
	v1alpha1.ReasonAlreadyDone: {complete,
		"An action of this name was started before, and is not repeated. Nothing was sent now. To do it again, use another " +
			"name."},

	v1alpha1.ReasonOutcomeUnknown: {failed,
		"The action may have been carried out; it is not sent again, so nobody is e-mailed twice. Ask the individual, " +
			"then create another MandateAction if needed."},
	v1alpha1.ReasonRefused: {failed,
		"The service refused the action; nothing was changed and nobody was e-mailed. status.problems has the HTTP " +
			"status."},
	v1alpha1.ReasonForbidden: {failed,
		"The service does not let this user do that (HTTP 403); nobody was e-mailed. Ask for the permission, then create " +
			"another action."},
	v1alpha1.ReasonNameUsed: {failed,
		"An action of this name was started before, with another type or individual. Nothing was sent now. Use another " +
			"name."},
	v1alpha1.ReasonTooManyActions: {failed,
		"The ApplicationRecord of the Mandate holds 1,100 calls, the maximum. Nothing was sent. Carry out the action at " +
			"the service."},
	v1alpha1.ReasonMandateGone: {failed,
		"The Mandate was deleted before the action was carried out, or did not appear within ten minutes. Nothing was " +
			"sent."},
	v1alpha1.ReasonApplicationGone: {failed,
		"The service no longer has the application. Nothing was sent."},
	v1alpha1.ReasonIndividualNotFound: {failed,
		"The Mandate has no individual of that name, or the service no longer has it. Nobody was e-mailed. Check " +
			"spec.individual in a new action."},
	v1alpha1.ReasonReferenceConflict: {failed,
		"The application under the Mandate's id has another reference. Nothing was sent. Check spec.baseURL and the " +
			"credentials of the IdentityService, then create another action."},
	v1alpha1.ReasonReportForbidden: {failed,
		"The operator may not create Secrets in this namespace, so it downloaded nothing. An administrator grants it with " +
			"config/reports. Then delete this action and create it again."},
	v1alpha1.ReasonSecretExists: {failed,
		"The Secret that spec.reportSecretRef names exists and is not this action's. Delete it or choose another name, " +
			"then create another action."},
	v1alpha1.ReasonReportTooLarge: {failed,
		"The report is larger than the 1 MiB that a Secret can hold. Download it from the service by other means."},
	v1alpha1.ReasonReportIsURL: {failed,
		"The service answered with a URL instead of the report, and the operator does not follow URLs. Download the " +
			"report from the service by other means."},
}
