package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MandateAction is a one-shot order on one individual of a Mandate: resend the invite, reset the individual, or download
// the report. It is carried out at most once, whatever crashes, and ends with exactly one of the conditions Complete and
// Failed. Resending and resetting e-mail the individual.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=mda,categories=identity
// +kubebuilder:printcolumn:name="MANDATE",type=string,JSONPath=`.spec.mandateRef.name`
// +kubebuilder:printcolumn:name="TYPE",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="INDIVIDUAL",type=string,JSONPath=`.spec.individual`
// +kubebuilder:printcolumn:name="COMPLETE",type=string,JSONPath=`.status.conditions[?(@.type=="Complete")].status`
// +kubebuilder:printcolumn:name="FAILED",type=string,JSONPath=`.status.conditions[?(@.type=="Failed")].status`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="REASON",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Failed")].reason`
type MandateAction struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object, as for every Kubernetes object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the order. Only ttlSecondsAfterFinished of it can change.
	// +required
	Spec MandateActionSpec `json:"spec"`
	// status is what became of the order. It is written by the operator only and holds no personal data.
	// +optional
	// +kubebuilder:default={}
	Status MandateActionStatus `json:"status,omitzero"`
}

// MandateActionList is a list of MandateActions.
//
// +kubebuilder:object:root=true
type MandateActionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []MandateAction `json:"items"`
}

// MandateActionSpec is the order.
//
// +kubebuilder:validation:XValidation:rule="self.individual.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be the name of an individual in the Mandate, which is a DNS label: lower-case letters, digits and -",fieldPath=".individual"
// +kubebuilder:validation:XValidation:rule="has(self.reportSecretRef) == (self.type == 'DownloadReport')",message="must be set for type DownloadReport, and for no other type",fieldPath=".reportSecretRef"
type MandateActionSpec struct {
	// mandateRef names the Mandate, in the same namespace.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because an order is carried out once: create another MandateAction"
	MandateRef MandateReference `json:"mandateRef"`

	// type of the order. ResendInvite e-mails the individual an invite with a new code. ResetIndividual discards what the
	// individual has done and e-mails a new code to start again. DownloadReport stores the individual's report in a Secret.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because an order is carried out once: create another MandateAction"
	Type MandateActionType `json:"type"`

	// individual is the name of the individual in the Mandate's spec.individuals.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because an order is carried out once: create another MandateAction"
	Individual string `json:"individual"`

	// reportSecretRef names the Secret, in the same namespace, that receives the report; at most 1 MiB. Required for
	// DownloadReport, refused for other types. The report is personal data.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because an order is carried out once: create another MandateAction"
	ReportSecretRef *SecretReference `json:"reportSecretRef,omitempty"`

	// ttlSecondsAfterFinished is how many seconds after its end this MandateAction is deleted; 0 is at once. It can be
	// changed at any time, as for a Job. Default: it is kept.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}

// MandateActionType is the type of an order.
//
// +kubebuilder:validation:Enum=ResendInvite;ResetIndividual;DownloadReport
type MandateActionType string

const (
	// MandateActionResendInvite e-mails the individual an invite with a new code.
	MandateActionResendInvite MandateActionType = "ResendInvite"
	// MandateActionResetIndividual discards what the individual has done and e-mails a new code to start again.
	MandateActionResetIndividual MandateActionType = "ResetIndividual"
	// MandateActionDownloadReport stores the individual's report in a Secret.
	MandateActionDownloadReport MandateActionType = "DownloadReport"
)

// MandateActionStatus is what became of the order.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.startedTime) || (has(self.startedTime) && self.startedTime == oldSelf.startedTime)",message="cannot change or go away once it is set: an order is started once",fieldPath=".startedTime"
type MandateActionStatus struct {
	// observedGeneration is the generation of the spec that the status tells about; -1 before the operator has seen it.
	// +optional
	// +kubebuilder:default=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are, in the end, exactly one of Complete and Failed. Failed with reason OutcomeUnknown means that the order
	// may have been carried out.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// startedTime is when the operator began to carry out the order, written before the service is called. Once set, it
	// never changes.
	// +optional
	StartedTime *metav1.Time `json:"startedTime,omitempty"`

	// completedTime is when the order ended, well or not.
	// +optional
	CompletedTime *metav1.Time `json:"completedTime,omitempty"`
}
