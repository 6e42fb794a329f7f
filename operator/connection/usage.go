package connection

// Usage is how one connection is used now.
type Usage struct {
	Key Key
	// State of the circuit breaker and, unless that is Closed, what fails.
	State   State
	Failing Class
	// Mandates and Actions are the slots for the two kinds of objects.
	Mandates, Actions SlotUsage
	// StatesUnknown is that of the Connection.
	StatesUnknown int
}

// Usage tells how each connection is used.
func (r *Registry) Usage() []Usage {
	r.mu.RLock()
	defer r.mu.RUnlock()
	usage := make([]Usage, 0, len(r.entries))
	for key, e := range r.entries {
		u := Usage{Key: key, Mandates: e.mandates.usage(), Actions: e.actions.usage()}
		u.State, u.Failing, _ = e.breaker.Status()
		if e.connection != nil {
			u.StatesUnknown = e.connection.StatesUnknown
		}
		usage = append(usage, u)
	}
	return usage
}

// SlotUsage is how many reconciliations have a slot of a connection, and how many objects wait for one.
type SlotUsage struct{ Used, Waiting int }

func (l *ConcurrencyLimiter) usage() SlotUsage {
	l.limiters.mu.Lock()
	defer l.limiters.mu.Unlock()
	return SlotUsage{Used: l.counts[using], Waiting: l.counts[waiting] + l.counts[offered]}
}
