package mandate

import (
	"context"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
)

// actor makes the calls on an application that the spec asks for: a decision, reviews of checks, archiving.
type actor struct {
	*scope
	client     actorClient
	fromStatus bool // the evidence of checks is the one in the status

	reviewed    []v1alpha1.ReviewStatus // those of spec.checkReviews that were carried out
	rounds      []round                 // the evidence of the checks of each individual; nil: not computed
	checkReview idv.CheckReview         // set by ordersStill; personal data
}

type actorClient interface {
	ArchiveApplication(ctx context.Context, id int64) (*idv.Change, error)
	CompleteApplication(ctx context.Context, id int64, seen idv.State) (*idv.Change, error)
	RejectApplication(ctx context.Context, id int64, seen idv.State) (*idv.Change, error)
	AcceptCheck(ctx context.Context, checkID int64, review idv.CheckReview) (*idv.Change, error)
	RejectCheck(ctx context.Context, checkID int64, review idv.CheckReview) (*idv.Change, error)
}

// ordersStill reports whether the spec of a live Mandate asks for a call.
func (r *actor) ordersStill(live *v1alpha1.Mandate, call *v1alpha1.Call) bool {
	switch r.facts.attempt.kind {
	case v1alpha1.CallArchive:
		return live.Spec.Archived
	case v1alpha1.CallComplete, v1alpha1.CallReject:
		return equality.Semantic.DeepEqual(live.Spec.Decision, r.mandate.Spec.Decision)
	default:
		return r.takeReview(live, call)
	}
}

// send sends a call.
func (r *actor) send(ctx context.Context, call *v1alpha1.Call) (*idv.Change, error) {
	switch id := r.facts.id; r.facts.attempt.kind {
	case v1alpha1.CallComplete:
		return r.client.CompleteApplication(ctx, id, r.application.State)
	case v1alpha1.CallReject:
		return r.client.RejectApplication(ctx, id, r.application.State)
	case v1alpha1.CallArchive:
		return r.client.ArchiveApplication(ctx, id)
	case v1alpha1.CallAcceptCheck:
		return r.client.AcceptCheck(ctx, call.Check, r.checkReview)
	default:
		return r.client.RejectCheck(ctx, call.Check, r.checkReview)
	}
}

// A review is sent while its check has the evidence that its author has seen, and is carried out once. What identifies
// it is individual, check, evidence and decision, as in the spec. The log knows of it before it is sent, so that no
// crash and no stale cache makes it look like a new one.

// decidedStates are the states that a check has after a decision (interface: Check; the short ones are our reading).
var decidedStates = map[v1alpha1.CheckDecision][]string{
	v1alpha1.CheckDecisionAccept: {"manuallyaccepted", "accepted", "passed"},
	v1alpha1.CheckDecisionReject: {"manuallyrejected", "rejected"},
}

func keyOf(wanted *v1alpha1.CheckReview) v1alpha1.ReviewStatus {
	return v1alpha1.ReviewStatus{
		Individual: wanted.Individual, Check: wanted.Check, Evidence: wanted.Evidence, Decision: wanted.Decision,
	}
}

// reviewedBefore are the reviews that the spec has and the status lists as carried out.
func reviewedBefore(m *v1alpha1.Mandate) (done []v1alpha1.ReviewStatus) {
	for i := range m.Spec.CheckReviews {
		if key := keyOf(&m.Spec.CheckReviews[i]); slices.Contains(m.Status.Reviews, key) {
			done = append(done, key)
		}
	}
	return done
}

// reviewOrder is what one of spec.checkReviews asks for.
func reviewOrder(key v1alpha1.ReviewStatus, check int64) v1alpha1.Call {
	order := v1alpha1.Call{
		Kind: v1alpha1.CallAcceptCheck, Individual: key.Individual, Check: check, Evidence: key.Evidence,
	}
	if key.Decision == v1alpha1.CheckDecisionReject {
		order.Kind = v1alpha1.CallRejectCheck
	}
	return order
}

// seenBy is the evidence that a check had when a review of this spec was sent for it; "" if the check shows none. That
// is no change that the author of a decision has to see first. What anybody else makes of the check is, even if it is
// what the review asks for: so is what comes of one that has left behind a review which the status lists.
func (r *actor) seenBy(individual, c int) string {
	check := &r.matching.Individuals[individual].Checks[c]
	for i := range r.mandate.Spec.CheckReviews {
		key := keyOf(&r.mandate.Spec.CheckReviews[i])
		if key.Individual != r.mandate.Spec.Individuals[individual].Name {
			continue
		}
		order := reviewOrder(key, check.ID)
		over := slices.Contains(r.mandate.Status.Reviews, key) && r.shownAt(individual, c, check.ID) == key.Evidence
		if isCarriedOut(r.facts.record.made(&order), check, key.Decision) && !over {
			return key.Evidence
		}
	}
	return ""
}

