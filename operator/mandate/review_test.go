package mandate

import (
	"strconv"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// reviewing is a reconciliation that has read an application of one individual with these checks.
func reviewing(m *v1alpha1.Mandate, checks ...idv.Check) *reconciliation {
	m.Spec.Individuals = []v1alpha1.Individual{{Name: "jane"}}
	r := &reconciliation{mandate: m, reviewed: newReviewRecord(m), record: &v1alpha1.ApplicationRecord{}}
	r.matching.Individuals = []*idv.Individual{{ID: 70, Checks: checks}}
	_, evidence := r.key().Individual(r.matching.Individuals[0], "")
	r.rounds = []round{{checks: evidence}}
	return r
}

// evidenceOf is what the status shows at a check.
func evidenceOf(check idv.Check) string {
	return reviewing(&v1alpha1.Mandate{}, check).rounds[0].checks[0]
}

// TestPendingReviews holds which review of a spec is sent, for which check, and what is remembered of the others.
func TestPendingReviews(t *testing.T) {
	const name = reviewedCheck
	inState := func(id int64, state string) idv.Check {
		return idv.Check{ID: id, Name: name, State: idv.State{Name: state}}
	}
	inReview := func(id int64) idv.Check { return inState(id, "in_review") }
	of := func(check idv.Check) v1alpha1.ReviewStatus {
		return v1alpha1.ReviewStatus{
			Individual: "jane", Check: name, Evidence: evidenceOf(check), Decision: v1alpha1.CheckDecisionAccept,
		}
	}
	byID := func(id string, check idv.Check) v1alpha1.ReviewStatus {
		key := of(check)
		key.Check = id
		return key
	}
	accepted := inState(5, "manually_accepted")
	sentFor := func(id int64, sent bool, attempts int32) []v1alpha1.PendingReview {
		return []v1alpha1.PendingReview{{ReviewStatus: of(inReview(id)), CheckID: id, Sent: sent, Attempts: attempts}}
	}
	done, rejected := of(inReview(5)), of(inReview(5))
	rejected.Decision = v1alpha1.CheckDecisionReject
	cases := map[string]struct {
		review   v1alpha1.ReviewStatus
		pending  []v1alpha1.PendingReview
		before   []v1alpha1.ReviewStatus // that were carried out
		checks   []idv.Check
		sent     int64 // to which check; 0: not
		done     bool
		outdated bool
		refused  bool
	}{
		"as seen":               {review: of(inReview(5)), checks: []idv.Check{inReview(5)}, sent: 5},
		"by its id":             {review: byID("5", inReview(5)), checks: []idv.Check{inReview(5)}, sent: 5},
		"no check any more":     {review: of(inReview(5)), outdated: true},
		"another state":         {review: of(inState(5, "pending")), checks: []idv.Check{inReview(5)}, outdated: true},
		"another check":         {review: of(inReview(5)), checks: []idv.Check{inReview(9)}, outdated: true},
		"another, by its id":    {review: byID("9", inReview(5)), checks: []idv.Check{inReview(9)}, outdated: true},
		"the old one by its id": {review: byID("5", inReview(5)), checks: []idv.Check{inReview(9)}, outdated: true},
		"never seen":            {review: of(idv.Check{}), checks: []idv.Check{inReview(5)}, outdated: true},
		"decided by somebody":   {review: of(inReview(5)), checks: []idv.Check{accepted}, done: true},
		"carried out": {
			review: done, before: []v1alpha1.ReviewStatus{done}, checks: []idv.Check{accepted}, done: true,
		},
		"carried out, then reset": {
			review: done, before: []v1alpha1.ReviewStatus{done}, checks: []idv.Check{inReview(9)}, done: true,
		},
		"carried out, same id again": {
			review: done, before: []v1alpha1.ReviewStatus{done}, checks: []idv.Check{inReview(5)}, done: true,
		},
		"carried out, new evidence": {
			review: of(inReview(9)), before: []v1alpha1.ReviewStatus{done}, checks: []idv.Check{inReview(9)}, sent: 9,
		},
		"the decision has changed": {
			review: done, before: []v1alpha1.ReviewStatus{rejected}, checks: []idv.Check{inReview(5)}, sent: 5,
		},
		"refused, same check": {
			review: done, pending: sentFor(5, false, 1), checks: []idv.Check{inReview(5)}, sent: 5,
		},
		"refused, then reset": {
			review: done, pending: sentFor(5, false, 1), checks: []idv.Check{inReview(9)}, outdated: true,
		},
		"answer lost, not done": {
			review: done, pending: sentFor(5, true, 1), checks: []idv.Check{inReview(5)}, sent: 5,
		},
		"answer lost twice": {
			review: done, pending: sentFor(5, true, 2), checks: []idv.Check{inReview(5)}, refused: true,
		},
		"answer lost, done": {review: done, pending: sentFor(5, true, 1), checks: []idv.Check{accepted}, done: true},
		"answer lost, then reset": {
			review: done, pending: sentFor(5, true, 1), checks: []idv.Check{inReview(9)}, outdated: true,
		},
		"answer lost, state changed": {
			review: done, pending: sentFor(5, true, 1), checks: []idv.Check{inState(5, "failed")}, outdated: true,
		},
		"answer lost, partial answer": {review: done, pending: sentFor(5, true, 1), outdated: true},
		"two of the name": {
			review: of(inReview(6)), checks: []idv.Check{inReview(5), inReview(6)}, sent: 6,
		},
		"two of the name, one decided": {
			review: of(inReview(6)), checks: []idv.Check{accepted, inReview(6)}, sent: 6,
		},
		"two of the name, none as seen": {
			review: of(inReview(4)), checks: []idv.Check{accepted, inReview(6)}, outdated: true,
		},
	}
	for title, c := range cases {
		t.Run(title, func(t *testing.T) {
			key := c.review
			m := &v1alpha1.Mandate{Status: v1alpha1.MandateStatus{Reviews: c.before, PendingReviews: c.pending}}
			m.Spec.CheckReviews = []v1alpha1.CheckReview{{
				Individual: "jane", Check: key.Check, Evidence: key.Evidence, Decision: key.Decision,
			}}
			r := reviewing(m, c.checks...)
			open := r.pendingReviews()
			var sent int64
			if len(open) > 0 {
				sent = open[0].checkID
			}
			a := r.facts.application
			if sent != c.sent || a.reviewOutdated != c.outdated || a.reviewRefused != c.refused {
				t.Errorf("sent for check %d, outdated %t, refused %t", sent, a.reviewOutdated, a.reviewRefused)
			}
			status := v1alpha1.MandateStatus{}
			r.reviewed.show(&status)
			if (len(status.Reviews) == 1 && status.Reviews[0] == key) != c.done {
				t.Errorf("carried out: %+v", status.Reviews)
			}
		})
	}
}

// Two reviews of one check, by its name and by its id, are each carried out once.
func TestReviewsOfOneCheck(t *testing.T) {
	const id = 5
	m := &v1alpha1.Mandate{}
	m.Spec.Individuals = []v1alpha1.Individual{{Name: "jane"}}
	m.Spec.CheckReviews = []v1alpha1.CheckReview{
		{Individual: "jane", Check: reviewedCheck, Decision: v1alpha1.CheckDecisionAccept},
		{Individual: "jane", Check: strconv.Itoa(id), Decision: v1alpha1.CheckDecisionReject},
	}
	for i := range m.Spec.CheckReviews {
		m.Status.Reviews = append(m.Status.Reviews, keyOf(&m.Spec.CheckReviews[i]))
	}
	for _, state := range []string{"manually_accepted", "manually_rejected", "in_review"} {
		check := idv.Check{ID: id, Name: reviewedCheck, State: idv.State{Name: state}}
		if open := reviewing(m, check).pendingReviews(); len(open) > 0 {
			t.Errorf("the check is %s, and is decided again: %+v", state, open)
		}
	}
}

// A review that the spec does not have any more is forgotten.
func TestReviewRemoved(t *testing.T) {
	removed := v1alpha1.ReviewStatus{Individual: "jane", Check: reviewedCheck, Decision: v1alpha1.CheckDecisionAccept}
	m := &v1alpha1.Mandate{}
	m.Status.Reviews = []v1alpha1.ReviewStatus{removed}
	m.Status.PendingReviews = []v1alpha1.PendingReview{{ReviewStatus: removed}}
	record := newReviewRecord(m)
	record.show(&m.Status)
	if len(m.Status.Reviews) > 0 || len(m.Status.PendingReviews) > 0 {
		t.Errorf("the status still has %+v and %+v", m.Status.Reviews, m.Status.PendingReviews)
	}
}
