package mandate

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/operator/connection"
)

// A 404 that is not the service's own word, such as that of a proxy, says nothing by itself. What tells is whether the
// connection reads another application that is as old.

// missingApplication answered 404.
type missingApplication struct {
	service   connection.Key
	account   connection.Account
	lastKnown time.Time // when it was last known to be there
	otherRead bool      // another application was read since, which was there at that time
}

// missingApplications are those of all Mandates of a process, with what is known of the others. The zero value has
// none.
type missingApplications struct {
	mu      sync.Mutex
	entries map[types.NamespacedName]missingApplication
}

// add reports whether another application was read since this one answered 404 for the first time.
func (m *missingApplications) add(name types.NamespacedName, application missingApplication) (otherRead bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.entries[name]
	if before.service == application.service && before.account == application.account {
		application.otherRead = before.otherRead
	}
	if m.entries == nil {
		m.entries = map[types.NamespacedName]missingApplication{}
	}
	m.entries[name] = application
	return application.otherRead
}

// remove is for an application that was read, or whose Mandate is gone.
func (m *missingApplications) remove(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, name)
}

// read records that an account reads an application. One that is younger than the last sign of a missing one proves
// nothing: it may have been created after an exchange of the credentials.
func (m *missingApplications) read(service connection.Key, by connection.Account, created time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, missing := range m.entries {
		if missing.service == service && missing.account == by && created.Before(missing.lastKnown) {
			missing.otherRead = true
			m.entries[name] = missing
		}
	}
}

// applicationRead records what a read of the application proves.
func (r *reconciliation) applicationRead() {
	by := r.session.Connection.Account
	r.localState.Update(r.mandate, func(s *localState) { s.read, s.readBy = r.facts.now, r.knownAccount() })
	r.missing.remove(r.name())
	if created := r.facts.createdTime; !created.IsZero() {
		r.missing.read(r.session.Key, by, created)
	}
}

// othersRead reports whether applications of others, which were there when this one was last known to be, are read
// while it is missing.
func (r *reconciliation) othersRead() bool {
	state, by := r.localState.Get(r.mandate), r.session.Connection.Account
	lastKnown := state.read
	if last := r.mandate.Status.LastReadTime; lastKnown.IsZero() && last != nil {
		lastKnown = last.Time
	}
	if lastKnown.IsZero() {
		lastKnown = r.facts.createdTime
	}
	return r.missing.add(r.name(), missingApplication{service: r.session.Key, account: by, lastKnown: lastKnown})
}