// isCarriedOut reports whether a check shows a review that was sent for it. That the check was decided that way by
// somebody else, or by itself, is no review.
func isCarriedOut(sent *v1alpha1.Call, check *idv.Check, decision v1alpha1.CheckDecision) bool {
	return sent != nil && sent.Sends > 0 && check != nil && sent.Check == check.ID && isDecided(check, decision)
}

// pendingReviews are the calls for those of spec.checkReviews that are not done: the check has the evidence that the
// review names, and was not decided that way.
func (r *actor) pendingReviews() (pending []v1alpha1.Call) {
	a := &r.facts.application
	a.reviewOutdated, a.reviewShown = false, false
	r.reviewed, a.decidedChecks = reviewedBefore(r.mandate), decidedChecks(r.matching.Individuals)
	var outdated []v1alpha1.Problem
	for index := range r.mandate.Spec.CheckReviews {
		key := keyOf(&r.mandate.Spec.CheckReviews[index])
		i := slices.IndexFunc(r.mandate.Spec.Individuals, func(i v1alpha1.Individual) bool {
			return i.Name == key.Individual
		})
		order := reviewOrder(key, 0)
		entry := r.facts.record.made(&order)
		open, done := entry != nil && entry.Result == "", entry != nil && entry.Result == v1alpha1.CallDone
		if i < 0 || slices.Contains(r.reviewed, key) {
			a.reviewShown = a.reviewShown || i >= 0 && open
			continue
		}
		check, current := r.selected(i, key, entry)
		switch {
		case current && isDecided(check, key.Decision): // its author asks for what is so
		case !current && (done || isCarriedOut(entry, check, key.Decision)):
			r.reviewed = append(r.reviewed, key)
			a.reviewShown = a.reviewShown || open
		case !current:
			a.reviewOutdated = true
			outdated = append(outdated, outdatedReview(key, check != nil))
		default: // also if it is done and does not show yet: it is not sent again, and a decision waits for it
			order.Check = check.ID
			pending = append(pending, order)
		}
	}
	r.facts.problems.reviews = outdated
	return pending
}

// decidedChecks are the kinds of reviews that checks show, by the ids of the checks.
func decidedChecks(individuals []*idv.Individual) map[int64]v1alpha1.CallKind {
	all := map[int64]v1alpha1.CallKind{}
	for _, individual := range individuals {
		for i := range individual.Checks {
			switch check := &individual.Checks[i]; {
			case isDecided(check, v1alpha1.CheckDecisionAccept):
				all[check.ID] = v1alpha1.CallAcceptCheck
			case isDecided(check, v1alpha1.CheckDecisionReject):
				all[check.ID] = v1alpha1.CallRejectCheck
			}
		}
	}
	return all
}

// selected finds the check of a review: the one that it was sent for, else the one with the evidence, else the only one
// of that name. current reports that the check has the evidence. A check without an id, or with
// one that no status holds, cannot be decided.
func (r *actor) selected(
	individual int, of v1alpha1.ReviewStatus, entry *v1alpha1.Call,
) (found *idv.Check, current bool) {
	checks, several := r.matching.Individuals[individual].Checks, false
	for c := range checks {
		check, current := &checks[c], r.rounds[individual].checks[c] == of.Evidence
		sentForOther := entry != nil && entry.Sends > 0 && entry.Check != check.ID
		switch {
		case check.ID == 0, check.ID > v1alpha1.MaxID, !names(of.Check, check), sentForOther:
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

// takeReview takes what is to be sent with a review from the live Mandate, and reports whether it still asks for it.
// The comment is personal data, which no cache has.
func (r *actor) takeReview(live *v1alpha1.Mandate, entry *v1alpha1.Call) bool {
	for i := range live.Spec.CheckReviews {
		wanted := &live.Spec.CheckReviews[i]
		if order := reviewOrder(keyOf(wanted), entry.Check); !sameOrder(&order, entry) {
			continue
		}
		r.checkReview = idv.CheckReview{Comment: idv.Hide(wanted.Comment), CommentFor: wanted.CommentFor}
		if wanted.Reference != nil {
			r.checkReview.Reference = *wanted.Reference
		}
		return true
	}
	return false
}
