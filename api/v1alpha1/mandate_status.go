package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MandateStatus describes the application at the service. It holds no names,
// addresses or dates of birth.
//
// Strings that come from the service have no enum and a generous length, and lists from the service are atomic. So an
// unknown state or a repeated value cannot make the status unwritable.
type MandateStatus struct {
	// observedGeneration is the generation of the spec that the status describes. -1 means that the operator has not seen
	// the object yet.
	// +optional
	// +kubebuilder:default=-1
	// +kubebuilder:validation:Maximum=9007199254740991
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready (the application exists, and the spec is carried out except for what waits for people),
	// ResolvedRefs (the operator found everything that the spec names), Created (the application exists; Unknown with
	// reason OutcomeUnknown if the answer to the create was lost), Decided (spec.decision was carried out) and Completed
	// (there is an outcome, which is the reason). Reconciling (the operator has work to do) and Stalled (a person must
	// act) are present only while they are true.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// applicationID is the id of the application at the service. Once set, it never changes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	ApplicationID *int64 `json:"applicationID,omitempty"`

	// adoptableApplicationID is the id of an application that was created or adopted for another Mandate of this name,
	// and whose spec differs from this one, or cannot be compared with it. The operator does not bind it. If it is this
	// Mandate's in spite of that, set spec.adopt.applicationID to this id. If it has this id already, that may be left
	// over: remove it, and set it again once this field shows the id.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	AdoptableApplicationID *int64 `json:"adoptableApplicationID,omitempty"`

	// reference that the application has, or will have, at the service. If the condition Created is Unknown, search for
	// this reference at the service.
	// +optional
	// +kubebuilder:validation:MaxLength=150
	Reference string `json:"reference,omitempty"`

	// state of the application in the service's own words, such as in review.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	State string `json:"state,omitempty"`

	// outcome of the verification: Completed, Rejected, Expired (the service deleted the application after eight weeks)
	// or Deleted (the service no longer has the application, although it is younger). The operator removes Deleted if
	// it finds the application again. The other outcomes never change. After an outcome, the operator creates no
	// application.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Outcome Outcome `json:"outcome,omitempty"`

	// archived is true once the application is archived at the service.
	// +optional
	Archived bool `json:"archived,omitempty"`

	// progress is the number of passed checks, a slash, and the number of checks of all individuals, such as 3/5.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Progress string `json:"progress,omitempty"`

	// evidence is a digest of the individuals, their checks with states and results, and resets. It ends with the number
	// of its changes. To decide, copy it into spec.decision.evidence. It stays as it was while the individuals are not
	// matched. It is of this object: a Mandate that is applied again shows other evidence.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Evidence string `json:"evidence,omitempty"`

	// problems are what is wrong: individuals, Secrets, keys, fields, checks and reviews, and no values. They are of the
	// reason of Ready, or say what a decision or the webhook subscription waits for. What is solved goes with the next
	// change of the status.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Problems []Problem `json:"problems,omitempty"`

	// mandateType of the application.
	// +optional
	MandateType *MandateType `json:"mandateType,omitempty"`

	// availableActions are the actions that the service allows on the application now.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	AvailableActions []AvailableAction `json:"availableActions,omitempty"`

	// individuals and their checks, in the order of spec.individuals. An individual that the operator cannot match with
	// one at the service has only its name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Individuals []IndividualStatus `json:"individuals,omitempty"`

	// reviews are those of spec.checkReviews that were carried out. The operator does not carry them out again, even if
	// the individual is reset. New evidence in spec.checkReviews is a new review.
	// +optional
	// +listType=map
	// +listMapKey=individual
	// +listMapKey=check
	// +kubebuilder:validation:MaxItems=200
	Reviews []ReviewStatus `json:"reviews,omitempty"`

	// truncated is true if the service returned more than the status shows. individuals[].truncated says for which
	// individuals. The status shows the first 256 characters of a text, the first entries of a list, and ids up to
	// 9007199254740991. It replaces characters that are not printable. The operator acts on the full answer of the
	// service.
	// +optional
	Truncated bool `json:"truncated,omitempty"`

	// digest of all states and checks that the service returned. It is present only while truncated is true. With it,
	// the operator notices changes that the status does not show.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Digest string `json:"digest,omitempty"`

	// createdTime is when the application was created.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	CreatedTime *metav1.Time `json:"createdTime,omitempty"`

	// expiryTime is when the service deletes the application with its data: 56 days after createdTime.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	ExpiryTime *metav1.Time `json:"expiryTime,omitempty"`

	// lastReadTime is a time at which the operator read the application. The operator updates it together with other
	// changes, and when it could not read the application for a long time. While Ready is True, the last read can be
	// later.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	LastReadTime *metav1.Time `json:"lastReadTime,omitempty"`

	// subscription is the result of the webhook subscription of the application, if the service has
	// spec.notifications.subscribe: Application. Subscribed: the service sends notifications. Refused: the service
	// refused the subscription. OutcomeUnknown: the subscription may exist, and the operator does not send it again.
	// NotCreated: somebody else created the application, and may subscribe it. The operator reads the application in
	// any case, but less often if it is Subscribed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Subscription SubscriptionState `json:"subscription,omitempty"`

	// lastHandledReconcileAt is the last value of the annotation idv.mandate.io/reconcile-requested-at that the
	// operator has handled, cut to 256 characters. Do not put personal data into the annotation.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
}

