package mandate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
	"github.com/mandate-io/idv/operator/engine"
)

// A review is sent for the checks that its author has seen, and is carried out once. What identifies it is individual,
// check and decision, as in the spec: the ids of checks change with a reset. The status knows of a review before it is
// sent, so that no crash and no stale cache makes it look like a new one. One that was removed from the spec is
// forgotten: added again, it is a new review.

// maxSentState is the length of a state's name that the record of a review repeats: there can be 200 of them.
const maxSentState = 64

// maxReviewAttempts is how often a review is sent whose outcome is not known.
const maxReviewAttempts = 2

// review is one of spec.checkReviews that is to be carried out now.
type review struct {
	index   int // in spec.checkReviews
	checkID int64
	state   string // of the check
	unclear bool   // whether an earlier attempt was carried out
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
	return v1alpha1.ReviewStatus{Individual: wanted.Individual, Check: wanted.Check, Decision: wanted.Decision}
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

func (r *reviewRecord) find(key v1alpha1.ReviewStatus) (pending v1alpha1.PendingReview, found bool) {
	if i := slices.IndexFunc(r.pending, ofReview(key)); i >= 0 {
		return r.pending[i], true
	}
	return v1alpha1.PendingReview{ReviewStatus: key}, false
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

// pendingReviews finds those of spec.checkReviews that are to be sent: the check exists, is the one that the review is
// for, and was not decided that way. A review whose check does not exist yet waits for it, and all wait while the
// individuals are unmatched.
func (r *reconciliation) pendingReviews() []review {
	var open []review
	a, individuals := &r.facts.application, r.matching.Individuals
	for index := range r.mandate.Spec.CheckReviews {
		key := keyOf(&r.mandate.Spec.CheckReviews[index])
		named := func(i v1alpha1.Individual) bool { return i.Name == key.Individual }
		i := slices.IndexFunc(r.mandate.Spec.Individuals, named)
		if i < 0 || slices.Contains(r.reviewed.done, key) {
			continue
		}
		if a.unmatched {
			r.keepSeenCheck(key)
			continue
		}
		pending, bound := r.reviewed.find(key)
		if !bound {
			pending, bound = r.seenCheck(key, individuals[i].Checks)
		}
		check, ambiguous := selected(key.Check, individuals[i].Checks)
		if c := checkByID(individuals[i].Checks, pending.CheckID); c != nil {
			check, ambiguous = c, false
		}
		switch {
		case check != nil && !ambiguous && isDecided(check, key.Decision):
			r.reviewed.setDone(key)
		case bound && !isFor(&pending, check):
			r.reviewed.setPending(pending)
			a.reviewOutdated = true
		case ambiguous: // a guess could accept the wrong one
			a.reviewRefused = true
		case check != nil && pending.SentState != "" && pending.Attempts >= maxReviewAttempts:
			a.reviewRefused = true // whether it was carried out, only a read can show
		case check != nil && index >= r.nextReview:
			open = append(open, review{index, check.ID, sentState(check.State), pending.SentState != ""})
		}
	}
	return open
}

// seenCheck is the check that the author of a new review has seen: the status showed it. If the Mandate was applied
// again under an application that it had before, nobody knows what was reviewed since. It reports false if the review
// is for whichever check there is.
func (r *reconciliation) seenCheck(
	key v1alpha1.ReviewStatus, checks []idv.Check,
) (pending v1alpha1.PendingReview, bound bool) {
	pending.ReviewStatus = key
	if r.record != nil && r.record.Spec.MandateRef.UID != r.mandate.UID && r.mandate.Status.ApplicationID == nil {
		return pending, true
	}
	for i := range r.mandate.Status.Individuals {
		shown := &r.mandate.Status.Individuals[i]
		if shown.Name != key.Individual {
			continue
		}
		for _, c := range shown.Checks {
			if c.Name != engine.ShowText(key.Check) || c.ID == 0 {
				continue
			}
			if checkByID(checks, c.ID) != nil {
				return pending, false
			}
			pending.CheckID = c.ID
		}
		if shown.Truncated && pending.CheckID == 0 && !isID(key.Check) {
			return pending, true // there may be such a check, and nobody has seen which
		}
	}
	return pending, pending.CheckID != 0
}

// isID reports whether a review names its check by the id. Another check has another one.
func isID(check string) bool {
	id, err := strconv.ParseInt(check, 10, 64)
	return err == nil && id > 0
}

// keepSeenCheck keeps which check the author of a review has seen: the status does not show it while the individuals
// are unmatched.
func (r *reconciliation) keepSeenCheck(key v1alpha1.ReviewStatus) {
	if _, bound := r.reviewed.find(key); bound {
		return
	}
	if pending, bound := r.seenCheck(key, nil); bound {
		r.reviewed.setPending(pending)
	}
}

// isFor reports whether a review may be sent for a check: for the one that it was bound to. If nobody knows whether it
// was carried out, that must not have changed: it could have been reset since.
func isFor(pending *v1alpha1.PendingReview, check *idv.Check) bool {
	return check != nil && check.ID == pending.CheckID &&
		(pending.SentState == "" || pending.SentState == sentState(check.State))
}

// sentState tells the states of checks apart: by their name or, if the status cannot show all of it, by a digest.
func sentState(s idv.State) string {
	budget := engine.NewStatusBudget(maxSentState)
	name := stateName(budget, s)
	if budget.Fits(0, name) && !budget.Truncated {
		return name
	}
	sum := sha256.Sum256([]byte(s.Name))
	return "sha256:" + hex.EncodeToString(sum[:16])
}

func isDecided(check *idv.Check, decision v1alpha1.CheckDecision) bool {
	return slices.Contains(decidedStates[decision], wire.FoldName(check.State.Name))
}

func checkByID(checks []idv.Check, id int64) *idv.Check {
	i := slices.IndexFunc(checks, func(c idv.Check) bool { return id != 0 && c.ID == id })
	if i < 0 {
		return nil
	}
	return &checks[i]
}

// selected finds a check by its id or its name. A check without an id cannot be decided.
func selected(wanted string, checks []idv.Check) (found *idv.Check, ambiguous bool) {
	for i := range checks {
		c := &checks[i]
		switch {
		case c.ID == 0:
		case strconv.FormatInt(c.ID, 10) == wanted:
			return c, false
		case c.Name == wanted:
			ambiguous = found != nil
			found = c
		}
	}
	return found, ambiguous
}

// recordReview writes into the status that the next review is sent now, and for which check. Only the process that
// wrote it sends it: the status changes with every attempt.
func (r *reconciliation) recordReview(ctx context.Context) error {
	next := r.reviews[0]
	pending, _ := r.reviewed.find(keyOf(&r.mandate.Spec.CheckReviews[next.index]))
	pending.CheckID, pending.SentState = next.checkID, next.state
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
		pending, _ := r.reviewed.find(keyOf(wanted))
		pending.SentState = "" // it was not carried out, so it may be sent again whatever the check shows
		r.reviewed.setPending(pending)
	}
	switch {
	case err == nil && change.Accepted: // only a read shows it now
		pending, _ := r.reviewed.find(keyOf(wanted))
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
