package mandate

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// writeStatus writes what a reconciliation came to: one patch, and none if nothing changed. It is made
// for what the cache had when the reconciliation began: the Mandate may have been edited since, or be another one of
// that name.
func (r *reconciliation) writeStatus(ctx context.Context, reason string, failures int) error {
	updated, request := r.compose(reason, failures)
	if !equality.Semantic.DeepEqual(*updated, r.mandate.Status) {
		updated.LastHandledReconcileAt = cmp.Or(request, updated.LastHandledReconcileAt)
		r.showRead(updated)
		if _, err := r.patchStatus(ctx, r.config.Status, updated); err != nil {
			return err
		}
		if !r.urgent() {
			r.written.Count(r.mandate.Namespace, r.facts.now)
		}
		r.recordEvent(&r.mandate.Status, updated)
		r.observeDurations(&r.mandate.Status, updated, request)
	}
	r.learn(func(s *localState) {
		s.handledRequest = cmp.Or(request, s.handledRequest)
		s.refused = nil // the status says it
	})
	return nil
}

// compose makes the status that the facts and the reason of a reconciliation make, and gives the request that it
// answers. If a read is not due, only the subscription can be other than it was.
func (r *reconciliation) compose(reason string, failures int) (status *v1alpha1.MandateStatus, request string) {
	status = r.mandate.Status.DeepCopy()
	r.subscriber.show(status)
	if reason == reasonNotDue {
		others := slices.DeleteFunc(slices.Clone(status.Problems), func(p v1alpha1.Problem) bool {
			return p.Reason == reasonSubscriptionRefused
		})
		status.Problems = slices.Concat(others, r.subscriptionProblems(status))
		return status, ""
	}
	status.Reviews = slices.Clone(r.actor.reviewed)
	kept := r.keepsStatus(reason, failures)
	switch {
	case !kept:
		r.statusFor(status, reason)
	case r.readIsOverdue():
		r.statusFor(status, v1alpha1.ReasonReadFailed)
	}
	if !kept && reason != v1alpha1.ReasonSuspended && reason != v1alpha1.ReasonIdentityServiceNotReady {
		request = r.pendingRequest()
	}
	if request != "" && !engine.IsNotification(request) {
		status.LastHandledReconcileAt = request
	}
	return status, request
}

// writeTimeout bounds a write that a shutdown does not cut short.
const writeTimeout = 3 * time.Second

// writeSubscription writes the subscription when nothing else is to be written. A shutdown does not keep the status
// from saying what was just sent.
func (r *reconciliation) writeSubscription(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	err := r.writeStatus(ctx, reasonNotDue, 0)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) { // the cache is stale; of an own write, no event comes
		r.subscriber.retryAfter = time.Second
		return nil
	}
	return err
}

// showRead writes when the application was last read. It is no reason for a write: polls that find nothing new cost
// none.
func (r *reconciliation) showRead(status *v1alpha1.MandateStatus) {
	if read := r.local().read; !read.IsZero() {
		status.LastReadTime = &metav1.Time{Time: read.Truncate(time.Second)}
	}
}

// patchStatus writes a status, and gives the resourceVersion that the Mandate has then.
func (r *scope) patchStatus(
	ctx context.Context, writer client.SubResourceWriter, updated *v1alpha1.MandateStatus,
) (string, error) {
	version := metav1.ObjectMeta{ResourceVersion: r.mandate.ResourceVersion}
	before := &v1alpha1.Mandate{ObjectMeta: version, Status: r.mandate.Status}
	after := &v1alpha1.Mandate{ObjectMeta: version, Status: *updated}
	patch, err := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}).Data(after)
	if err != nil {
		return "", err
	}
	written := engine.MetadataOf("Mandate", r.name())
	err = writer.Patch(ctx, written, client.RawPatch(types.MergePatchType, patch))
	return written.ResourceVersion, err
}

// failureThreshold is how many reads of one application may fail in a row, half a minute of them, before that shows.
const failureThreshold = 6

// keepsStatus reports whether the status stays as it is. It does while the service cannot be used: that shows at its
// IdentityService, once, instead of at ten thousand Mandates. It also does after a start of the operator, until the
// IdentityService is probed.
func (r *reconciliation) keepsStatus(reason string, failures int) bool {
	if r.facts.deletion.requested {
		return false // the status says why the deletion waits
	}
	known := r.facts.bound && r.facts.observe.seen
	current := r.mandate.Status.ObservedGeneration == r.mandate.Generation
	switch reason {
	case v1alpha1.ReasonIdentityServiceNotReady:
		return current && (known || !r.facts.service.Known)
	case v1alpha1.ReasonReadFailed:
		return current && known && failures < failureThreshold
	}
	return false
}

