package mandate

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/evidence"
	"github.com/mandate-io/idv/operator/ledger"
)

// How often a tenant has applications read does not say for how long a rule has to hold.
func TestTenantsDoNotShortenRules(t *testing.T) {
	t.Parallel()
	r := connected(NewReconciler(Config{RuleDelay: 10 * time.Minute}), scope{mandate: &v1alpha1.Mandate{}}, nil)
	r.session.Connection.MinPoll = time.Second
	if got := r.newFacts(serviceFacts{}).act.ruleDelay; got != 10*time.Minute {
		t.Errorf("a rule has to hold for %s", got)
	}
}

// A reset is awaited until the service says that it has carried it out, or another round of checks was read.
func TestResetAwaited(t *testing.T) {
	t.Parallel()
	inState := func(state string) idv.Check { return idv.Check{ID: 5, State: idv.State{Name: state}} }
	before := reviewing(&v1alpha1.Mandate{}, inState("passed"))
	round, _ := evidence.Key(before.record.Spec.Salt).Individual(before.matching.Individuals[0], "")
	for name, test := range map[string]struct {
		result v1alpha1.CallResult
		sends  int32
		reads  []string // the state of the check, read after read
		want   bool
	}{
		"carried out":                     {v1alpha1.CallDone, 1, []string{"passed"}, false},
		"accepted":                        {v1alpha1.CallAccepted, 1, []string{"passed"}, true},
		"without an answer":               {v1alpha1.CallUnknown, 1, []string{"passed"}, true},
		"under way":                       {"", 1, []string{"passed"}, true},
		"refused":                         {v1alpha1.CallRefused, 0, []string{"passed"}, false},
		"accepted, and another round":     {v1alpha1.CallAccepted, 1, []string{"passed", "pending"}, false},
		"accepted, and one that is alike": {v1alpha1.CallAccepted, 1, []string{"passed", "pending", "passed"}, false},
	} {
		states := &engine.LocalState[localState]{}
		var awaited time.Time
		for _, state := range test.reads {
			r := reviewing(&v1alpha1.Mandate{}, inState(state))
			r.states, r.application = states, &idv.Application{}
			r.record.Spec.Calls = []v1alpha1.Call{{
				Kind: v1alpha1.CallResetIndividual, Name: "reset", Individual: "jane", Evidence: round,
				Result: test.result, Sends: test.sends, StartedTime: ledger.MicroTime(now),
			}}
			r.computeEvidence()
			awaited = r.facts.application.resetSent
		}
		if got := awaited.Equal(now); got != test.want {
			t.Errorf("%s: it is awaited since %s", name, awaited)
		}
	}
}

// What a status has shown once is outdated as soon as anything else was read, also if the same comes back: nobody has
// seen the new round. So it is in another object of the Mandate or of its record.
func TestEvidenceDoesNotComeBack(t *testing.T) {
	t.Parallel()
	const inReview, pending = "in_review", "pending"
	for name, test := range map[string]struct {
		reads           []string
		mandate, record types.UID // at the last read
		holds           bool
	}{
		"nothing changes":                 {[]string{inReview, inReview}, "mandate", "record", true},
		"another round":                   {[]string{inReview, pending}, "mandate", "record", false},
		"the same, after another":         {[]string{inReview, pending, inReview}, "mandate", "record", false},
		"a Mandate that is applied again": {[]string{inReview, inReview}, "another", "record", false},
		"a record that is restored":       {[]string{inReview, inReview}, "mandate", "another", false},
	} {
		m, first := &v1alpha1.Mandate{}, v1alpha1.MandateStatus{}
		for i, state := range test.reads {
			m.UID = "mandate"
			r := reviewing(m, idv.Check{ID: 5, State: idv.State{Name: state}})
			r.record.UID = "record"
			r.states, r.application = &engine.LocalState[localState]{}, &idv.Application{}
			if i > 0 && i == len(test.reads)-1 {
				if m.UID = test.mandate; m.UID != "mandate" {
					m.Status = v1alpha1.MandateStatus{}
				}
				r.record.UID = test.record
			}
			r.rounds = nil
			r.facts.application.lookup = applicationFound
			r.computeEvidence()
			status := v1alpha1.MandateStatus{Individuals: []v1alpha1.IndividualStatus{
				{Name: "jane", Checks: []v1alpha1.CheckStatus{{ID: 5}}},
			}}
			r.showEvidence(&status)
			m.Status = status
			if i == 0 {
				first = status
			}
		}
		seen, shown := first.Individuals[0].Checks[0].Evidence, m.Status.Individuals[0].Checks[0].Evidence
		if (m.Status.Evidence == first.Evidence) != test.holds || (shown == seen) != test.holds {
			t.Errorf("%s: %s was shown and is %s now, of the check %s and %s", name,
				first.Evidence, m.Status.Evidence, seen, shown)
		}
	}
}

// Results that change again and again, while no state does, are said: nobody can decide on such evidence.
func TestUnstableEvidence(t *testing.T) {
	t.Parallel()
	type read struct {
		after         time.Duration
		state, result string
	}
	steady := func(results ...string) (reads []read) {
		for _, result := range results {
			reads = append(reads, read{time.Minute, "passed", result})
		}
		return reads
	}
	flapping := steady("a", "b", "a", "b", "a")
	for name, test := range map[string]struct {
		reads []read
		want  bool
	}{
		"the same":                  {steady("a", "a", "a", "a", "a"), false},
		"three changes":             {flapping[:4], false},
		"four changes":              {flapping, true},
		"four changes within hours": {append(steady("a", "b", "a", "b"), read{time.Hour, "passed", "a"}), false},
		"and a state in between": {
			append(steady("a", "b", "a"), read{0, "failed", "a"}, flapping[0], flapping[1]), false,
		},
		"and a state that follows":     {append(flapping[:5:5], read{0, "failed", "a"}), false},
		"and many after an hour":       {append(append(steady("a"), read{time.Hour, "passed", "b"}), flapping...), true},
		"the same, long afterwards":    {append(flapping[:5:5], read{time.Hour, "passed", "a"}), false},
		"the same, shortly afterwards": {append(flapping[:5:5], read{time.Minute, "passed", "a"}), true},
	} {
		states, at := &engine.LocalState[localState]{}, now
		var problems []v1alpha1.Problem
		for _, shown := range test.reads {
			at = at.Add(shown.after)
			check := idv.Check{
				ID: 5, State: idv.State{Name: shown.state}, Results: idv.Hide(shown.result),
			}
			r := reviewing(&v1alpha1.Mandate{}, check)
			r.states, r.facts.now = states, at
			r.application = &idv.Application{}
			r.computeEvidence()
			problems = r.local().unstable.problems(at)
		}
		if (len(problems) == 1) != test.want {
			t.Errorf("%s: the problems are %+v", name, problems)
		}
		if test.want && problems[0].Field != "status.individuals[jane].checks[5]" {
			t.Errorf("%s: the field is %s", name, problems[0].Field)
		}
	}
}
