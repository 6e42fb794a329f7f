package mandate

import (
	"context"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
)

// A review is sent while its check has the evidence that its author has seen, and is carried out once. What identifies
// it is individual, check, evidence and decision, as in the spec. The status knows of a review before it is sent, so
// that no crash and no stale cache makes it look like a new one. One that was removed from the spec is forgotten.

// maxReviewAttempts is how often a review is sent whose outcome is not known.
const maxReviewAttempts = 2

// review is one of spec.checkReviews that is to be carried out now.
type review struct {
	index   int // in spec.checkReviews
	checkID int64
	unclear bool // whether an earlier attempt was carried out
}

// decidedStates are the states that a check has after a decision (interface: Check; the short ones are our reading).
var decidedStates = map[v1alpha1.CheckDecision][]string{
	v1alpha1.CheckDecisionAccept: {"manuallyaccepted", "accepted", "passed"},
	v1alpha1.CheckDecisionReject: {"manuallyrejected", "rejected"},
}

// reviewRecord is what is known of the reviews that the spec has.
type reviewRecord struct {
	done    []v1alpha1.ReviewStatus
	pending []v1alpha1.PendingReview
}

func keyOf(wanted *v1alpha1.CheckReview) v1alpha1.ReviewStatus {
	return v1alpha1.ReviewStatus{
		Individual: wanted.Individual, Check: wanted.Check, Evidence: wanted.Evidence, Decision: wanted.Decision,
	}
}

// newReviewRecord is what the status knows of those reviews that the spec still has.
func newReviewRecord(m *v1alpha1.Mandate) reviewRecord {
	var record reviewRecord
	for i := range m.Spec.CheckReviews {
		key := keyOf(&m.Spec.CheckReviews[i])
		if slices.Contains(m.Status.Reviews, key) {
			record.done = append(record.done, key)
		} else if p := slices.IndexFunc(m.Status.PendingReviews, ofReview(key)); p >= 0 {
			record.pending = append(record.pending, m.Status.PendingReviews[p])
		}
	}
	return record
}

func ofReview(key v1alpha1.ReviewStatus) func(v1alpha1.PendingReview) bool {
	return func(p v1alpha1.PendingReview) bool { return p.ReviewStatus == key }
}

func (r reviewRecord) clone() reviewRecord {
	return reviewRecord{slices.Clone(r.done), slices.Clone(r.pending)}
}

func (r *reviewRecord) find(key v1alpha1.ReviewStatus) v1alpha1.PendingReview {
	if i := slices.IndexFunc(r.pending, ofReview(key)); i >= 0 {
		return r.pending[i]
	}
	return v1alpha1.PendingReview{ReviewStatus: key}
}

func (r *reviewRecord) setPending(pending v1alpha1.PendingReview) {
	r.drop(pending.ReviewStatus)
	r.pending = append(r.pending, pending)
}

func (r *reviewRecord) setDone(key v1alpha1.ReviewStatus) {
	r.drop(key)
	r.done = append(r.done, key)
}

func (r *reviewRecord) drop(key v1alpha1.ReviewStatus) {
	r.pending = slices.DeleteFunc(r.pending, ofReview(key))
}

// show writes the record into a status.
func (r *reviewRecord) show(status *v1alpha1.MandateStatus) {
	recorded := r.clone()
	status.Reviews, status.PendingReviews = recorded.done, recorded.pending
}

// seenBy is the evidence that a check had when a review of this spec was sent for it; "" if none was. What the service
// makes of a check after that is no change that the author of a decision has to see first.
func (r *reviewRecord) seenBy(individual string, check *idv.Check) string {
	for _, key := range r.done {
		if key.Individual == individual && names(key.Check, check) && isDecided(check, key.Decision) {
			return key.Evidence
		}
	}
	for _, p := range r.pending {
		if p.Individual == individual && p.CheckID == check.ID && p.Sent {
			return p.Evidence
		}
	}
	return ""
}