// statusFor is the status that the facts and the reason of a reconciliation make.
func (r *reconciliation) statusFor(status *v1alpha1.MandateStatus, reason string) {
	f := &r.facts
	if !callsRemain(r.facts) {
		status.ObservedGeneration = r.mandate.Generation
	}
	bound := f.bound || reason == reasonVanished && f.id != 0
	id := int64(0)
	if bound {
		id = f.id
	}
	r.showApplication(status, id)
	r.observer.showAdoptable(status)
	if r.application != nil && bound {
		r.projection.show(status)
		r.actor.showEvidence(status)
	}
	if status.Outcome == v1alpha1.OutcomeDeleted && f.application.read() && reason == v1alpha1.ReasonAccepted {
		status.Outcome = "" // it was found again
	}
	switch {
	case status.Outcome != "": // every other outcome is final
	case reason == reasonVanished:
		status.Outcome = r.gone(status.Outcome)
	case !bound || !f.application.read(): // it may be another Mandate's, as after a refused adoption
	case f.application.stage == lifecycle.Completed:
		status.Outcome = v1alpha1.OutcomeCompleted
	case f.application.stage == lifecycle.Rejected:
		status.Outcome = v1alpha1.OutcomeRejected
	}
	r.conditionsFor(status, reason)
}

// showApplication shows the application that the Mandate has, 0 for none, and its reference.
func (r *scope) showApplication(status *v1alpha1.MandateStatus, id int64) {
	if status.ApplicationID == nil {
		status.Reference = cmp.Or(r.existingReference(), r.reference, status.Reference)
	}
	if id != 0 {
		status.ApplicationID = &id
		status.CreatedTime, status.ExpiryTime = lifetime(status, r.facts.createdTime)
	}
}

// existingReference returns the reference of an application that exists, or may exist, if the manifest now has another
// reference; "" otherwise.
func (r *scope) existingReference() string {
	if mismatch(&r.facts.record) == "" {
		return ""
	}
	return r.record.Spec.Reference
}

// gone says what became of an application that the service no longer has. What the status says once, it says for ever.
func (r *reconciliation) gone(outcome v1alpha1.Outcome) v1alpha1.Outcome {
	if outcome == v1alpha1.OutcomeExpired || outcome == v1alpha1.OutcomeDeleted {
		return outcome
	}
	return vanishedOutcome(r.facts.now, r.creationTime())
}

// creationTime is that of the application: as the status says, or else the record.
func (r *reconciliation) creationTime() time.Time {
	if r.facts.createdTime.IsZero() {
		return r.facts.record.firstStarted
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

// conditionsFor sets all conditions, as conditionSpecs says.
func (r *reconciliation) conditionsFor(status *v1alpha1.MandateStatus, reason string) {
	spec, shown := conditionSpecs[reason], reason
	switch reason {
	case reasonVanished:
		shown = string(r.gone(status.Outcome))
		spec.message = messages[shown]
	case reasonOtherAccount:
		shown = v1alpha1.ReasonAccountChanged
	}
	r.setCondition(status, v1alpha1.ConditionReady, spec.ready, shown, spec.message)
	if spec.refs == isTrue {
		resolved := v1alpha1.ReasonResolved
		r.setCondition(status, v1alpha1.ConditionResolvedRefs, isTrue, resolved, messages[resolved])
	} else {
		r.setCondition(status, v1alpha1.ConditionResolvedRefs, spec.refs, shown, spec.message)
	}
	r.setCreated(status, &spec, shown)
	r.setCompleted(status)
	r.setDecided(status)
	r.showProblems(status, shown)

	// Present only while true, and never both (kstatus).
	meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionStalled)
	switch spec.progress {
	case reconciling:
		r.keepTransition(status, v1alpha1.ConditionReconciling, shown, spec.message)
	case stalled:
		r.keepTransition(status, v1alpha1.ConditionStalled, shown, spec.message)
	}
}

func (r *reconciliation) setCondition(
	status *v1alpha1.MandateStatus, conditionType string, is metav1.ConditionStatus, reason, message string,
) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: conditionType, Status: is, Reason: reason, Message: message,
		ObservedGeneration: r.mandate.Generation, LastTransitionTime: metav1.NewTime(r.facts.now),
	})
}

