package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Call is a request to the service that acts on people or cannot be undone. The operator begins it: it writes the
// entry, which is the lock and the intent. Then it reads live what orders the call, sends the request, and writes the
// result. A call that is sent again keeps its entry.
//
// +kubebuilder:validation:XValidation:rule="self.kind == oldSelf.kind",message="cannot change: a call is what it is",fieldPath=".kind"
// +kubebuilder:validation:XValidation:rule="has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name)",message="cannot change: the action was started under this name",fieldPath=".name"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.result) || has(self.result) || self.nonce != oldSelf.nonce",message="cannot go away unless the call is sent once more",fieldPath=".result"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.result) || !(oldSelf.result in ['Done', 'Accepted']) || (has(self.result) && self.result in ['Done', oldSelf.result] && self.nonce == oldSelf.nonce)",message="cannot change once it is Done, and only to Done once it is Accepted",fieldPath=".result"
// +kubebuilder:validation:XValidation:rule="self.nonce == oldSelf.nonce || (self.sends == oldSelf.sends + 1 && !has(self.result))",message="can only change when the call is sent once more",fieldPath=".nonce"
// +kubebuilder:validation:XValidation:rule="self.sends >= oldSelf.sends - 1 || (self.kind == 'Create' && self.nonce == oldSelf.nonce && has(self.answer) && self.answer == 'NotCreated')",message="can only go down by the last request, which did nothing, or if a person says that nothing was created",fieldPath=".sends"
type Call struct {
	// seq numbers the calls of a record, from 1.
	// +required
	// +kubebuilder:validation:Minimum=1
	Seq int32 `json:"seq"`

	// kind of the call.
	// +required
	Kind CallKind `json:"kind"`

	// name of the MandateAction that orders the call, in the same namespace. Absent if the Mandate does.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// uid of the MandateAction. The operator does not carry out another object with the same name.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	UID types.UID `json:"uid,omitempty"`

	// individual is the name of the individual in the Mandate's spec that the call is about, if it is about one.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Individual string `json:"individual,omitempty"`

	// check is the id of the check that a review is about.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	Check int64 `json:"check,omitempty"`

	// evidence that the author of a decision or review named, or that a rule was applied to. Of ResetIndividual, it is a
	// digest of what the checks of the individual were before.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Evidence string `json:"evidence,omitempty"`

	// generation of the Mandate that ordered the call last.
	// +optional
	// +kubebuilder:validation:Maximum=9007199254740991
	Generation int64 `json:"generation,omitempty"`

	// requestedBy is the user name of the author of the call: the annotation idv.mandate.io/requested-by of the Mandate or
	// MandateAction. It may name a person of your organization. It is absent if the object does not have the annotation,
	// of what a deletion orders, and of subscriptions.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	RequestedBy string `json:"requestedBy,omitempty"`

	// inputs is a digest of the generation and the Secret versions that an application was created from. It contains no
	// personal data.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Inputs string `json:"inputs,omitempty"`

	// edited says that an application may have been created by an earlier request, and the spec or a Secret was edited
	// before the last one. So it is not known whom the application is about, until the service shows it.
	// +optional
	Edited bool `json:"edited,omitempty"`

	// nonce identifies the last request. Only the process that wrote it may send the request.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Nonce string `json:"nonce"`

	// firstStartedTime is when the operator recorded the first request that may have done something. After an hour, the
	// operator does not send a create again: somebody may have deleted the application at the service, and the reference
	// with it.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	FirstStartedTime metav1.MicroTime `json:"firstStartedTime"`

	// startedTime is when the operator recorded the last request, to the microsecond, before it sent it.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	StartedTime metav1.MicroTime `json:"startedTime"`

	// sends is how many requests may have been carried out, the one that is under way included. Those of a create that a
	// bare 429 or 503 answered count as one. 0 means that it is certain that nothing was done.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Sends int32 `json:"sends"`

	// result of the call. It is absent while a request may be under way, and until somebody has found out what became of
	// it. Done is for ever.
	// +optional
	Result CallResult `json:"result,omitempty"`

	// answer is what the last request came to, if it says more than the result.
	// +optional
	Answer CallAnswer `json:"answer,omitempty"`

	// candidateID is an id that the answer to a create shows without the reference. The operator binds the application
	// with this id once it shows the reference.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	CandidateID *int64 `json:"candidateID,omitempty"`

	// endedTime is when the result was recorded.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	EndedTime *metav1.Time `json:"endedTime,omitempty"`
}

// CallKind is what a call does.
//
// +kubebuilder:validation:Enum=Create;Complete;Reject;Archive;Delete;AcceptCheck;RejectCheck;ResendInvite;ResetIndividual;Subscribe
type CallKind string

// The kinds of calls.
const (
	CallCreate          CallKind = "Create"
	CallComplete        CallKind = "Complete"
	CallReject          CallKind = "Reject"
	CallArchive         CallKind = "Archive"
	CallDelete          CallKind = "Delete"
	CallAcceptCheck     CallKind = "AcceptCheck"
	CallRejectCheck     CallKind = "RejectCheck"
	CallResendInvite    CallKind = "ResendInvite"
	CallResetIndividual CallKind = "ResetIndividual"
	CallSubscribe       CallKind = "Subscribe"
)

// CallResult is what became of a call.
//
// +kubebuilder:validation:Enum=Done;Accepted;Refused;Forbidden;NotSent;Unknown
type CallResult string

const (
	// CallDone means that the service did it: its answer says so, or it shows.
	CallDone CallResult = "Done"
	// CallAccepted means that the service does it later, or that the answer to a create shows an id that may not be the
	// application's. The call is never sent again.
	CallAccepted CallResult = "Accepted"
	// CallRefused means that the service refused every request, and nothing was done.
	CallRefused CallResult = "Refused"
	// CallForbidden means that the service does not let this user do it, and nothing was done.
	CallForbidden CallResult = "Forbidden"
	// CallNotSent means that no request reached the service, or that it turned all of them away for another reason than
	// what they ask for. The call can be sent again.
	CallNotSent CallResult = "NotSent"
	// CallUnknown means that at least one request may have been carried out.
	CallUnknown CallResult = "Unknown"
)

// CallAnswer says more about the last request of a call than its result.
//
// +kubebuilder:validation:Enum=NotSent;Refused;Forbidden;Retryable;Duplicate;IDTooLarge;NotCreated
type CallAnswer string

const (
	// AnswerNotSent means that the last request did not reach the service.
	AnswerNotSent CallAnswer = "NotSent"
	// AnswerRefused means that the service refused the content of the last request.
	AnswerRefused CallAnswer = "Refused"
	// AnswerForbidden means that the service does not let this user do that.
	AnswerForbidden CallAnswer = "Forbidden"
	// AnswerRetryable means that the service refused for a reason that may pass, such as missing credit.
	AnswerRetryable CallAnswer = "Retryable"
	// AnswerDuplicate means that the service refused because the reference exists.
	AnswerDuplicate CallAnswer = "Duplicate"
	// AnswerIDTooLarge means that the answer shows an id above MaxID. The call is never sent again.
	AnswerIDTooLarge CallAnswer = "IDTooLarge"
	// AnswerNotCreated means that a person says that no request created an application. requestedBy names that person.
	AnswerNotCreated CallAnswer = "NotCreated"
)
