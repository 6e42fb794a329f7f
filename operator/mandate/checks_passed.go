package mandate

import (
	"maps"

	"k8s.io/utils/ptr"

	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/evidence"
)

func (r *reconciliation) checksState() checksState {
	switch settled, passed := r.checksSettled(), r.allChecksPassed(); {
	case passed:
		return checksPassed
	case settled:
		return checksSettled
	default:
		return checksOpen
	}
}

// checksSettled reports whether there are checks, and none waits for the individual or a review.
func (r *reconciliation) checksSettled() bool {
	for _, individual := range r.matching.Individuals {
		if len(individual.Checks) == 0 || individual.ChecksPending > 0 || individual.ChecksInReview > 0 {
			return false
		}
	}
	return true
}

// allChecksPassed is the rule of the same name: every individual has checks, all of them have passed or were accepted
// manually, the counters do not say otherwise, and it is not the round that the last reset ended.
func (r *reconciliation) allChecksPassed() bool {
	all := r.checksSettled()
	for i, individual := range r.matching.Individuals {
		all = r.isNewRound(i) && passed(individual, r.session.Connection.States) && all
	}
	return all
}

func passed(individual *idv.Individual, names idv.StateNames) bool {
	manual := 0
	for _, c := range individual.Checks {
		if !names.Passed(c.State) {
			return false
		}
		if c.State.Is("manually_accepted") {
			manual++
		}
	}
	counted := int(individual.ChecksPassed) // 0 if the service does not count
	return counted == 0 || counted >= len(individual.Checks)-manual
}

// isNewRound reports whether another round was read since the last reset of an individual.
func (r *reconciliation) isNewRound(i int) bool {
	name := r.mandate.Spec.Individuals[i].Name
	reset, key := evidence.LastReset(r.record, name)
	known := ptr.Deref(r.localState.Get(r.mandate).evidence.newRounds, nil)
	if reset == nil || known[name] == key {
		return true
	}
	round, _ := r.key().Individual(r.matching.Individuals[i], "")
	if reset.Evidence == "" || reset.Evidence == round {
		return false
	}
	r.localState.Update(r.mandate, func(s *localState) {
		rounds := newRounds{}
		maps.Copy(rounds, known)
		rounds[name] = key
		s.evidence.newRounds = &rounds
	})
	return true
}
