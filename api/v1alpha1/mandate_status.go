package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MandateStatus is how the application is doing at the service. It holds no personal data.
//
// Strings that come from the service have no enum and generous lengths, and lists of its things are atomic: a state or
// a repetition that nobody has thought of must not make the status unwritable.
type MandateStatus struct {
	// observedGeneration is the generation of the spec that the status tells about; -1 before the operator has seen it.
	// +optional
	// +kubebuilder:default=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready (the application exists, and the spec is carried out as far as it does not wait for people),
	// ResolvedRefs (what the spec names was found), Created (the application exists; Unknown with reason OutcomeUnknown if
	// nobody can know), Completed (there is an outcome, which is the reason) and, only while they are true, Reconciling (the
	// operator is at it) and Stalled (a person must act).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// applicationID is the id of the application at the service. Once set, it never changes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ApplicationID *int64 `json:"applicationID,omitempty"`

	// reference that the application has, or will have, at the service. Look for it there if the condition Created is Unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=150
	Reference string `json:"reference,omitempty"`

	// state of the application in the service's own word, for example in review.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	State string `json:"state,omitempty"`

	// outcome of the verification, once final: Completed or Rejected; Expired if the service deleted the application after
	// eight weeks, Deleted if somebody did before. It never changes, and nothing is created again.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Outcome Outcome `json:"outcome,omitempty"`

	// archived is true once the application is archived at the service.
	// +optional
	Archived bool `json:"archived,omitempty"`

	// progress is the number of checks that passed, a slash, and the number of checks, over all individuals; for
	// example 3/5.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Progress string `json:"progress,omitempty"`

	// mandateType that the application has.
	// +optional
	MandateType *MandateType `json:"mandateType,omitempty"`

	// availableActions are the actions that the service says the application allows now.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	AvailableActions []AvailableAction `json:"availableActions,omitempty"`

	// individuals, in the order of spec.individuals.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Individuals []IndividualStatus `json:"individuals,omitempty"`

	// createdTime is when the application was created.
	// +optional
	CreatedTime *metav1.Time `json:"createdTime,omitempty"`

	// expiryTime is when the service deletes the application with its data: createdTime plus 56 days.
	// +optional
	ExpiryTime *metav1.Time `json:"expiryTime,omitempty"`
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

// AvailableAction is an action that the service offers on an application.
type AvailableAction struct {
	// id of the action.
	// +optional
	ID int64 `json:"id,omitempty"`
	// name of the action.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
	// title of the action, for people.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Title string `json:"title,omitempty"`
}

// IndividualStatus is how the verification of one individual is going. Values that the service did not give are absent.
type IndividualStatus struct {
	// name of the individual in spec.individuals.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// id of the individual at the service.
	// +optional
	ID int64 `json:"id,omitempty"`
	// state of the individual.
	// +optional
	State *ServiceState `json:"state,omitempty"`
	// termsAccepted tells whether the individual accepted the service's terms.
	// +optional
	TermsAccepted *bool `json:"termsAccepted,omitempty"`
	// checksInReview is the number of checks that wait for a review.
	// +optional
	ChecksInReview *int64 `json:"checksInReview,omitempty"`
	// checksPending is the number of checks that wait for the individual.
	// +optional
	ChecksPending *int64 `json:"checksPending,omitempty"`
	// checksPassed is the number of checks that passed.
	// +optional
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
}

// CheckStatus is how one check of an individual is going.
type CheckStatus struct {
	// id of the check.
	// +optional
	ID int64 `json:"id,omitempty"`
	// name of the check.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
	// title of the check, for people.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Title string `json:"title,omitempty"`
	// state of the check.
	// +optional
	State *ServiceState `json:"state,omitempty"`
	// reviewed is the decision of spec.checkReviews that was carried out on this check: it is not carried out again, even if
	// the individual is reset.
	// +optional
	Reviewed CheckDecision `json:"reviewed,omitempty"`
}

// ServiceState is a state in the service's own words.
type ServiceState struct {
	// id of the state.
	// +optional
	ID int64 `json:"id,omitempty"`
	// name of the state, for example manually_accepted.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
}
