package mandate

import (
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
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
	round, _ := before.key().Individual(before.matching.Individuals[0], "")
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
