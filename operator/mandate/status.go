package mandate

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// writeStatus is the only place that writes the status of Mandates: one patch, and none if nothing changed. It is made for
// what the cache had when the pass began: the Mandate may have been edited since, or be another one of that name.
func (r *reconciliation) writeStatus(ctx context.Context, reason string, failures int) error {
	if r.keepsStatus(reason, failures) {
		return nil
	}
	updated := r.mandate.Status.DeepCopy()
	r.statusFor(updated, reason)
	if equality.Semantic.DeepEqual(*updated, r.mandate.Status) {
		return nil
	}
	with := func(status *v1alpha1.MandateStatus) *v1alpha1.Mandate {
		return &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{ResourceVersion: r.mandate.ResourceVersion}, Status: *status}
	}
	patch, err := client.MergeFromWithOptions(with(&r.mandate.Status), client.MergeFromWithOptimisticLock{}).Data(with(updated))
	if err != nil {
		return err
	}
	// Only the metadata comes back: nobody reads the rest, and the spec is personal data.
	err = r.statusWriter.Patch(ctx, partial(r.mandate), client.RawPatch(types.MergePatchType, patch))
	if err == nil {
		r.recordEvent(&r.mandate.Status, updated)
	}
	return err
}

// partial is the metadata by which a Mandate is known to the API server.
func partial(mandate *v1alpha1.Mandate) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "Mandate"},
		ObjectMeta: metav1.ObjectMeta{Namespace: mandate.Namespace, Name: mandate.Name},
	}
}

// failureThreshold is how many reads of one application may fail in a row, half a minute of them, before that shows.
const failureThreshold = 6

// keepsStatus: what is known of an application stays as it is while the service cannot be asked. That the service is
// away shows at its IdentityService, once, instead of at ten thousand Mandates. And a start of the operator, before it
// has looked at the IdentityService, is no news at all.
func (r *reconciliation) keepsStatus(reason string, failures int) bool {
	if r.facts.deletion.requested {
		return false // what holds the deletion up is news
	}
	known := r.facts.bound && r.facts.seen
	current := r.mandate.Status.ObservedGeneration == r.mandate.Generation
	switch reason {
	case v1alpha1.ReasonServiceNotReady:
		return current && (known || !r.facts.service.Known)
	case v1alpha1.ReasonReadFailed:
		return current && known && failures < failureThreshold
	}
	return false
}

// statusFor is the status that the facts and the reason of a pass make.
func (r *reconciliation) statusFor(status *v1alpha1.MandateStatus, reason string) {
	f := &r.facts
	status.ObservedGeneration = r.mandate.Generation
	if r.reference != "" && status.ApplicationID == nil {
		status.Reference = r.reference
	}
	bound := f.bound || reason == reasonVanished && f.id != 0
	if bound {
		status.ApplicationID = &f.id
		status.CreatedTime, status.ExpiryTime = lifetime(status, f.createdTime)
	}
	if r.application != nil && bound {
		project(status, r.mandate, r.request.Individuals, r.application, r.reviewed)
	}
	switch {
	case status.Outcome != "": // once final, it never changes
	case reason == reasonVanished:
		status.Outcome = r.gone(status.Outcome)
	case f.application.read && f.application.stage == idv.StageCompleted:
		status.Outcome = v1alpha1.OutcomeCompleted
	case f.application.read && f.application.stage == idv.StageRejected:
		status.Outcome = v1alpha1.OutcomeRejected
	}
	r.conditionsFor(status, reason)
}

// gone tells what became of an application that the service no longer has. What was told once stays so.
func (r *reconciliation) gone(outcome v1alpha1.Outcome) v1alpha1.Outcome {
	if vanished(outcome) {
		return outcome
	}
	return vanishedOutcome(r.facts.now, r.age())
}

// age is when the application was made: as the status says, else the record.
func (r *reconciliation) age() time.Time {
	if r.facts.createdTime.IsZero() {
		return r.facts.records.firstStarted
	}
	return r.facts.createdTime
}

func lifetime(status *v1alpha1.MandateStatus, created time.Time) (createdTime, expiryTime *metav1.Time) {
	if status.CreatedTime == nil && !created.IsZero() {
		status.CreatedTime = &metav1.Time{Time: created.Truncate(time.Second)}
	}
	if status.CreatedTime == nil {
		return nil, nil
	}
	expiry := metav1.NewTime(status.CreatedTime.Add(retention))
	return status.CreatedTime, &expiry
}