// Outcome is how a verification ended.
type Outcome string

const (
	// OutcomeCompleted means that the application was completed.
	OutcomeCompleted Outcome = "Completed"
	// OutcomeRejected means that the application was rejected.
	OutcomeRejected Outcome = "Rejected"
	// OutcomeExpired means that the service no longer has the application, at an age at which it deletes applications.
	OutcomeExpired Outcome = "Expired"
	// OutcomeDeleted means that the service no longer has the application, although it was too young to expire.
	OutcomeDeleted Outcome = "Deleted"
)

// AvailableAction is an action that the service allows on an application.
type AvailableAction struct {
	// id of the action.
	// +optional
	// +kubebuilder:validation:Maximum=9007199254740991
	ID int64 `json:"id,omitempty"`
	// name of the action.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
	// title of the action, written for people.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Title string `json:"title,omitempty"`
}

// IndividualStatus describes the verification of one individual. Values that the service did not return are absent.
type IndividualStatus struct {
	// name of the individual in spec.individuals.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// id of the individual at the service.
	// +optional
	// +kubebuilder:validation:Maximum=9007199254740991
	ID int64 `json:"id,omitempty"`
	// state of the individual.
	// +optional
	State *ServiceState `json:"state,omitempty"`
	// termsAccepted is true if the individual accepted the service's terms.
	// +optional
	TermsAccepted *bool `json:"termsAccepted,omitempty"`
	// checksInReview is the number of checks that wait for a review.
	// +optional
	// +kubebuilder:validation:Maximum=9007199254740991
	ChecksInReview *int64 `json:"checksInReview,omitempty"`
	// checksPending is the number of checks that wait for the individual.
	// +optional
	// +kubebuilder:validation:Maximum=9007199254740991
	ChecksPending *int64 `json:"checksPending,omitempty"`
	// checksPassed is the number of checks that passed.
	// +optional
	// +kubebuilder:validation:Maximum=9007199254740991
	ChecksPassed *int64 `json:"checksPassed,omitempty"`
	// completedActions are the names of the actions that the individual completed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=256
	CompletedActions []string `json:"completedActions,omitempty"`
	// checks of the individual.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Checks []CheckStatus `json:"checks,omitempty"`
	// truncated is true if the status does not show all checks or completedActions, or cuts their texts. To review a
	// check whose name is not shown, use its id.
	// +optional
	Truncated bool `json:"truncated,omitempty"`
}

// CheckStatus describes one check of an individual.
type CheckStatus struct {
	// id of the check.
	// +optional
	// +kubebuilder:validation:Maximum=9007199254740991
	ID int64 `json:"id,omitempty"`
	// name of the check.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
	// title of the check, written for people.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Title string `json:"title,omitempty"`
	// state of the check.
	// +optional
	State *ServiceState `json:"state,omitempty"`
	// evidence is a digest of the check, its state and its results. It ends with the number of changes of the evidence of
	// the Mandate when it became so. To review the check, copy it into spec.checkReviews[].evidence.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Evidence string `json:"evidence,omitempty"`
	// failedFields are the names of the fields that did not pass, such as documentNumber: never their values.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=256
	FailedFields []string `json:"failedFields,omitempty"`
}

// ReviewStatus is one of spec.checkReviews.
type ReviewStatus struct {
	// individual of the review.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Individual string `json:"individual"`
	// check of the review: the name or the id, as in the spec.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Check string `json:"check"`
	// evidence of the check, as in the spec.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Evidence string `json:"evidence"`
	// decision of the review: Accept or Reject.
	// +required
	Decision CheckDecision `json:"decision"`
}

// ServiceState is a state in the service's own words.
type ServiceState struct {
	// id of the state.
	// +optional
	// +kubebuilder:validation:Maximum=9007199254740991
	ID int64 `json:"id,omitempty"`
	// name of the state, such as manually_accepted.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
}
