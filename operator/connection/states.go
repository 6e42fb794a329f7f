package connection

import (
	"maps"
	"time"
)

// MaxStates is how many names of states a connection remembers, and the status of its service shows.
const MaxStates = 50

// SeeState notes that an application was read in a state with this name. The controller of services is told of a name
// that is new. It does not block. Of too many names, the one that was not seen for longest goes.
func (r *Registry) SeeState(key Key, name string, now time.Time) {
	if name == "" {
		return
	}
	r.mu.Lock()
	seen := r.states[key]
	if seen == nil {
		seen = map[string]time.Time{}
		r.states[key] = seen
	}
	_, known := seen[name]
	full := !known && len(seen) == MaxStates
	if full {
		delete(seen, oldest(seen))
	}
	seen[name] = now
	r.mu.Unlock()
	if !known && !full {
		r.ServiceChanged(key)
	}
}

func oldest(seen map[string]time.Time) (name string) {
	for other, at := range seen {
		if name == "" || at.Before(seen[name]) {
			name = other
		}
	}
	return name
}

// States are the names that this process has seen, and when it last did.
func (r *Registry) States(key Key) map[string]time.Time {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return maps.Clone(r.states[key])
}
