package mandate

import (
	"slices"
	"sync"
)

// subscribedApplications are those that this process has subscribed, or seen subscribed, by account: one of each that
// has a subscription certainly, and whether the service has shown one. The zero value has none.
type subscribedApplications struct {
	mu      sync.Mutex
	entries map[account]subscribedApplication
}

type subscribedApplication struct {
	ids   []int64 // the last two: one may be the one that is asked about
	shown bool
}

// maxAccounts is how many accounts a process remembers.
const maxAccounts = 10_000

// add records an application that is subscribed, and whether the service has shown so.
func (a *subscribedApplications) add(by account, id int64, shown bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.entries == nil || len(a.entries) >= maxAccounts {
		a.entries = map[account]subscribedApplication{}
	}
	e := a.entries[by]
	if !slices.Contains(e.ids, id) {
		e.ids = append(slices.Clone(e.ids), id)
		e.ids = e.ids[max(len(e.ids)-2, 0):]
	}
	e.shown = e.shown || shown
	a.entries[by] = e
}

// witness is an application that is subscribed, other than a given one; 0 if none is known.
func (a *subscribedApplications) witness(by account, id int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, other := range a.entries[by].ids {
		if other != id {
			return other
		}
	}
	return 0
}

func (a *subscribedApplications) any(by account) bool { return a.witness(by, 0) != 0 }

// shows reports whether the service shows subscriptions that exist.
func (a *subscribedApplications) shows(by account) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.entries[by].shown
}
