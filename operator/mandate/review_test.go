package mandate

import (
	"strconv"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
)

// reviewing is the actor of a reconciliation that has read an application of one individual with these checks.
func reviewing(m *v1alpha1.Mandate, checks ...idv.Check) *actor {
	m.Spec.Individuals = []v1alpha1.Individual{{Name: "jane"}}
	r := &actor{scope: &scope{mandate: m, record: &v1alpha1.ApplicationRecord{}}, reviewed: reviewedBefore(m)}
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
	some := func(checks ...idv.Check) []idv.Check { return checks }
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
	sentFor := func(id int64, result v1alpha1.CallResult, sends int32) []v1alpha1.Call {
		entry := reviewOrder(of(inReview(id)), id)
		entry.Result, entry.Sends = result, sends
		return []v1alpha1.Call{entry}
	}
	done, rejected := of(inReview(5)), of(inReview(5))
	rejected.Decision = v1alpha1.CheckDecisionReject
	cases := map[string]struct {
		review   v1alpha1.ReviewStatus
		log      []v1alpha1.Call
		before   []v1alpha1.ReviewStatus // that were carried out
		checks   []idv.Check
		sent     int64 // to which check; 0: not
		done     bool
		outdated bool
		refused  bool
		shown    bool // that a call was carried out whose result is open
		waits    bool // a decision waits for what was sent
	}{
		"as seen":                        {review: of(inReview(5)), checks: []idv.Check{inReview(5)}, sent: 5},
		"by its id":                      {review: byID("5", inReview(5)), checks: []idv.Check{inReview(5)}, sent: 5},
		"no check any more":              {review: of(inReview(5)), outdated: true},
		"another state":                  {review: of(inState(5, "pending")), checks: some(inReview(5)), outdated: true},
		"another check":                  {review: of(inReview(5)), checks: []idv.Check{inReview(9)}, outdated: true},
		"another, by its id":             {review: byID("9", inReview(5)), checks: []idv.Check{inReview(9)}, outdated: true},
		"the old one by its id":          {review: byID("5", inReview(5)), checks: []idv.Check{inReview(9)}, outdated: true},
		"never seen":                     {review: of(idv.Check{}), checks: []idv.Check{inReview(5)}, outdated: true},
		"decided by somebody":            {review: of(inReview(5)), checks: []idv.Check{accepted}, outdated: true},
		"passed by itself":               {review: of(inReview(5)), checks: some(inState(5, "passed")), outdated: true},
		"another, which passed":          {review: of(inReview(5)), checks: some(inState(9, "passed")), outdated: true},
		"decided as its author has seen": {review: of(accepted), checks: []idv.Check{accepted}},
		"refused, then passed by itself": {
			review: done, log: sentFor(5, v1alpha1.CallRefused, 0), checks: []idv.Check{inState(5, "passed")}, outdated: true,
		},
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
			review: done, log: sentFor(5, v1alpha1.CallRefused, 0), checks: []idv.Check{inReview(5)}, refused: true,
		},
		"not sent, same check": {
			review: done, log: sentFor(5, v1alpha1.CallNotSent, 0), checks: []idv.Check{inReview(5)}, sent: 5,
		},
		"not sent, then reset": {
			review: done, log: sentFor(5, v1alpha1.CallNotSent, 0), checks: []idv.Check{inReview(9)}, outdated: true,
		},
		"refused, then reset": {
			review: done, log: sentFor(5, v1alpha1.CallRefused, 0), checks: []idv.Check{inReview(9)}, outdated: true,
		},
		"answer lost, not done": {
			review: done, log: sentFor(5, v1alpha1.CallUnknown, 1), checks: []idv.Check{inReview(5)}, sent: 5,
		},
		"answer lost twice": {
			review: done, log: sentFor(5, v1alpha1.CallUnknown, 2), checks: []idv.Check{inReview(5)}, refused: true,
		},
		"answer lost, done": {
			review: done, log: sentFor(5, v1alpha1.CallUnknown, 1), checks: []idv.Check{accepted}, done: true,
		},
		"answer lost, then reset": {
			review: done, log: sentFor(5, v1alpha1.CallUnknown, 1), checks: []idv.Check{inReview(9)}, outdated: true,
		},
		"answer lost, state changed": {
			review: done, log: sentFor(5, v1alpha1.CallUnknown, 1), checks: []idv.Check{inState(5, "failed")}, outdated: true,
		},
		"answer lost, partial answer": {review: done, log: sentFor(5, v1alpha1.CallUnknown, 1), outdated: true},
		"two of the name": {
			review: of(inReview(6)), checks: []idv.Check{inReview(5), inReview(6)}, sent: 6,
		},
		"two of the name, one decided": {
			review: of(inReview(6)), checks: []idv.Check{accepted, inReview(6)}, sent: 6,
		},
		"two of the name, none as seen": {
			review: of(inReview(4)), checks: []idv.Check{accepted, inReview(6)}, outdated: true,
		},
		"carried out, which does not show": {
			review: done, log: sentFor(5, v1alpha1.CallDone, 1), checks: []idv.Check{inReview(5)}, waits: true,
		},
		"carried out, then changed by somebody": {
			review: done, log: sentFor(5, v1alpha1.CallDone, 1), checks: []idv.Check{inState(5, "failed")}, done: true,
		},
		"carried out, then reset, and the status was lost": {
			review: done, log: sentFor(5, v1alpha1.CallDone, 1), checks: []idv.Check{inReview(9)}, done: true,
		},
		"carried out later, which does not show": {
			review: done, log: sentFor(5, v1alpha1.CallAccepted, 1), checks: []idv.Check{inReview(5)}, waits: true,
		},
		"carried out later": {
			review: done, log: sentFor(5, v1alpha1.CallAccepted, 1), checks: []idv.Check{accepted}, done: true,
		},
		"of a process that has ended, not done": {
			review: done, log: sentFor(5, "", 1), checks: []idv.Check{inReview(5)}, sent: 5,
		},
		"of a process that has ended, done": {
			review: done, log: sentFor(5, "", 1), checks: []idv.Check{accepted}, done: true, shown: true,
		},
		"of a process that has ended, done, and the status says so": {
			review: done, before: []v1alpha1.ReviewStatus{done}, log: sentFor(5, "", 1), checks: []idv.Check{accepted},
			done: true, shown: true,
		},
		"of a process that has ended, then reset": {
			review: done, log: sentFor(5, "", 1), checks: []idv.Check{inReview(9)}, outdated: true,
		},
	}
	for title, c := range cases {
		t.Run(title, func(t *testing.T) {
			key := c.review
			m := &v1alpha1.Mandate{Status: v1alpha1.MandateStatus{Reviews: c.before}}
			m.Spec.CheckReviews = []v1alpha1.CheckReview{{
				Individual: "jane", Check: key.Check, Evidence: key.Evidence, Decision: key.Decision,
			}}
			r := reviewing(m, c.checks...)
			r.facts.record.calls = c.log
			for range 2 { // it is asked again when the record is read again
				r.facts.application.reviews = r.pendingReviews()
			}
			var sent int64
			if next := nextReview(r.facts); next != nil {
				sent = next.Check
			}
			a, refused := r.facts.application, reviewRefused(r.facts)
			if sent != c.sent || a.reviewOutdated != c.outdated || refused != c.refused || a.reviewShown != c.shown {
				t.Errorf("sent for check %d, outdated %t, refused %t, shown %t", sent, a.reviewOutdated, refused, a.reviewShown)
			}
			if waits := len(a.reviews) > 0 && sent == 0 && !refused; waits != c.waits {
				t.Errorf("a decision waits for a review that was sent: %t", waits)
			}
			if (len(r.reviewed) == 1 && r.reviewed[0] == key) != c.done {
				t.Errorf("carried out: %+v", r.reviewed)
			}
		})
	}
}

