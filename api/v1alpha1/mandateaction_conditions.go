package v1alpha1

// Condition types of a MandateAction, beside those in conditions.go. In the end exactly one of them is present, and
// True.
const (
	// ConditionComplete: the service did what the action asks for.
	ConditionComplete = "Complete"
	// ConditionFailed: the action was not carried out or, with reason OutcomeUnknown, may have been. Stalled is True with
	// it, for the same reason.
	ConditionFailed = "Failed"
)

// Reasons of Complete.
const (
	// ReasonRequestAccepted: the service has accepted the request, and does what the action asks for later.
	ReasonRequestAccepted = "Accepted"
	// ReasonCarriedOut: the service did what the action asks for.
	ReasonCarriedOut = "CarriedOut"
	// ReasonAlreadyDone: a MandateAction of this name, type and individual was carried out before, or its result is so old
	// that it is not kept. Nothing was sent.
	ReasonAlreadyDone = "AlreadyDone"
)

// Reasons for which a MandateAction waits, beside ReasonSuspended, ReasonIdentityServiceNotFound and
// ReasonIdentityServiceNotReady: Reconciling is True.
const (
	// ReasonMandateNotFound: the Mandate does not exist. The action waits for it for ten minutes.
	ReasonMandateNotFound = "MandateNotFound"
	// ReasonMandateNotReady: the Mandate has no application yet, its individuals are not known yet, or what became of
	// another call of the Mandate is not known yet.
	ReasonMandateNotReady = "MandateNotReady"
	// ReasonMandateStalled: the Mandate has no application, and a person must act on it.
	ReasonMandateStalled = "MandateStalled"
	// ReasonRecordNotFound: the Mandate has an application and no ApplicationRecord of it.
	ReasonRecordNotFound = "RecordNotFound"
	// ReasonReportNotReady: the service has no report yet. The operator asks again when the Mandate's status changes.
	ReasonReportNotReady = "ReportNotReady"
	// ReasonSecretRefused: the API server refuses the Secret for the report, for a reason other than RBAC.
	ReasonSecretRefused = "SecretRefused"
)

// Reasons of Failed, beside ReasonOutcomeUnknown, ReasonRefused, ReasonForbidden and ReasonReferenceConflict.
const (
	// ReasonNameUsed: a MandateAction of this name did something else before.
	ReasonNameUsed = "NameUsed"
	// ReasonTooManyActions: the ApplicationRecord of the Mandate cannot remember another action.
	ReasonTooManyActions = "TooManyActions"
	// ReasonMandateGone: the Mandate was deleted before the action started, or never appeared.
	ReasonMandateGone = "MandateGone"
	// ReasonApplicationGone: the service no longer has the application.
	ReasonApplicationGone = "ApplicationGone"
	// ReasonIndividualNotFound: the Mandate, or the service, has no such individual.
	ReasonIndividualNotFound = "IndividualNotFound"
	// ReasonReportForbidden: RBAC does not let the operator create Secrets in the namespace. Nothing was downloaded.
	ReasonReportForbidden = "ReportForbidden"
	// ReasonSecretExists: the Secret for the report exists and is not this action's.
	ReasonSecretExists = "SecretExists"
	// ReasonReportTooLarge: the report does not fit into a Secret.
	ReasonReportTooLarge = "ReportTooLarge"
	// ReasonReportIsURL: the service answers with a URL instead of the report.
	ReasonReportIsURL = "ReportIsURL"
)
