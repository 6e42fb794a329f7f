package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MandateAction is a one-shot order on one individual of a Mandate: resend the invite, reset the individual, or download
// the report. It is carried out at most once, whatever crashes, and ends with exactly one of the conditions Complete and
// Failed. Resending and resetting e-mail the individual.
//
// Once is once for each object: one that is deleted and applied again, or restored from a backup, which keeps no status,
// is another order, and e-mails again. Deleting an order that has not started cancels it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=mda,categories=identity
// +kubebuilder:selectablefield:JSONPath=`.spec.mandateRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.type`
// +kubebuilder:selectablefield:JSONPath=`.spec.individual`
// +kubebuilder:printcolumn:name="MANDATE",type=string,JSONPath=`.spec.mandateRef.name`
// +kubebuilder:printcolumn:name="TYPE",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="INDIVIDUAL",type=string,JSONPath=`.spec.individual`
// +kubebuilder:printcolumn:name="COMPLETE",type=string,JSONPath=`.status.conditions[?(@.type=="Complete")].status`
// +kubebuilder:printcolumn:name="FAILED",type=string,JSONPath=`.status.conditions[?(@.type=="Failed")].status`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="REASON",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Failed")].reason`
// +kubebuilder:printcolumn:name="WAITS",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Reconciling")].reason`
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
	// mandateRef names the Mandate, in the same namespace. The order waits, however long, while the Mandate has no
	// application, is suspended or needs a person to act; the condition Reconciling says which. It waits ten minutes for a
	// Mandate that does not exist, and then fails. It fails at once if the Mandate is deleted or its application is gone.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because an order is carried out once: create another MandateAction"
	MandateRef MandateReference `json:"mandateRef"`

	// type of the order. ResendInvite e-mails the individual an invite with a new code. ResetIndividual discards what the
	// individual has done and e-mails a new code to start again. DownloadReport stores the individual's report in a Secret,
	// once the individual has completed the checks.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because an order is carried out once: create another MandateAction"
	Type MandateActionType `json:"type"`

	// individual is the name of the individual in the Mandate's spec.individuals. One that is not there fails the order once
	// the application exists; before that, it can still be added.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because an order is carried out once: create another MandateAction"
	Individual string `json:"individual"`

	// reportSecretRef names the Secret, in the same namespace, that receives the report: the file under the key report, and
	// what the service calls its type, such as application/pdf, under content_type; together at most 1 MiB. The operator
	// creates the Secret; one that is there already is left alone, and fails the order. It belongs to the MandateAction and is
	// deleted with it, also by ttlSecondsAfterFinished. Required for DownloadReport, refused for other types. The report is
	// personal data.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self.name).hasValue()",message="must be a name that a Secret can have: lower-case letters, digits, - and .",fieldPath=".name"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because an order is carried out once: create another MandateAction"
	ReportSecretRef *SecretReference `json:"reportSecretRef,omitempty"`

	// ttlSecondsAfterFinished is how many seconds after its end this MandateAction is deleted; 0 is at once. It can be
	// changed at any time, as for a Job. Leave it out where a GitOps tool applies again what is gone: each new object is
	// another order. Default: it is kept.
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
	// MandateActionDownloadReport stores the individual's report in a Secret. There is none until the individual has completed
	// the checks: the order waits for that, and fails if the service still has none when the Mandate has its outcome.
	MandateActionDownloadReport MandateActionType = "DownloadReport"
)

// MandateActionStatus is what became of the order.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.completedTime) || (has(self.completedTime) && self.completedTime == oldSelf.completedTime)",message="cannot change or go away once it is set: an order ends once",fieldPath=".completedTime"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.startedTime) || (has(self.startedTime) && self.startedTime == oldSelf.startedTime)",message="cannot change or go away once it is set: an order is started once",fieldPath=".startedTime"
type MandateActionStatus struct {
	// observedGeneration is the generation of the spec that the status tells about; -1 before the operator has seen it.
	// +optional
	// +kubebuilder:default=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are, in the end, exactly one of Complete and Failed. Failed with reason OutcomeUnknown means that the order
	// may have been carried out. Beside them, only while true: Reconciling until the end, and Stalled with Failed, by which
	// tools that do not know Failed see that the order did not do what it should.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// startedTime is when the operator began to carry out the order, written before it is sent to the service. Once set, it
	// never changes.
	// +optional
	StartedTime *metav1.Time `json:"startedTime,omitempty"`

	// attempt names the request that may be under way: it is written before an e-mail is asked for, and taken away when what
	// became of that is known. Only the operator that wrote it sends the request. An attempt whose operator ended in the
	// middle ends the order as OutcomeUnknown.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Attempt string `json:"attempt,omitempty"`

	// completedTime is when the order ended, well or not.
	// +optional
	CompletedTime *metav1.Time `json:"completedTime,omitempty"`
}
