package action

import "github.com/mandate-io/idv/api/v1alpha1"

// Reasons that end a pass and are not shown.
const (
	reasonDeleting   = "Deleting"
	reasonEnded      = "Ended"      // nothing is left to do, but to go when the time comes
	reasonAwaiting   = "Awaiting"   // another operator may be at it
	reasonStaleCache = "StaleCache" // the cache is, or a shutdown waits: look again
)

// progress is how far a reason brings an order.
type progress int

const (
	open progress = iota
	complete
	failed
)

// conditionSpec is how a reason shows in the conditions.
type conditionSpec struct {
	progress progress
	message  string
}

// conditionSpecs has an entry for every reason that is shown. The sentences are fixed: no text of the service and no value of the
// order goes into a condition.
var conditionSpecs = map[string]conditionSpec{
	v1alpha1.ReasonMandateNotFound: {open,
		"The Mandate that spec.mandateRef names does not exist in this namespace. It is waited for until ten minutes after this order was created."},
	v1alpha1.ReasonMandateNotReady: {open,
		"The Mandate has no application yet, or has not learnt its individuals from the service. Its condition Ready says why."},
	v1alpha1.ReasonMandateStalled: {open,
		"The Mandate has no application, and a person must act on it: its condition Stalled says how. The order waits; delete it to cancel it."},
	v1alpha1.ReasonSuspended: {open,
		"spec.suspend of the Mandate is true: the order waits until it is false."},
	v1alpha1.ReasonServiceNotFound: {open,
		"The IdentityService that the Mandate names does not exist in this namespace, or the ClusterIdentityService not at all. The order waits for it."},
	v1alpha1.ReasonServiceNotAllowed: {open,
		"The ClusterIdentityService that the Mandate names is not for this namespace: its namespaceSelector does not select it. The order waits; delete it to cancel it."},
	v1alpha1.ReasonServiceNotReady: {open,
		"The IdentityService or ClusterIdentityService that the Mandate names is not Ready. Its condition Ready says why."},
	v1alpha1.ReasonStarted: {open,
		"The service is being asked."},
	v1alpha1.ReasonRetrying: {open,
		"The last attempt changed nothing and e-mailed nobody: the service could not be asked, did not find the application, or turned the request away. It is tried again."},
	v1alpha1.ReasonReportNotReady: {open,
		"The service has no report on the individual yet. It is asked again when the Mandate's status changes."},
	v1alpha1.ReasonSecretRefused: {open,
		"The API server does not let the operator create the Secret that spec.reportSecretRef names; the operator's log tells more. It is tried again."},

	v1alpha1.ReasonCarriedOut: {complete,
		"The service did what the order asks for."},

	v1alpha1.ReasonOutcomeUnknown: {failed,
		"The order may have been carried out, or may not: the answer was lost, or the operator ended in the middle. It is not sent again, so that nobody is e-mailed twice. Ask the individual, and create another MandateAction if it is needed."},
	v1alpha1.ReasonRefused: {failed,
		"The service refused the order; the operator's log tells the status. Nothing was changed and nobody e-mailed."},
	v1alpha1.ReasonMandateGone: {failed,
		"The Mandate was deleted before the order was carried out, or did not appear within ten minutes. Nothing was sent."},
	v1alpha1.ReasonApplicationGone: {failed,
		"The service no longer has the application. Nothing was sent."},
	v1alpha1.ReasonIndividualNotFound: {failed,
		"The Mandate has no individual of the name in spec.individual, or the service no longer has that individual. Nothing was changed and nobody e-mailed."},
	v1alpha1.ReasonReferenceConflict: {failed,
		"The application that the service has under the Mandate's id has another reference: the IdentityService may have been pointed to another service. Nothing was sent."},
	v1alpha1.ReasonSecretExists: {failed,
		"The Secret that spec.reportSecretRef names exists and was not created by this order. It was left alone. Delete it, or name another one in a new MandateAction."},
	v1alpha1.ReasonReportTooLarge: {failed,
		"The report is larger than the 1 MiB that a Secret can hold. Download it from the service by other means."},
	v1alpha1.ReasonReportIsURL: {failed,
		"The service answers with a URL in place of the report. The operator follows none, and does not show it because it may open the report for everybody who has it. Download the report from the service by other means."},
}
