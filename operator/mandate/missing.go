package mandate

import (
	"sync"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/operator/connection"
)

// A 404 on a known id says that the application is gone, or that the credentials belong to another account now. What
// tells the two apart is whether the connection, as it is now, has read this application before, or reads another one
// that is as old.

// account is whom the service sees by way of a connection.
type account struct {
	url         string
	credentials [32]byte // their digest
}

func accountOf(c *connection.Connection) account { return account{c.URL, c.Credentials} }

// missingApplication answered 404 to an account that had not read it before.
type missingApplication struct {
	service   connection.Key
	account   account
	lastKnown time.Time // when it was last known to be there
	otherRead bool      // another application was read since, which was there at that time
}

// applicationRead is the last read of a Mandate's application.
type applicationRead struct {
	id int64
	by unique.Handle[account]
}

// maxReads is how many reads a process remembers. It remembers those of Mandates that are gone, too: one that is
// applied again has the same application. What is forgotten costs a later belief in a 404.
const maxReads = 200_000

// missingApplications are those of all Mandates of a process, with what is known of the others. The zero value has
// none.
type missingApplications struct {
	mu      sync.Mutex
	entries map[types.NamespacedName]missingApplication
	reads   map[types.NamespacedName]applicationRead
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

// wasRead reports whether the last read of an application was by the same account.
func (m *missingApplications) wasRead(name types.NamespacedName, id int64, by account) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads[name] == applicationRead{id, unique.Make(by)}
}

// remember records who has read the application of a Mandate.
func (m *missingApplications) remember(name types.NamespacedName, id int64, by account) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reads == nil {
		m.reads = map[types.NamespacedName]applicationRead{}
	}
	if _, known := m.reads[name]; !known && len(m.reads) >= maxReads {
		for other := range m.reads {
			delete(m.reads, other)
			break
		}
	}
	m.reads[name] = applicationRead{id, unique.Make(by)}
}

// read records that an account reads an application. One that is younger than the last sign of a missing one proves
// nothing: it may have been created after an exchange of the credentials.
func (m *missingApplications) read(service connection.Key, by account, created time.Time) {
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
	by := accountOf(&r.session.Connection)
	r.localState.Update(r.mandate, func(s *localState) { s.read = r.facts.now })
	r.missing.remove(r.name())
	if r.facts.id != 0 {
		r.missing.remember(r.name(), r.facts.id, by)
	}
	if created := r.facts.createdTime; !created.IsZero() {
		r.missing.read(r.session.Key, by, created)
	}
}

// believable reports whether a 404 can mean that the application is gone.
func (r *reconciliation) believable() bool {
	return r.missing.wasRead(r.name(), r.facts.id, accountOf(&r.session.Connection)) || r.othersRead()
}

// othersRead reports whether applications of others, which were there when this one was last known to be, are read
// while it is missing.
func (r *reconciliation) othersRead() bool {
	state, by := r.localState.Get(r.mandate), accountOf(&r.session.Connection)
	lastKnown := state.read
	if last := r.mandate.Status.LastReadTime; lastKnown.IsZero() && last != nil {
		lastKnown = last.Time
	}
	if lastKnown.IsZero() {
		lastKnown = r.facts.createdTime
	}
	return r.missing.add(r.name(), missingApplication{service: r.session.Key, account: by, lastKnown: lastKnown})
}