// conditionsFor sets all conditions: conditionSpecs has the messages.
func (r *reconciliation) conditionsFor(status *v1alpha1.MandateStatus, reason string) {
	v, now := conditionSpecs[reason], metav1.NewTime(r.facts.now)
	set := func(conditionType string, state metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: conditionType, Status: state, Reason: reason, Message: message, ObservedGeneration: r.mandate.Generation, LastTransitionTime: now})
	}
	shown := reason
	if reason == reasonVanished {
		shown = string(r.gone(status.Outcome))
	}
	set(v1alpha1.ConditionReady, v.ready, shown, v.message)

	refsReason, refsMessage := shown, v.message
	if v.refs == metav1.ConditionTrue {
		refsReason, refsMessage = v1alpha1.ReasonResolved, messages[v1alpha1.ReasonResolved]
	}
	set(v1alpha1.ConditionResolvedRefs, v.refs, refsReason, refsMessage)

	open := r.openAttempt()
	switch {
	case status.ApplicationID != nil && r.mandate.Spec.Adopt != nil: // adopt cannot change any more
		set(v1alpha1.ConditionCreated, metav1.ConditionTrue, v1alpha1.ReasonAdopted, messages[v1alpha1.ReasonAdopted])
	case status.ApplicationID != nil:
		set(v1alpha1.ConditionCreated, metav1.ConditionTrue, v1alpha1.ReasonCreated, messages[v1alpha1.ReasonCreated])
	case v.created == metav1.ConditionTrue: // known, but nothing could be read so far
		set(v1alpha1.ConditionCreated, metav1.ConditionUnknown, shown, v.message)
	case v.created == metav1.ConditionFalse && open != "":
		set(v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown, open)
	case v.createdReason == v1alpha1.ReasonCreating:
		set(v1alpha1.ConditionCreated, v.created, v.createdReason, messages[v1alpha1.ReasonCreating])
	default:
		set(v1alpha1.ConditionCreated, v.created, v.createdReason, v.message)
	}

	completed, completedReason := metav1.ConditionFalse, v1alpha1.ReasonInProgress
	switch {
	case status.Outcome != "":
		completed, completedReason = metav1.ConditionTrue, string(status.Outcome)
	case r.facts.application.refused:
		completedReason = v1alpha1.ReasonDecisionRefused
	case r.facts.application.reviewRefused:
		completedReason = v1alpha1.ReasonReviewRefused
	case r.facts.refusedDigest != "" && r.facts.refusedDigest == statusDigest(status):
		completedReason = meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionCompleted).Reason
	}
	set(v1alpha1.ConditionCompleted, completed, completedReason, messages[completedReason])

	// Present only while true, and never both (kstatus).
	meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionStalled)
	switch v.progress {
	case reconciling:
		r.keepTransition(status, v1alpha1.ConditionReconciling, shown, v.message)
	case stalled:
		r.keepTransition(status, v1alpha1.ConditionStalled, shown, v.message)
	}
}

// openAttempt is the message of Created if nobody can say that no application exists, whatever else stands in its way: an
// attempt may have created it. "" if that is not so.
func (r *reconciliation) openAttempt() string {
	if records := r.facts.records; records.read && records.mine && records.sent {
		return conditionSpecs[v1alpha1.ReasonSettling].message
	}
	before := meta.FindStatusCondition(r.mandate.Status.Conditions, v1alpha1.ConditionCreated)
	switch records := r.facts.records; {
	case !r.facts.unknown || records.read && records.mine:
		return ""
	case before.Reason == v1alpha1.ReasonOutcomeUnknown: // the ledger was not asked in this pass, or has lost it
		return before.Message
	default: // the ledger had an id, which was not read, and is lost
		return conditionSpecs[v1alpha1.ReasonOutcomeUnknown].message
	}
}

// keepTransition sets an abnormal condition that was just taken out, without making it look new if it was there before:
// the time since when an application is missing is read from it.
func (r *reconciliation) keepTransition(status *v1alpha1.MandateStatus, conditionType, reason, message string) {
	condition := metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: r.mandate.Generation, LastTransitionTime: metav1.NewTime(r.facts.now)}
	if before := meta.FindStatusCondition(r.mandate.Status.Conditions, conditionType); before != nil && before.Reason == reason {
		condition.LastTransitionTime = before.LastTransitionTime
	}
	meta.SetStatusCondition(&status.Conditions, condition)
}

// final reports that nothing will change any more at the service.
func (r *reconciliation) final() bool {
	stage := r.facts.application.stage
	return r.facts.outcome != "" || r.facts.application.read && (stage == idv.StageCompleted || stage == idv.StageRejected)
}
