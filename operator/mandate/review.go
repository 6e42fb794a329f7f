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

// stands are the states that a check has after a decision (interface: Check; the short ones are our reading).
var stands = map[v1alpha1.CheckDecision][]string{
	v1alpha1.CheckDecisionAccept: {"manuallyaccepted", "accepted", "passed"},
	v1alpha1.CheckDecisionReject: {"manuallyrejected", "rejected"},
}

// carriedOut is what the status knows of reviews that were carried out, by check id.
func carriedOut(status *v1alpha1.MandateStatus) map[int64]v1alpha1.CheckDecision {
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

// openReviews finds those of spec.checkReviews whose check exists and was not decided that way. One whose check does not
// exist waits for it.
func (p *pass) openReviews(application *idv.Application) []review {
	var open []review
	individuals := matchIndividuals(p.mandate, p.request.Individuals, application.Individuals)
	for index := range p.mandate.Spec.CheckReviews {
		wanted := &p.mandate.Spec.CheckReviews[index]
		i := slices.IndexFunc(p.mandate.Spec.Individuals, func(i v1alpha1.Individual) bool { return i.Name == wanted.Individual })
		if i < 0 || individuals[i] == nil {
			continue
		}
		check, ambiguous := selected(wanted.Check, individuals[i].Checks)
		switch {
		case ambiguous: // a guess could accept the wrong one
			p.facts.application.reviewRefused = true
		case check == nil, p.reviewed[check.ID] == wanted.Decision:
		case slices.Contains(stands[wanted.Decision], idv.FoldName(check.State.Name)):
			p.reviewed[check.ID] = wanted.Decision
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

// review accepts or rejects one check. The comment is read live, because it is personal data. When the last one is sent,
// the application is read again.
func (p *pass) review(ctx context.Context) error {
	a, next := &p.facts.application, p.reviews[0]
	p.reviews = p.reviews[1:]
	a.reviews = len(p.reviews)
	live := &v1alpha1.Mandate{}
	if err := p.Live.Get(ctx, client.ObjectKeyFromObject(p.mandate), live); err != nil {
		return err
	}
	if live.UID != p.mandate.UID || live.Generation != p.mandate.Generation {
		p.facts.trouble = reasonBehind
		return nil
	}
	wanted := &live.Spec.CheckReviews[next.index]
	send := p.service.AcceptCheck
	if wanted.Decision == v1alpha1.CheckDecisionReject {
		send = p.service.RejectCheck
	}
	request := idv.CheckReview{Comment: idv.Hide(wanted.Comment), CommentFor: wanted.CommentFor}
	if wanted.Reference != nil {
		request.Reference = *wanted.Reference
	}
	_, err := send(ctx, next.checkID, request)
	switch {
	case err == nil:
		p.reviewed[next.checkID] = wanted.Decision
		p.stale = true
		log.FromContext(ctx).Info("Reviewed a check", "decision", wanted.Decision, "checkID", next.checkID, "applicationID", p.facts.id)
	case idv.IsRefusal(err):
		a.reviewRefused = true
		log.FromContext(ctx).Info("The service refused a check review", "checkID", next.checkID, "error", err.Error())
	default:
		p.failed(ctx, err, v1alpha1.ReasonReadFailed)
	}
	if a.reviews == 0 && p.stale {
		p.stale, a.read = false, false
	}
	return nil
}
