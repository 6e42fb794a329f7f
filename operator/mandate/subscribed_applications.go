package mandate

import (
	"slices"
	"sync"
	"time"
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

	newest  int64     // the application that was created last
	created time.Time // when that was
	coexist bool      // a notification arrived about one that was not the newest
}

// maxAccounts is how many accounts a process remembers.
const maxAccounts = 10_000

// change changes the entry of an account. A process that knows too many accounts starts anew.
func (a *subscribedApplications) change(by account, change func(*subscribedApplication)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.entries[by]; a.entries == nil || !known && len(a.entries) >= maxAccounts {
		a.entries = map[account]subscribedApplication{}
	}
	e := a.entries[by]
	change(&e)
	a.entries[by] = e
}

// add records an application that is subscribed, and whether the service has shown so.
func (a *subscribedApplications) add(by account, id int64, shown bool) {
	a.change(by, func(e *subscribedApplication) {
		if !slices.Contains(e.ids, id) {
			e.ids = append(slices.Clone(e.ids), id)
			e.ids = e.ids[max(len(e.ids)-2, 0):]
		}
		e.shown = e.shown || shown
	})
}

// notified records an application that is subscribed, and when the last notification about it was sent; zero for none.
func (a *subscribedApplications) notified(by account, id int64, created, sent time.Time) {
	a.change(by, func(e *subscribedApplication) {
		if created.After(e.created) {
			e.newest, e.created = id, created
		}
		e.coexist = e.coexist || id != e.newest && sent.After(e.created)
	})
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

// coexist reports whether the service keeps more than one subscription. That is not documented: where the last one of
// an account, or of a URL, replaces the others, notifications are only about the newest application.
func (a *subscribedApplications) coexist(by account) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.entries[by].coexist
}

func (a *subscribedApplications) any(by account) bool { return a.witness(by, 0) != 0 }

// shows reports whether the service shows subscriptions that exist.
func (a *subscribedApplications) shows(by account) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.entries[by].shown
}