func (r *reconciliation) setCreated(status *v1alpha1.MandateStatus, spec *conditionSpec, shown string) {
	set := func(is metav1.ConditionStatus, reason, message string) {
		r.setCondition(status, v1alpha1.ConditionCreated, is, reason, message)
	}
	open := r.openAttempt()
	switch {
	case status.ApplicationID != nil:
		bound := r.boundReason()
		set(isTrue, bound, messages[bound])
	case spec.created == isTrue, shown == v1alpha1.ReasonAccountChanged && r.facts.id != 0:
		// It is known, but nothing could be read so far.
		set(isUnknown, shown, spec.message)
	case spec.created == isFalse && open != "":
		set(isUnknown, v1alpha1.ReasonOutcomeUnknown, open)
	case spec.createdReason == v1alpha1.ReasonCreating:
		set(spec.created, spec.createdReason, messages[v1alpha1.ReasonCreating])
	default:
		set(spec.created, spec.createdReason, spec.message)
	}
}

// boundReason says how the application was bound. Once the status says it, spec.adopt has no effect: it may be edited.
func (r *reconciliation) boundReason() string {
	created := meta.FindStatusCondition(r.mandate.Status.Conditions, v1alpha1.ConditionCreated)
	adopt := r.mandate.Spec.Adopt
	switch {
	case created != nil && created.Status == isTrue:
		return created.Reason
	case adopt != nil && adopt.ApplicationID == r.facts.id:
		return v1alpha1.ReasonAdopted
	default:
		return v1alpha1.ReasonCreated
	}
}

func (r *reconciliation) setCompleted(status *v1alpha1.MandateStatus) {
	is, reason := isFalse, v1alpha1.ReasonInProgress
	if status.Outcome != "" {
		is, reason = isTrue, string(status.Outcome)
	}
	r.setCondition(status, v1alpha1.ConditionCompleted, is, reason, messages[reason])
}

// setDecided says what became of spec.decision. What was carried out stays so, whatever the spec says later.
func (r *reconciliation) setDecided(status *v1alpha1.MandateStatus) {
	before := meta.FindStatusCondition(r.mandate.Status.Conditions, v1alpha1.ConditionDecided)
	is, reason := isFalse, r.decidedReason(status.Outcome)
	ended := before != nil && r.mandate.Status.Outcome != "" && status.Outcome != ""
	switch {
	case before != nil && before.Status == isTrue, ended:
		is, reason = before.Status, before.Reason
	case reason == v1alpha1.ReasonDecided:
		is = isTrue
	}
	message := cmp.Or(messages[reason], conditionSpecs[reason].message)
	r.setCondition(status, v1alpha1.ConditionDecided, is, reason, message)
}

func (r *reconciliation) decidedReason(outcome v1alpha1.Outcome) string {
	carriedOut := map[v1alpha1.DecisionOutcome]v1alpha1.Outcome{
		v1alpha1.DecisionComplete: v1alpha1.OutcomeCompleted, v1alpha1.DecisionReject: v1alpha1.OutcomeRejected,
	}
	wanted := r.facts.act.decision.Outcome
	before := meta.FindStatusCondition(r.mandate.Status.Conditions, v1alpha1.ConditionDecided)
	switch {
	case wanted == "":
		return v1alpha1.ReasonNoDecision
	case outcome != "" && outcome == carriedOut[wanted]:
		return v1alpha1.ReasonDecided
	case outcome != "":
		return v1alpha1.ReasonDecidedOtherwise
	case r.facts.application.read():
		return cmp.Or(decisionReason(r.facts), v1alpha1.ReasonDecisionWaiting)
	case before != nil && before.ObservedGeneration == r.mandate.Generation:
		return before.Reason
	default:
		return v1alpha1.ReasonDecisionWaiting
	}
}