// pendingReviews finds those of spec.checkReviews that are to be sent: the check has the evidence that the review
// names, and was not decided that way.
func (r *reconciliation) pendingReviews() []review {
	var open []review
	a := &r.facts.application
	for index := range r.mandate.Spec.CheckReviews {
		key := keyOf(&r.mandate.Spec.CheckReviews[index])
		i := slices.IndexFunc(r.mandate.Spec.Individuals, func(i v1alpha1.Individual) bool {
			return i.Name == key.Individual
		})
		if i < 0 || slices.Contains(r.reviewed.done, key) {
			continue
		}
		pending := r.reviewed.find(key)
		check, current := r.selected(i, &pending)
		switch {
		case check != nil && isDecided(check, key.Decision):
			r.reviewed.setDone(key)
		case !current:
			a.reviewOutdated = true
		case pending.Sent && pending.Attempts >= maxReviewAttempts:
			a.reviewRefused = true // whether it was carried out, only a read can show
		case index >= r.nextReview:
			open = append(open, review{index, check.ID, pending.Sent})
		}
	}
	return open
}

// selected finds the check of a review: the one that it was sent for, else the one with the evidence, else the only one
// of that name. current reports that the check has the evidence. A check without an id, or with
// one that no status holds, cannot be decided.
func (r *reconciliation) selected(individual int, of *v1alpha1.PendingReview) (found *idv.Check, current bool) {
	checks, several := r.matching.Individuals[individual].Checks, false
	for c := range checks {
		check, current := &checks[c], r.rounds[individual].checks[c] == of.Evidence
		switch {
		case check.ID == 0, check.ID > v1alpha1.MaxID, !names(of.Check, check), of.CheckID != 0 && of.CheckID != check.ID:
		case current, strconv.FormatInt(check.ID, 10) == of.Check:
			return check, current
		default:
			several = found != nil
			found = check
		}
	}
	if several {
		return nil, false
	}
	return found, false
}

// names reports whether a review names a check, by its id or its name.
func names(wanted string, check *idv.Check) bool {
	return check.Name == wanted || check.ID != 0 && strconv.FormatInt(check.ID, 10) == wanted
}

func isDecided(check *idv.Check, decision v1alpha1.CheckDecision) bool {
	return slices.Contains(decidedStates[decision], wire.FoldName(check.State.Name))
}

// recordReview writes into the status that the next review is sent now, and for which check. Only the process that
// wrote it sends it: the status changes with every attempt.
func (r *reconciliation) recordReview(ctx context.Context) error {
	next := r.reviews[0]
	pending := r.reviewed.find(keyOf(&r.mandate.Spec.CheckReviews[next.index]))
	pending.CheckID, pending.Sent = next.checkID, true
	pending.Attempts++
	before := r.reviewed.clone()
	r.reviewed.setPending(pending)
	updated := r.mandate.Status.DeepCopy()
	r.reviewed.show(updated)
	version, err := r.patchStatus(ctx, updated)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		r.reviewed = before
		r.facts.failureReason = reasonStaleCache
		return nil
	case err != nil:
		return err
	}
	r.mandate = r.mandate.DeepCopy()
	r.mandate.Status = *updated
	r.mandate.ResourceVersion = version
	r.facts.application.reviewRecorded = true
	return nil
}

// review accepts or rejects one check. When the last one is sent, the application is read again.
func (r *reconciliation) review(ctx context.Context) {
	a, next := &r.facts.application, r.reviews[0]
	r.reviews, r.nextReview = r.reviews[1:], next.index+1
	a.reviews, a.reviewRecorded = len(r.reviews), false
	wanted := &r.mandate.Spec.CheckReviews[next.index]
	send := r.client.AcceptCheck
	if wanted.Decision == v1alpha1.CheckDecisionReject {
		send = r.client.RejectCheck
	}
	change, err := send(ctx, next.checkID, r.checkReview)
	if err != nil && idv.OutcomeOf(err).NothingDone() && !next.unclear {
		pending := r.reviewed.find(keyOf(wanted))
		pending.Sent = false
		r.reviewed.setPending(pending)
	}
	switch {
	case err == nil && change.Accepted: // only a read shows it now
		pending := r.reviewed.find(keyOf(wanted))
		pending.Attempts = maxReviewAttempts
		r.reviewed.setPending(pending)
		a.read = a.reviews > 0
	case err == nil:
		r.reviewed.setDone(keyOf(wanted))
		a.read = a.reviews > 0
		log.FromContext(ctx).Info("Reviewed a check",
			"decision", wanted.Decision, "checkID", next.checkID, "applicationID", r.facts.id)
	case idv.IsRefusal(err):
		a.reviewRefused = true
		log.FromContext(ctx).Info("The service refused a check review", "checkID", next.checkID, "error", err.Error())
	default:
		r.requestFailed(ctx, err, v1alpha1.ReasonReadFailed)
	}
}
