package connection

import "maps"

// Usage is how one connection is used now.
type Usage struct {
	Key Key
	// State of the circuit breaker and, unless that is Closed, what fails.
	State   State
	Failing Class
	// Mandates and Actions are the slots for the two kinds of objects.
	Mandates, Actions SlotUsage
}

// SlotUsage is how many reconciliations have a slot of a connection, and how many objects wait for one.
type SlotUsage struct{ Used, Waiting int }

// Usage tells how each connection is used.
func (r *Registry) Usage() []Usage {
	r.mu.RLock()
	breakers := maps.Clone(r.breakers)
	r.mu.RUnlock()
	usage := make([]Usage, 0, len(breakers))
	for key, breaker := range breakers {
		u := Usage{Key: key, Mandates: r.Mandates.usage(key), Actions: r.Actions.usage(key)}
		u.State, u.Failing, _ = breaker.Status()
		usage = append(usage, u)
	}
	return usage
}

// Capacity is how many slots each connection has; 0 is unlimited.
func (l *Limiters) Capacity() int { return l.capacity }

func (l *Limiters) usage(key Key) SlotUsage {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.limiters[key]
	if limiter == nil {
		return SlotUsage{}
	}
	offered := limiter.slots.used - len(limiter.using) // to objects that are woken up
	return SlotUsage{Used: len(limiter.using), Waiting: len(limiter.waiting) + offered}
}
