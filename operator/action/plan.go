package action

import (
	"k8s.io/utils/clock"

	"github.com/mandate-io/idv/operator/connection"
)

// ServiceClient is what the controller needs of the client of a service.
type ServiceClient = serviceClient

// StandIn gives a plan what it works with in place of a service.
type StandIn func(connection.Key) ServiceClient

// NewPlanner makes a Reconciler that works for a plan: with its own clock, and with stand-ins of services. All else is
// as in the operator. What config reads and writes is the plan's.
func NewPlanner(config Config, standIn StandIn, clock clock.Clock) *Reconciler {
	r := NewReconciler(config)
	r.standIn, r.clock = standIn, clock
	return r
}

// clientOf is the client of the service that a reconciliation uses.
func (r *reconciliation) clientOf() serviceClient {
	if r.standIn != nil {
		return r.standIn(r.session.Key)
	}
	return r.session.Connection.Client
}