// What the author of a decision has seen of a check that a review of the same spec has changed since: what the author
// of the review has seen, until somebody else changes the check. That it passed by itself is no review.
func TestReviewedChecksAsSeen(t *testing.T) {
	t.Parallel()
	inState := func(id int64, state string) idv.Check {
		return idv.Check{ID: id, Name: reviewedCheck, State: idv.State{Name: state}}
	}
	key := v1alpha1.ReviewStatus{
		Individual: "jane", Check: reviewedCheck, Evidence: "seen", Decision: v1alpha1.CheckDecisionAccept,
	}
	for name, test := range map[string]struct {
		result v1alpha1.CallResult
		sends  int32
		before string // the evidence that the status shows; it has the review then
		check  idv.Check
		want   string
	}{
		"never sent":                            {v1alpha1.CallRefused, 0, "", inState(5, "in_review"), ""},
		"never sent, and it passed":             {v1alpha1.CallRefused, 0, "", inState(5, "passed"), ""},
		"never sent, as a status says":          {v1alpha1.CallRefused, 0, "passed", inState(5, "passed"), ""},
		"carried out":                           {v1alpha1.CallDone, 1, "", inState(5, "manually_accepted"), "seen"},
		"carried out, as the status says":       {v1alpha1.CallDone, 1, "accepted", inState(5, "accepted"), "seen"},
		"carried out, then changed by somebody": {v1alpha1.CallDone, 1, "accepted", inState(5, "manually_rejected"), ""},
		"carried out, then begun again":         {v1alpha1.CallDone, 1, "accepted", inState(5, "in_review"), ""},
		"carried out, begun again, and passed":  {v1alpha1.CallDone, 1, "seen", inState(5, "passed"), ""},
		"carried out, and another check":        {v1alpha1.CallDone, 1, "accepted", inState(6, "in_review"), ""},
		"carried out, and another check passed": {v1alpha1.CallDone, 1, "accepted", inState(6, "passed"), ""},
		"carried out later":                     {v1alpha1.CallAccepted, 1, "", inState(5, "accepted"), "seen"},
		"carried out later, and not so far":     {v1alpha1.CallAccepted, 1, "", inState(5, "pending"), ""},
		"sent by a process that has ended":      {"", 1, "", inState(5, "accepted"), "seen"},
		"sent, and the answer was lost":         {v1alpha1.CallUnknown, 1, "", inState(5, "accepted"), "seen"},
		"lost, and rejected by somebody":        {v1alpha1.CallUnknown, 1, "accepted", inState(5, "manually_rejected"), ""},
	} {
		m := &v1alpha1.Mandate{}
		m.Spec.CheckReviews = reviewOf(key.Decision, key.Evidence)
		if test.before != "" {
			m.Status.Reviews = []v1alpha1.ReviewStatus{key}
			m.Status.Individuals = []v1alpha1.IndividualStatus{
				{Name: "jane", Checks: []v1alpha1.CheckStatus{{ID: test.check.ID, Evidence: test.before}}},
			}
		}
		r := reviewing(m, test.check)
		entry := reviewOrder(key, 5)
		entry.Result, entry.Sends = test.result, test.sends
		r.facts.record.calls = []v1alpha1.Call{entry}
		if got := r.seenBy(0, 0); got != test.want {
			t.Errorf("%s: it counts as %q, want %q", name, got, test.want)
		}
	}
}

