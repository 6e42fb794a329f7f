package mandate

import (
	"strconv"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// TestPendingReviews holds which review of a spec is sent, for which check, and what is remembered of the others.
func TestPendingReviews(t *testing.T) {
	const name = reviewedCheck
	accept := v1alpha1.ReviewStatus{Individual: "jane", Check: name, Decision: v1alpha1.CheckDecisionAccept}
	inReview := func(id int64) idv.Check { return idv.Check{ID: id, Name: name, State: idv.State{Name: "in_review"}} }
	accepted := idv.Check{ID: 5, Name: name, State: idv.State{Name: "manually_accepted"}}
	shown := func(id int64) v1alpha1.MandateStatus {
		check := v1alpha1.CheckStatus{ID: id, Name: name}
		return v1alpha1.MandateStatus{ApplicationID: new(int64(7)), Individuals: []v1alpha1.IndividualStatus{{
			Name: "jane", ID: 70, Checks: []v1alpha1.CheckStatus{check},
		}}}
	}
	truncated := func(id int64) v1alpha1.MandateStatus {
		status := shown(id)
		status.Truncated, status.Individuals[0].Truncated = true, true
		if id == 0 {
			status.Individuals[0].Checks = nil
		}
		return status
	}
	pending := func(id int64, state string) v1alpha1.MandateStatus {
		status := shown(id)
		status.PendingReviews = []v1alpha1.PendingReview{{ReviewStatus: accept, CheckID: id, SentState: state, Attempts: 1}}
		return status
	}
	done := func(decision v1alpha1.CheckDecision) v1alpha1.MandateStatus {
		status, carriedOut := shown(5), accept
		carriedOut.Decision = decision
		status.Reviews = []v1alpha1.ReviewStatus{carriedOut}
		return status
	}
	cases := map[string]struct {
		check    string // of the review in the spec; default: the name
		status   v1alpha1.MandateStatus
		checks   []idv.Check
		restored bool
		sent     int64 // to which check; 0: not
		done     bool
		outdated bool
		refused  bool
	}{
		"new":                         {status: shown(5), checks: []idv.Check{inReview(5)}, sent: 5},
		"first checks":                {checks: []idv.Check{inReview(5)}, sent: 5},
		"no check yet":                {},
		"decided by somebody":         {status: shown(5), checks: []idv.Check{accepted}, done: true},
		"carried out":                 {status: done("Accept"), checks: []idv.Check{accepted}, done: true},
		"carried out, then reset":     {status: done("Accept"), checks: []idv.Check{inReview(9)}, done: true},
		"carried out, same id again":  {status: done("Accept"), checks: []idv.Check{inReview(5)}, done: true},
		"the decision has changed":    {status: done("Reject"), checks: []idv.Check{inReview(5)}, sent: 5},
		"reset before the first read": {status: shown(5), checks: []idv.Check{inReview(9)}, outdated: true},
		"the new check by its id":     {check: "9", status: shown(5), checks: []idv.Check{inReview(9)}, sent: 9},
		"the old check by its id":     {check: "5", status: shown(5), checks: []idv.Check{inReview(9)}},
		"refused, same check":         {status: pending(5, ""), checks: []idv.Check{inReview(5)}, sent: 5},
		"refused, then reset":         {status: pending(5, ""), checks: []idv.Check{inReview(9)}, outdated: true},
		"answer lost, not done":       {status: pending(5, "in_review"), checks: []idv.Check{inReview(5)}, sent: 5},
		"answer lost, done":           {status: pending(5, "in_review"), checks: []idv.Check{accepted}, done: true},
		"answer lost, then reset":     {status: pending(5, "in_review"), checks: []idv.Check{inReview(9)}, outdated: true},
		"answer lost, state changed":  {status: pending(5, "pending"), checks: []idv.Check{inReview(5)}, outdated: true},
		"answer lost, partial answer": {status: pending(5, "in_review"), outdated: true},
		"two of the name":             {checks: []idv.Check{inReview(5), inReview(6)}, refused: true},
		"bound, two of the name":      {status: pending(6, ""), checks: []idv.Check{inReview(5), inReview(6)}, sent: 6},
		"not shown, but there may be": {status: truncated(0), checks: []idv.Check{inReview(5)}, outdated: true},
		"not shown, and none yet":     {status: truncated(0), outdated: true},
		"not shown, by its id":        {check: "5", status: truncated(0), checks: []idv.Check{inReview(5)}, sent: 5},
		"not shown, by an old id":     {check: "4", status: truncated(0), checks: []idv.Check{inReview(5)}},
		"shown, others are not":       {status: truncated(5), checks: []idv.Check{inReview(5)}, sent: 5},
		"shown, others are not, then reset": {
			status: truncated(5), checks: []idv.Check{inReview(9)}, outdated: true,
		},
		"restored without status": {checks: []idv.Check{inReview(5)}, restored: true, outdated: true},
		"restored, and decided":   {checks: []idv.Check{accepted}, restored: true, done: true},
	}
	for title, c := range cases {
		t.Run(title, func(t *testing.T) {
			key := accept
			if c.check != "" {
				key.Check = c.check
			}
			m := &v1alpha1.Mandate{Status: c.status}
			m.UID = "mandate"
			m.Spec.Individuals = []v1alpha1.Individual{{Name: "jane"}}
			m.Spec.CheckReviews = []v1alpha1.CheckReview{{Individual: "jane", Check: key.Check, Decision: key.Decision}}
			r := &reconciliation{mandate: m, reviewed: newReviewRecord(m), record: &v1alpha1.ApplicationRecord{}}
			r.record.Spec.MandateRef.UID = m.UID
			if c.restored {
				r.record.Spec.MandateRef.UID = "another"
			}
			r.matching.Individuals = []*idv.Individual{{ID: 70, Checks: c.checks}}
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
			if _, found := r.reviewed.find(key); c.outdated && !found {
				t.Error("that the review is outdated is not remembered")
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
	r := &reconciliation{mandate: m, reviewed: newReviewRecord(m)}
	for _, state := range []string{"manually_accepted", "manually_rejected", "in_review"} {
		check := idv.Check{ID: id, Name: reviewedCheck, State: idv.State{Name: state}}
		r.matching.Individuals = []*idv.Individual{{ID: 70, Checks: []idv.Check{check}}}
		if open := r.pendingReviews(); len(open) > 0 {
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
