package mandate

import (
	"k8s.io/utils/clock"

	"github.com/mandate-io/idv/operator/connection"
)

// ServiceClient is what the controller needs of the client of a service.
type ServiceClient = serviceClient

// StandIn gives a plan what it works with in place of a service.
type StandIn func(connection.Key) ServiceClient

// NewPlanner makes a Reconciler that works for a plan: with its own clock, and with stand-ins of services. They show of
// an application what the status of its Mandate shows, so the evidence of checks is the one in the status. All else is
// as in the operator. What config reads and writes is the plan's.
func NewPlanner(config Config, standIn StandIn, clock clock.Clock) *Reconciler {
	r := NewReconciler(config)
	r.standIn, r.clock = standIn, clock
	r.started = clock.Now()
	return r
}

// clientOf is the client of the service that a reconciliation uses; nil if no connection is known.
func (r *reconciliation) clientOf(known bool) serviceClient {
	switch {
	case !known:
		return nil
	case r.standIn != nil:
		return r.standIn(r.session.Key)
	default:
		return r.session.Connection.Client
	}
}

// evidenceOf is the evidence of the checks of an individual, whose last reset is known by a key. A stand-in does not
// show the results of checks, which are part of it.
func (r *actor) evidenceOf(i int, reset string) []string {
	individual := r.matching.Individuals[i]
	if !r.fromStatus {
		_, checks := r.key().Individual(individual, reset)
		return checks
	}
	checks := make([]string, len(individual.Checks))
	for c := range checks {
		checks[c] = r.shownAt(i, c, individual.Checks[c].ID)
	}
	return checks
}
