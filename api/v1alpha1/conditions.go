package v1alpha1

// Condition types that more than one kind has.
const (
	// ConditionReady is the summary. Of an IdentityService: the connection works. Of a Mandate: the application exists,
	// its id is known, and the spec is carried out. Waiting for people does not make it False.
	ConditionReady = "Ready"
	// ConditionReconciling is present, and True, only while the operator itself has work to do (kstatus). Never together
	// with Stalled.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is present, and True, only while a person must act (kstatus).
	ConditionStalled = "Stalled"
)

// Reasons that more than one kind has.
const (
	// ReasonSecretNotFound: a Secret that the spec names does not exist.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonSecretNotForThis: neither the label SecretUseLabel of a Secret nor its type says that it is for what the spec
	// names it for.
	ReasonSecretNotForThis = "SecretNotForThis"
	// ReasonSecretInvalid: a Secret lacks a required key, or holds an invalid key or value.
	ReasonSecretInvalid = "SecretInvalid"
	// ReasonOutcomeUnknown: nobody can know whether the service carried out a request that must not be repeated.
	ReasonOutcomeUnknown = "OutcomeUnknown"
	// ReasonRefused: the service refused the request.
	ReasonRefused = "Refused"
	// ReasonForbidden: the service does not let this user do what was asked. It says nothing about other requests.
	ReasonForbidden = "Forbidden"
	// ReasonRefusedForNow: the service refused the application for a reason that may pass, such as missing credit.
	ReasonRefusedForNow = "RefusedForNow"
	// ReasonCreateAccepted: the service has accepted the create, and does it later.
	ReasonCreateAccepted = "CreateAccepted"
	// ReasonReadForbidden: the service does not let this user read the application.
	ReasonReadForbidden = "ReadForbidden"
	// ReasonAccountChanged: the credentials of the service may belong to another account than the application, so nothing
	// is sent. It is also the reason of ConditionAccountChanged.
	ReasonAccountChanged = "AccountChanged"
	// ReasonApplicationMissing: somebody who may not be the service says that the application does not exist.
	ReasonApplicationMissing = "ApplicationMissing"
	// ReasonRecordRestored: the ApplicationRecord was restored from a backup, and may lack what was sent since. Nothing is
	// created, and no action that e-mails is carried out, until a person sets RecordCompleteAnnotation.
	ReasonRecordRestored = "RecordRestored"
	// ReasonCreationSuspended: spec.creation.suspend of the service is true, so nothing is sent that e-mails people. It is
	// also the reason of ConditionCreationSuspended.
	ReasonCreationSuspended = "CreationSuspended"
	// ReasonCreationBudgetReached: spec.creation of the service allows no more e-mails now. It is also the reason of
	// ConditionCreationBudgetReached.
	ReasonCreationBudgetReached = "CreationBudgetReached"
	// ReasonRetrying: the last attempt had no effect at the service. The operator tries again.
	ReasonRetrying = "Retrying"
)
