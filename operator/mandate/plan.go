package mandate

// clientOf is the client of the service that a reconciliation uses; nil if no connection is known.
func (r *reconciliation) clientOf(known bool) ServiceClient {
	switch {
	case !known:
		return nil
	case r.config.StandIn != nil:
		return r.config.StandIn(r.session.Key)
	default:
		return r.session.Connection.Client
	}
}

// digestsOf are the digests of the checks of an individual, whose last reset is known by a key. A stand-in does not
// show the results of checks, which are part of them.
func (r *actor) digestsOf(i int, reset string) []string {
	individual := r.matching.Individuals[i]
	if !r.fromStatus {
		_, checks := r.key().Individual(individual, reset)
		return checks
	}
	checks := make([]string, len(individual.Checks))
	for c := range checks {
		checks[c] = digestOf(r.shownAt(i, c, individual.Checks[c].ID))
	}
	return checks
}
