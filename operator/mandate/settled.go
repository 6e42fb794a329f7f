package mandate

import (
	"time"

	idv "github.com/mandate-io/idv/internal/client"
)

// settledCall is a call on an application whose answer does not say that it is done: the service carries it out later,
// or what became of it is unknown. It may e-mail people, so it is not sent at every read that shows no change.
type settledCall struct {
	generation int64
	step       step
	at         time.Time
	times      int // it was sent with an unknown outcome
	accepted   bool
}

const (
	// maxUnknownSends is how often a call is sent whose outcome is unknown.
	maxUnknownSends = 2
	// settledPeriod is how long a call is not sent again.
	settledPeriod = 24 * time.Hour
)

// settle remembers what became of a call.
func (r *reconciliation) settle(s step, change *idv.Change, err error) {
	outcome := idv.OutcomeOf(err)
	before := r.localState.Get(r.mandate).settled
	last := settledCall{generation: r.mandate.Generation, step: s, at: r.facts.now}
	switch {
	case err == nil && change.Accepted:
		last.accepted = true
	case outcome == idv.Unknown && before.step == s && before.generation == last.generation:
		last.times = before.times + 1
	case outcome == idv.Unknown:
		last.times = 1
	default:
		last = settledCall{}
	}
	if last != before {
		r.localState.Update(r.mandate, func(state *localState) { state.settled = last })
	}
}

// settledStep is the step that is not taken again now; "" if there is none. A person can ask for it.
func (r *reconciliation) settledStep() step {
	last := r.localState.Get(r.mandate).settled
	recent := last.generation == r.mandate.Generation && r.facts.now.Sub(last.at) < settledPeriod
	// To delete an application again is harmless.
	if recent && !r.facts.requested && (last.accepted || last.times >= maxUnknownSends && last.step != stepDelete) {
		return last.step
	}
	return ""
}
