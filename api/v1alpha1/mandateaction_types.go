package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MandateAction does one thing, once, for one individual of a Mandate: it resends the invite, resets the individual, or
// downloads the report. Resending and resetting e-mail the individual. The operator carries out an action at most once,
// even if it crashes. In the end, exactly one of the conditions Complete and Failed is True.
//
// The operator e-mails at most once for each name of an action, ever. The ApplicationRecord of the Mandate keeps the
// names. An action that is deleted and applied again, or restored from a backup, ends as the one before it did, and
// nothing is sent. To repeat an action, use another name or generateName. To cancel an action that has not started,
// delete it.
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
// +kubebuilder:printcolumn:name="REASON",type=string,JSONPath=`.status.conditions[0].reason`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
type MandateAction struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the object's standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec describes the action. Only ttlSecondsAfterFinished can change.
	// +required
	Spec MandateActionSpec `json:"spec"`
	// status describes the result of the action. Only the operator writes it. It holds no personal data.
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

// MandateActionSpec describes the action.
//
// +kubebuilder:validation:XValidation:rule="self.individual.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be the name of an individual in the Mandate: lower-case letters, digits and -",fieldPath=".individual"
// +kubebuilder:validation:XValidation:rule="has(self.reportSecretRef) == (self.type == 'DownloadReport')",message="must be set for type DownloadReport, and for no other type",fieldPath=".reportSecretRef"
type MandateActionSpec struct {
	// mandateRef names the Mandate, in the same namespace. The action waits while the Mandate has no application, is
	// suspended or needs a person to act. The condition Reconciling says why. If the Mandate does not exist, the action
	// fails after ten minutes. If the Mandate is deleted, or its application is gone, the action fails at once. This
	// field cannot change.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because an action is carried out once: create another MandateAction"
	MandateRef MandateReference `json:"mandateRef"`

	// type of the action. ResendInvite e-mails the individual an invite with a new code. ResetIndividual discards what
	// the individual has done, and e-mails a new code to start again. DownloadReport stores the individual's report in
	// a Secret, once the individual has completed the checks. This field cannot change.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because an action is carried out once: create another MandateAction"
	Type MandateActionType `json:"type"`

	// individual is the name of an individual in spec.individuals of the Mandate. If the Mandate has an application but
	// no such individual, the action fails. This field cannot change.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because an action is carried out once: create another MandateAction"
	Individual string `json:"individual"`

	// reportSecretRef names the Secret, in the same namespace, in which the operator stores the report. Required for
	// DownloadReport, and not allowed for other types. The operator creates the Secret. The key report holds the file,
	// and content_type holds its type, such as application/pdf. Both together have at most 1 MiB. The action fails if
	// the Secret already exists, or if the operator has no permission to create Secrets, which config/reports grants.
	// The Secret is deleted with the MandateAction. The report is personal data. This field cannot change.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self.name).hasValue()",message="must be a valid Secret name: lower-case letters, digits, - and .",fieldPath=".name"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because an action is carried out once: create another MandateAction"
	ReportSecretRef *SecretReference `json:"reportSecretRef,omitempty"`

	// ttlSecondsAfterFinished is the number of seconds that the operator keeps the MandateAction after its end. 0
	// deletes it at once. You can change this field at any time. If a GitOps tool applies the deleted MandateAction
	// again, it ends as before, and e-mails nobody. Default: the operator does not delete the MandateAction.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}

// MandateActionType is the type of an action.
//
// +kubebuilder:validation:Enum=ResendInvite;ResetIndividual;DownloadReport
type MandateActionType string

const (
	// MandateActionResendInvite e-mails the individual an invite with a new code.
	MandateActionResendInvite MandateActionType = "ResendInvite"
	// MandateActionResetIndividual discards what the individual has done and e-mails a new code to start again.
	MandateActionResetIndividual MandateActionType = "ResetIndividual"
	// MandateActionDownloadReport stores the individual's report in a Secret. The action waits until the individual has
	// completed the checks. It fails if the Mandate has its outcome and the service still has no report.
	MandateActionDownloadReport MandateActionType = "DownloadReport"
)

// MandateActionStatus describes the result of the action.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.completedTime) || (has(self.completedTime) && self.completedTime == oldSelf.completedTime)",message="cannot change or go away once it is set: an action ends once",fieldPath=".completedTime"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.startedTime) || (has(self.startedTime) && self.startedTime == oldSelf.startedTime)",message="cannot change or go away once it is set: an action starts once",fieldPath=".startedTime"
type MandateActionStatus struct {
	// observedGeneration is the generation of the spec that the status describes. -1 means that the operator has not seen
	// the object yet.
	// +optional
	// +kubebuilder:default=-1
	// +kubebuilder:validation:Maximum=9007199254740991
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are, in the end, exactly one of Complete and Failed. Failed with reason OutcomeUnknown means that the
	// service may have carried out the action. Until the end, Reconciling is True. Together with Failed, Stalled is
	// True, for tools that do not know Failed.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// problems are what is wrong, as the service or the API server said when the reason began. They have no values.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Problems []Problem `json:"problems,omitempty"`

	// startedTime is when the operator recorded in the ApplicationRecord that it carries the action out, before it sent
	// the request. Once set, it never changes.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	StartedTime *metav1.Time `json:"startedTime,omitempty"`

	// completedTime is when the action ended, successfully or not.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	CompletedTime *metav1.Time `json:"completedTime,omitempty"`
}
