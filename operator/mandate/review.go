package mandate

import (
	"context"
	"slices"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// review is one of spec.checkReviews that is to be carried out now.
type review struct {
	index   int // in spec.checkReviews
	checkID int64
}

// decidedStates are the states that a check has after a decision (interface: Check; the short ones are our reading).
var decidedStates = map[v1alpha1.CheckDecision][]string{
	v1alpha1.CheckDecisionAccept: {"manuallyaccepted", "accepted", "passed"},
	v1alpha1.CheckDecisionReject: {"manuallyrejected", "rejected"},
}

// reviewedChecks is what the status knows of reviews that were carried out, by check id.
func reviewedChecks(status *v1alpha1.MandateStatus) map[int64]v1alpha1.CheckDecision {
	reviewed := map[int64]v1alpha1.CheckDecision{}
	for i := range status.Individuals {
		for _, c := range status.Individuals[i].Checks {
			if c.Reviewed != "" {
				reviewed[c.ID] = c.Reviewed
			}
		}
	}
	return reviewed
}

// pendingReviews finds those of spec.checkReviews whose check exists and was not decided that way. One whose check does
// not exist waits for it.
func (r *reconciliation) pendingReviews(application *idv.Application) []review {
	var open []review
	individuals := matchIndividuals(r.mandate, r.request.Individuals, application.Individuals)
	for index := range r.mandate.Spec.CheckReviews {
		wanted := &r.mandate.Spec.CheckReviews[index]
		named := func(i v1alpha1.Individual) bool { return i.Name == wanted.Individual }
		i := slices.IndexFunc(r.mandate.Spec.Individuals, named)
		if i < 0 || individuals[i] == nil {
			continue
		}
		check, ambiguous := selected(wanted.Check, individuals[i].Checks)
		switch {
		case ambiguous: // a guess could accept the wrong one
			r.facts.application.reviewRefused = true
		case check == nil, r.reviewed[check.ID] == wanted.Decision:
		case slices.Contains(decidedStates[wanted.Decision], idv.FoldName(check.State.Name)):
			r.reviewed[check.ID] = wanted.Decision
		default:
			open = append(open, review{index, check.ID})
		}
	}
	return open
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

// review accepts or rejects one check. The comment is read live, because it is personal data. When the last one is
// sent, the application is read again.
func (r *reconciliation) review(ctx context.Context) error {
	a, next := &r.facts.application, r.reviews[0]
	r.reviews = r.reviews[1:]
	a.reviews = len(r.reviews)
	live := &v1alpha1.Mandate{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(r.mandate), live); err != nil {
		return err
	}
	if live.UID != r.mandate.UID || live.Generation != r.mandate.Generation {
		r.facts.failureReason = reasonStaleCache
		return nil
	}
	wanted := &live.Spec.CheckReviews[next.index]
	send := r.client.AcceptCheck
	if wanted.Decision == v1alpha1.CheckDecisionReject {
		send = r.client.RejectCheck
	}
	request := idv.CheckReview{Comment: idv.Hide(wanted.Comment), CommentFor: wanted.CommentFor}
	if wanted.Reference != nil {
		request.Reference = *wanted.Reference
	}
	_, err := send(ctx, next.checkID, request)
	switch {
	case err == nil:
		r.reviewed[next.checkID] = wanted.Decision
		r.stale = true
		log.FromContext(ctx).Info("Reviewed a check",
			"decision", wanted.Decision, "checkID", next.checkID, "applicationID", r.facts.id)
	case idv.IsRefusal(err):
		a.reviewRefused = true
		log.FromContext(ctx).Info("The service refused a check review", "checkID", next.checkID, "error", err.Error())
	default:
		r.requestFailed(ctx, err, v1alpha1.ReasonReadFailed)
	}
	if a.reviews == 0 && r.stale {
		r.stale, a.read = false, false
	}
	return nil
}
