package v1alpha1

// Condition types of a Mandate, beside those in conditions.go.
const (
	// ConditionResolvedRefs: the IdentityService and the Secrets that the spec names exist and can be used.
	ConditionResolvedRefs = "ResolvedRefs"
	// ConditionCreated: the application exists and its id is known. Unknown with reason OutcomeUnknown: it may exist.
	// Only together with Stalled must a person name it with spec.adopt.
	ConditionCreated = "Created"
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
	// ReasonServiceNotFound: the IdentityService or ClusterIdentityService that spec.serviceRef names does not exist.
	ReasonServiceNotFound = "ServiceNotFound"
	// ReasonServiceNotReady: the IdentityService is not Ready.
	ReasonServiceNotReady = "ServiceNotReady"
	// ReasonServiceNotAllowed: the ClusterIdentityService that spec.serviceRef names is not for this namespace.
	ReasonServiceNotAllowed = "ServiceNotAllowed"
	// ReasonMandateTypeNotFound: the service has no mandate type, or more than one, that spec.mandateType selects.
	ReasonMandateTypeNotFound = "MandateTypeNotFound"
	// ReasonCreated: the application was created by this Mandate. Created is True.
	ReasonCreated = "Created"
	// ReasonAdopted: the application existed and was bound with spec.adopt. Created is True.
	ReasonAdopted = "Adopted"
	// ReasonCreating: the application is being created.
	ReasonCreating = "Creating"
	// ReasonSettling: an attempt to create the application has an unknown outcome. The operator waits for the settle delay
	// before it sends the same reference again. Ready is False, Reconciling is True, and Created is Unknown with reason
	// OutcomeUnknown.
	ReasonSettling = "Settling"
	// ReasonRecordPending: the service has answered the create, and the API server refuses to record the answer in the
	// ApplicationRecord. The operator tries again while it runs. Ready is False, Reconciling is True, and Created is
	// Unknown with reason OutcomeUnknown.
	ReasonRecordPending = "RecordPending"
	// ReasonLedgerUnavailable: nothing is created, because the API server refuses to record the answers to ten creates of
	// the same IdentityService. Ready is False, and Reconciling is True.
	ReasonLedgerUnavailable = "LedgerUnavailable"
	// ReasonApplicationExists: a Mandate of this name has, or may have, an application under another reference than the
	// manifest says now.
	ReasonApplicationExists = "ApplicationExists"
	// ReasonReferenceConflict: the reference belongs to another Mandate, or to an application that is not known here.
	// After a restore that is the Mandate's own application, which spec.adopt binds.
	ReasonReferenceConflict = "ReferenceConflict"
	// ReasonReferenceNotAllowed: the referencePolicy of the ClusterIdentityService does not allow the reference in this
	// namespace. Nothing is created or adopted.
	ReasonReferenceNotAllowed = "ReferenceNotAllowed"
	// ReasonCreateDeadlinePassed: spec.createBefore passed before the application was created.
	ReasonCreateDeadlinePassed = "CreateDeadlinePassed"
	// ReasonAdoptionRefused: the application of spec.adopt does not exist, has another reference, or is not this
	// Mandate's.
	ReasonAdoptionRefused = "AdoptionRefused"
	// ReasonReadFailed: the application is known, but reading it or carrying out the spec fails. The operator tries again.
	ReasonReadFailed = "ReadFailed"
	// ReasonConfirming: the service did not find the application. The operator looks again before it believes that.
	ReasonConfirming = "Confirming"
	// ReasonServiceMismatch: spec.serviceRef leads to another service or account than the one that has, or may have, the
	// application.
	ReasonServiceMismatch = "ServiceMismatch"
	// ReasonIndividualsUnmatched: the individuals that the service shows cannot be told apart, or are not those of the
	// spec. Nothing is sent for any of them.
	ReasonIndividualsUnmatched = "IndividualsUnmatched"
	// ReasonSpecDiffers: the Mandate was applied again, and its spec is not what its application was created from. The
	// application is not bound, and nothing is sent.
	ReasonSpecDiffers = "SpecDiffers"
	// ReasonNotArchived: the service refused to archive the application, or has not done so yet.
	ReasonNotArchived = "NotArchived"
	// ReasonDecisionRefused: the service refused spec.decision. Completed is False.
	ReasonDecisionRefused = "DecisionRefused"
	// ReasonReviewRefused: the service refused one of spec.checkReviews, or it selects several checks. Completed is False.
	ReasonReviewRefused = "ReviewRefused"
	// ReasonReviewOutdated: the check that one of spec.checkReviews is for is gone, as after a reset. Completed is False.
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

// DecisionBlockedReasons are the reasons of the condition Completed for which a person must act, although the Mandate
// is Ready: the service refused spec.decision or one of spec.checkReviews, or a review is outdated.
func DecisionBlockedReasons() []string {
	return []string{ReasonDecisionRefused, ReasonReviewRefused, ReasonReviewOutdated}
}