// openAttempt is the message of Created if nobody can say that no application exists, whatever else keeps it from being
// created: an attempt may have created it. "" if that is not so.
func (r *reconciliation) openAttempt() string {
	if r.facts.record.sent() {
		return conditionSpecs[v1alpha1.ReasonSettling].message
	}
	before := meta.FindStatusCondition(r.mandate.Status.Conditions, v1alpha1.ConditionCreated)
	switch {
	case !r.facts.create.unknown || r.facts.record.exists():
		return ""
	case before.Reason == v1alpha1.ReasonOutcomeUnknown: // the ledger was not read now, or has lost it
		return before.Message
	default: // the ledger had an id, which was not read, and is lost
		return conditionSpecs[v1alpha1.ReasonOutcomeUnknown].message
	}
}

// keepTransition sets an abnormal condition that was just taken out, without making it look new if it was there before:
// the time since when an application is missing is read from it.
func (r *reconciliation) keepTransition(status *v1alpha1.MandateStatus, conditionType, reason, message string) {
	r.setCondition(status, conditionType, isTrue, reason, message)
	before := meta.FindStatusCondition(r.mandate.Status.Conditions, conditionType)
	if before != nil && before.Reason == reason && ledger.IsBelieved(before.LastTransitionTime.Time, r.facts.now) {
		meta.FindStatusCondition(status.Conditions, conditionType).LastTransitionTime = before.LastTransitionTime
	}
}

// eventOutcomeContradicted is the reason of the event that an application shows something else than its outcome.
const eventOutcomeContradicted = "OutcomeContradicted"

// eventApplicationFound is the reason of the event that an application which was Deleted exists.
const eventApplicationFound = "ApplicationFound"

// sayContradiction makes an event when an application first shows something else than its outcome: a service may reopen
// one. The outcome stays, and decides what the operator does.
func (r *reconciliation) sayContradiction() {
	contradicts := r.facts.contradicts()
	said := r.local().contradicted
	if !r.facts.application.read() || contradicts == said {
		return
	}
	r.learn(func(s *localState) { s.contradicted = contradicts })
	if contradicts {
		r.event(corev1.EventTypeWarning, eventOutcomeContradicted, engine.ActionObserve,
			"The service shows another state than the outcome of this Mandate; see status.state. The outcome stays. Ask "+
				"the service's support what became of the application.")
	}
}

func (r *reconciliation) event(eventType, reason, action, message string) {
	r.config.Events.Eventf(r.mandate, nil, eventType, reason, action, "%s", message)
}

// recordEvent makes an event of a status that was just written, if a person needs to know: the verification has an
// outcome, or somebody must act. What goes as it should makes no event: a normal verification has one, at its
// outcome, and none costs a write between the manifest and Ready. Their texts are the fixed messages of the conditions.
func (r *reconciliation) recordEvent(before, after *v1alpha1.MandateStatus) {
	if before.Outcome == v1alpha1.OutcomeDeleted && after.Outcome != before.Outcome {
		r.event(corev1.EventTypeNormal, eventApplicationFound, engine.ActionObserve,
			"The operator found the application again, so it removed the outcome Deleted.")
	}
	if message := subscriptionMessages[after.Subscription]; message != "" && after.Subscription != before.Subscription {
		r.config.Events.Eventf(r.mandate, nil, corev1.EventTypeWarning, "Subscription"+string(after.Subscription),
			engine.ActionReconcile, "%s", message)
	}
	if after.Outcome != before.Outcome && after.Outcome != "" {
		eventType := corev1.EventTypeNormal
		if after.Outcome == v1alpha1.OutcomeExpired || after.Outcome == v1alpha1.OutcomeDeleted {
			eventType = corev1.EventTypeWarning
		}
		r.event(eventType, string(after.Outcome), engine.ActionObserve, messages[string(after.Outcome)])
		return
	}
	was, is := awaitsPerson(before), awaitsPerson(after)
	if is != nil && (was == nil || was.Reason != is.Reason) {
		r.event(corev1.EventTypeWarning, is.Reason, engine.ActionReconcile, is.Message)
	}
}

// awaitsPerson is the condition of a status that says what a person has to do; nil if there is none. What is missing or
// refused may come by itself, and is Reconciling.
func awaitsPerson(status *v1alpha1.MandateStatus) *metav1.Condition {
	works := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReconciling)
	if works != nil && len(status.Problems) > 0 && slices.Contains(missingReasons, works.Reason) {
		return works
	}
	return meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionStalled)
}

// missingReasons are those with which the operator tries again what probably a person has to correct.
var missingReasons = []string{
	v1alpha1.ReasonSecretNotFound, v1alpha1.ReasonLedgerUnavailable, v1alpha1.ReasonNotArchived,
}
