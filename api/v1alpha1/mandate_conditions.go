package v1alpha1

// Condition types of a Mandate, beside those in conditions.go.
const (
	// ConditionResolvedRefs: the IdentityService and the Secrets that the spec names exist and can be used.
	ConditionResolvedRefs = "ResolvedRefs"
	// ConditionCreated: the application exists and its id is known. Unknown with reason OutcomeUnknown: it may exist.
	// Only together with Stalled must a person name it with spec.adopt.
	ConditionCreated = "Created"
	// ConditionDecided: spec.decision was carried out. Once True, it stays so, whatever spec.decision says later.
	ConditionDecided = "Decided"
	// ConditionCompleted: the verification has an outcome. True once final; the reason is the outcome.
	ConditionCompleted = "Completed"
)

// Reasons of the conditions of a Mandate, beside those in conditions.go. The reasons of Completed=True are the
// Outcomes.
const (
	// ReasonAccepted: the application exists, and the spec is carried out. Ready is True.
	ReasonAccepted = "Accepted"
	// ReasonResolved: everything that the spec names was found. ResolvedRefs is True.
	ReasonResolved = "Resolved"
	// ReasonIdentityServiceNotFound: the IdentityService or ClusterIdentityService that spec.serviceRef names does not
	// exist.
	ReasonIdentityServiceNotFound = "IdentityServiceNotFound"
	// ReasonIdentityServiceNotReady: the IdentityService is not Ready.
	ReasonIdentityServiceNotReady = "IdentityServiceNotReady"
	// ReasonIdentityServiceNotAllowed: the ClusterIdentityService that spec.serviceRef names is not for this namespace.
	ReasonIdentityServiceNotAllowed = "IdentityServiceNotAllowed"
	// ReasonMandateTypeNotFound: the service has no mandate type, or more than one, that spec.mandateType selects.
	ReasonMandateTypeNotFound = "MandateTypeNotFound"
	// ReasonCreated: the application was created by this Mandate. Created is True.
	ReasonCreated = "Created"
	// ReasonAdopted: the application existed and was bound with spec.adopt. Created is True.
	ReasonAdopted = "Adopted"
	// ReasonCreating: the application is being created.
	ReasonCreating = "Creating"
	// ReasonSettling: a request to create the application has an unknown outcome. The operator waits for the settle delay
	// before it sends the same reference again. Ready is False, Reconciling is True, and Created is Unknown with reason
	// OutcomeUnknown.
	ReasonSettling = "Settling"
	// ReasonRecordPending: the service has answered the create, and the API server refuses to record the answer in the
	// ApplicationRecord. The operator tries again while it runs. Ready is False, Reconciling is True, and Created is
	// Unknown with reason OutcomeUnknown. A MandateAction has it too, while the result of its request is not recorded.
	ReasonRecordPending = "RecordPending"
	// ReasonLedgerUnavailable: nothing is created, because the API server refuses what comes before the create: to read or
	// to write the ApplicationRecord, or to set the finalizer. Or it refuses to record the answers to ten creates of the
	// same IdentityService. Ready is False, and Reconciling is True.
	ReasonLedgerUnavailable = "LedgerUnavailable"
	// ReasonApplicationExists: a Mandate of this name has, or may have, an application under another reference than the
	// manifest says now.
	ReasonApplicationExists = "ApplicationExists"
	// ReasonApplicationIDTooLarge: the service answered the create with an id above MaxID, which no status can hold.
	ReasonApplicationIDTooLarge = "ApplicationIDTooLarge"
	// ReasonReferenceConflict: the reference belongs to another Mandate, or to an application that is not known here.
	// After a restore that is the Mandate's own application, which spec.adopt binds.
	ReasonReferenceConflict = "ReferenceConflict"
	// ReasonReferenceNotAllowed: the referencePolicy of the ClusterIdentityService does not allow the reference in this
	// namespace. Nothing is created or adopted.
	ReasonReferenceNotAllowed = "ReferenceNotAllowed"
	// ReasonCreateDeadlinePassed: spec.createBefore passed before the application was created.
	ReasonCreateDeadlinePassed = "CreateDeadlinePassed"
	// ReasonErased: personal data of an individual was removed, so nothing is created. Ready is False, and Stalled is
	// True.
	ReasonErased = "Erased"
	// ProblemEvidenceUnstable is the reason of a problem, and of no condition. The results of a check changed more than
	// three times within an hour, and its state did not, so decisions on evidence are outdated before anybody can make
	// them.
	ProblemEvidenceUnstable = "EvidenceUnstable"
	// ProblemErasedDataInGit is the reason of a problem, and of no condition. Personal data is to be erased that another
	// field manager applies, so the operator leaves it.
	ProblemErasedDataInGit = "ErasedDataInGit"
	// ReasonAdoptionRefused: the application of spec.adopt does not exist, has another reference, or is not this
	// Mandate's.
	ReasonAdoptionRefused = "AdoptionRefused"
	// ReasonReadFailed: the application is known, but reading it or carrying out the spec fails. The operator tries again.
	ReasonReadFailed = "ReadFailed"
	// ReasonConfirming: the service did not find the application. The operator looks again before it believes that.
	ReasonConfirming = "Confirming"
	// ReasonIdentityServiceMismatch: spec.serviceRef leads to another service or account than the one that has, or may
	// have, the application.
	ReasonIdentityServiceMismatch = "IdentityServiceMismatch"
	// ReasonIndividualsUnmatched: the individuals that the service shows cannot be told apart, or are not those of the
	// spec. Nothing is sent for any of them.
	ReasonIndividualsUnmatched = "IndividualsUnmatched"
	// ReasonSpecDiffers: the Mandate was applied again, or edited during the create, and its spec is not what its
	// application was created from or adopted for, or that cannot be told. Nothing is bound or sent.
	ReasonSpecDiffers = "SpecDiffers"
	// ReasonNotArchived: the service refused to archive the application, or has not done so yet.
	ReasonNotArchived = "NotArchived"
	// ReasonNoDecision: the spec has no decision. Decided is False.
	ReasonNoDecision = "NoDecision"
	// ReasonDecided: spec.decision was carried out. Decided is True.
	ReasonDecided = "Decided"
	// ReasonDecisionWaiting: spec.decision waits for the application to be in review, for its rule, for reviews, or for
	// what becomes of a reset; or one was sent within a day, and the application does not show it yet.
	// Decided is False.
	ReasonDecisionWaiting = "DecisionWaiting"
	// ReasonDecisionOutdated: spec.decision names other evidence than the application shows. Nothing is sent. Decided and
	// Ready are False, and Stalled is True.
	ReasonDecisionOutdated = "DecisionOutdated"
	// ReasonDecisionRefused: the service refused spec.decision. Decided and Ready are False, and Stalled is True.
	ReasonDecisionRefused = "DecisionRefused"
	// ReasonDecisionForbidden: the service does not let this user decide (HTTP 403). Decided and Ready are False, and
	// Stalled is True.
	ReasonDecisionForbidden = "DecisionForbidden"
	// ReasonDecisionUnknown: no answer says what became of spec.decision, or the service has accepted it for a day, and
	// the application does not show it. Or it is by a rule, and the record was restored. Nothing more is sent about the
	// same evidence, or by a rule. Decided and Ready are False, and Stalled is True.
	ReasonDecisionUnknown = "DecisionUnknown"
	// ReasonLogFull: the ApplicationRecord cannot hold another call, so nothing more is sent. Ready is False, and Stalled
	// is True.
	ReasonLogFull = "LogFull"
	// ReasonStateUnknown: the individuals are done, spec.decision waits, and the state of the application is none that the
	// operator knows. Decided and Ready are False, and Stalled is True. ConditionStatesUnderstood has it, too.
	ReasonStateUnknown = "StateUnknown"
	// ReasonDecidedOtherwise: the application has another outcome than spec.decision asks for. Decided is False.
	ReasonDecidedOtherwise = "DecidedOtherwise"
	// ReasonReviewRefused: the service refused one of spec.checkReviews. Ready is False, and Stalled is True.
	ReasonReviewRefused = "ReviewRefused"
	// ReasonReviewOutdated: one of spec.checkReviews names other evidence than its check has, as after a reset. Ready is
	// False, and Stalled is True.
	ReasonReviewOutdated = "ReviewOutdated"
	// ReasonDeletionWaiting: the Mandate is being deleted, and the service cannot be asked to archive or delete.
	ReasonDeletionWaiting = "DeletionWaiting"
	// ReasonDeletionRefused: the Mandate is being deleted, and the service refuses to archive or delete.
	ReasonDeletionRefused = "DeletionRefused"
	// ReasonInProgress: the verification has no outcome yet. Completed is False.
	ReasonInProgress = "InProgress"
	// ReasonSuspended: spec.suspend is true.
	ReasonSuspended = "Suspended"
)
