// Package state is the state of the service, without HTTP: one customer's account
// with its applications, individuals, checks, tokens, subscriptions and e-mails,
// and a clock that can be set. Everything is in memory.
package state

import (
	"sync"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// Account holds all data of the service. It is safe for concurrent use, and every
// method is atomic.
type Account struct {
	clock   *Clock
	dialect *dialect.Current
	notify  func(Notification)
	ids     *IDs
	// References is the reference data. It does not change.
	References References

	mu                   sync.Mutex
	applications         table[*application]
	individuals          table[*individual]
	checks               table[*check]
	deleted              map[int64]Overview
	people               map[string]int64 // the first individual id of an e-mail address
	references           referenceIndex
	individualReferences referenceIndex
	subscriptions        []Subscription
	emails               []control.Email
	creates              int
	delayed              []delayedChange
	rule                 retentionRule // of nextExpiry
	nextExpiry           time.Time
}

// NewAccount returns an empty account. It calls notify for every webhook delivery
// while it holds the lock: notify must neither block nor use the account.
func NewAccount(
	clock *Clock, d *dialect.Current, ids *IDs, references References, notify func(Notification),
) *Account {
	a := &Account{clock: clock, dialect: d, ids: ids, References: references, notify: notify}
	a.clear()
	return a
}

// Reset removes all data. Ids are never reused.
func (a *Account) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clear()
}

func (a *Account) clear() {
	a.applications = newTable[*application]()
	a.individuals = newTable[*individual]()
	a.checks = newTable[*check]()
	a.deleted = map[int64]Overview{}
	a.people = map[string]int64{}
	a.references = referenceIndex{}
	a.individualReferences = referenceIndex{}
	a.subscriptions = nil
	a.emails = nil
	a.delayed = nil
	a.nextExpiry = time.Time{}
}

// lock locks the account and returns the function that unlocks it. Retention needs
// no timer: lock first does what was delayed, and removes what has expired.
func (a *Account) lock() (unlock func()) {
	a.mu.Lock()
	if len(a.delayed) > 0 {
		a.doDelayed()
	}
	a.expire()
	return a.mu.Unlock
}