// What the reviews of a spec change makes no decision outdated, whatever process reads it. Any other change does, also
// one that comes to what a review asks for.
func TestDecisionAfterReviews(t *testing.T) {
	t.Parallel()
	const accepted, inReview = "manually_accepted", "in_review"
	const passed = "passed"
	for name, test := range map[string]struct {
		result v1alpha1.CallResult // of the reviews
		reads  [][]string          // the states of the checks, read after read
		holds  bool                // what the author of a decision saw first, at the end
		last   bool                // what the status showed before the last read
	}{
		"one after the other": {
			v1alpha1.CallDone, [][]string{{inReview, inReview}, {accepted, inReview}, {accepted, accepted}}, true, false,
		},
		"both at once": {v1alpha1.CallDone, [][]string{{inReview, inReview}, {accepted, accepted}}, true, true},
		"shown later": {
			v1alpha1.CallDone, [][]string{{inReview, inReview}, {inReview, inReview}, {accepted, accepted}}, true, true,
		},
		"never sent": {v1alpha1.CallRefused, [][]string{{inReview, inReview}, {passed, inReview}}, false, false},
		"and another check": {
			v1alpha1.CallDone, [][]string{{inReview, inReview}, {accepted, "failed"}}, false, false,
		},
		"begun again": {
			v1alpha1.CallDone, [][]string{{inReview, inReview}, {accepted, inReview}, {inReview, inReview}}, false, false,
		},
		"begun again, and passed": {
			v1alpha1.CallDone,
			[][]string{{inReview, inReview}, {accepted, inReview}, {inReview, inReview}, {passed, inReview}}, false, false,
		},
		"accepted, and then passed": {
			v1alpha1.CallDone, [][]string{{inReview, inReview}, {accepted, inReview}, {passed, inReview}}, false, false,
		},
	} {
		m := &v1alpha1.Mandate{}
		var seen []string
		var r *actor
		for _, states := range test.reads {
			var checks []idv.Check
			for i, state := range states {
				checks = append(checks, idv.Check{ID: int64(i + 1), State: idv.State{Name: state}})
			}
			r = reviewing(m, checks...)
			r.states, r.application = &engine.LocalState[localState]{}, &idv.Application{} // of another process
			for i := range m.Spec.CheckReviews {
				entry := reviewOrder(keyOf(&m.Spec.CheckReviews[i]), int64(i+1))
				entry.Result = test.result
				if test.result == v1alpha1.CallDone {
					entry.Sends = 1
				}
				r.facts.record.calls = append(r.facts.record.calls, entry)
			}
			r.computeEvidence()
			status := v1alpha1.MandateStatus{Evidence: r.facts.application.evidence.shown, Reviews: r.reviewed}
			status.Individuals = []v1alpha1.IndividualStatus{{Name: "jane"}}
			for i, evidence := range r.rounds[0].checks {
				shown := v1alpha1.CheckStatus{ID: int64(i + 1), Evidence: evidence}
				status.Individuals[0].Checks = append(status.Individuals[0].Checks, shown)
				if len(seen) == 0 { // the author of the decision reviews them all
					id := strconv.Itoa(i + 1)
					m.Spec.CheckReviews = append(m.Spec.CheckReviews, v1alpha1.CheckReview{
						Individual: "jane", Check: id, Evidence: evidence, Decision: v1alpha1.CheckDecisionAccept,
					})
				}
			}
			m.Status, seen = status, append(seen, status.Evidence)
		}
		e := r.facts.application.evidence
		if holds, last := e.holds(seen[0]), e.holds(seen[len(seen)-2]); holds != test.holds || last != test.last {
			t.Errorf("%s: %q, %q: holds is %t, and for what was shown last %t", name, seen, e.reviewed, holds, last)
		}
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
	if left := reviewedBefore(m); len(left) > 0 {
		t.Errorf("the status still has %+v", left)
	}
}
