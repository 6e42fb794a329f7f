// Package state is the service without its HTTP: one customer's account with
// its applications, individuals, checks, tokens, subscriptions and the e-mails
// it sent, on a clock that can be set. Everything is in memory.
package state

import (
	"sync"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// Account holds everything the service knows. It is safe for concurrent use,
// and every call is one step: nobody sees half of it.
type Account struct {
	clock   *Clock
	dialect *dialect.Current
	notify  func(Notification)

	mu                   sync.Mutex
	ids                  ids
	applications         map[int64]*application
	individuals          map[int64]*individual
	checks               map[int64]*check
	references           referenceIndex
	individualReferences referenceIndex
	subscriptions        []Subscription
	emails               []control.Email
	creates              int
	rule                 retentionRule // by which nextExpiry was found
	nextExpiry           time.Time
}

// NewAccount returns an empty account. Notify is called for every webhook call
// that is due, from within a step: it must neither block nor call back.
func NewAccount(clock *Clock, d *dialect.Current, seed uint64, notify func(Notification)) *Account {
	a := &Account{clock: clock, dialect: d, notify: notify, ids: newIDs(seed)}
	a.clear()
	return a
}

// Reset forgets everything but which ids were given.
func (a *Account) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clear()
}

func (a *Account) clear() {
	a.applications = map[int64]*application{}
	a.individuals = map[int64]*individual{}
	a.checks = map[int64]*check{}
	a.references = referenceIndex{}
	a.individualReferences = referenceIndex{}
	a.subscriptions = nil
	a.emails = nil
	a.nextExpiry = time.Time{}
}

// begin starts a step and returns what ends it. Retention has no timer: what is
// too old is removed before anybody can see it.
func (a *Account) lock() (end func()) {
	a.mu.Lock()
	a.expire()
	return a.mu.Unlock
}

func (a *Account) nextID(kind *sequence) int64 { return kind.next(a.dialect.Get().IDSize) }
