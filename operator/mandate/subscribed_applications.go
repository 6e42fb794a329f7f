package mandate

import (
	"sync"
	"time"

	"github.com/mandate-io/idv/operator/connection"
)

// subscribedApplications is what this process knows of the applications that it has subscribed, by account: whether the
// service keeps more than one subscription. The zero value knows nothing.
type subscribedApplications struct {
	mu      sync.Mutex
	entries map[connection.Account]subscribedApplication
}

type subscribedApplication struct {
	newest  int64     // the application that was created last
	created time.Time // when that was
	coexist bool      // a notification arrived about one that was not the newest
}

// maxAccounts is how many accounts a process remembers.
const maxAccounts = 10_000

// change changes the entry of an account. A process that knows too many accounts starts anew.
func (a *subscribedApplications) change(by connection.Account, change func(*subscribedApplication)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.entries[by]; a.entries == nil || !known && len(a.entries) >= maxAccounts {
		a.entries = map[connection.Account]subscribedApplication{}
	}
	e := a.entries[by]
	change(&e)
	a.entries[by] = e
}

// notified records an application that is subscribed, and when the last notification about it was sent; zero for none.
func (a *subscribedApplications) notified(by connection.Account, id int64, created, sent time.Time) {
	a.change(by, func(e *subscribedApplication) {
		if created.After(e.created) {
			e.newest, e.created = id, created
		}
		e.coexist = e.coexist || id != e.newest && sent.After(e.created)
	})
}

// coexist reports whether the service keeps more than one subscription. That is not documented: where the last one of
// an account, or of a URL, replaces the others, notifications are only about the newest application.
func (a *subscribedApplications) coexist(by connection.Account) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.entries[by].coexist
}
