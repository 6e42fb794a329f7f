package mandate

import (
	"time"

	"github.com/mandate-io/idv/operator/connection"
)

// knownAccount is the account of an application. The zero value is not known.
type knownAccount struct {
	id int64
	by connection.Account
}

// knownAccount is that of the connection.
func (r *reconciliation) knownAccount() knownAccount {
	return knownAccount{r.facts.id, r.session.Connection.Account}
}

// learnAccount remembers whether the record is the connection's account's, so that it is not read before each poll.
func (r *reconciliation) learnAccount() {
	known, record := knownAccount{}, r.facts.record
	if record.id != 0 && record.id == r.facts.id && record.account != accountOther {
		known = r.knownAccount()
	}
	r.facts.ownAccount = known != knownAccount{}
	if known != r.localState.Get(r.mandate).known {
		r.localState.Update(r.mandate, func(s *localState) { s.known = known })
	}
}

// forgetAccount forgets the account that is not the connection's any more, and has the application read soon: one that
// shows proves that the account is the same, and one that does not is said at the service. sought: a process that has
// just started knows no account, and somebody waits for what it finds.
func (s *localState) forgetAccount(now time.Time, to knownAccount, sought bool, within time.Duration) {
	if s.known.by == to.by || s.known == (knownAccount{}) && !sought {
		return
	}
	s.known = knownAccount{}
	if soon := now.Add(within); soon.Before(s.readAt) {
		s.readAt, s.due = soon, soon
	}
}

// provesAccount notes that the connection's account has shown the application of the record. That is of use while its
// account is another one by name, or has shown no application yet. An application that the record does not name, as
// one that a person adopts, may be another account's.
func (r *reconciliation) provesAccount() {
	f, by := &r.facts, r.session.Connection.Account
	if !f.application.sameAccount || f.record.account != accountOther && f.service.AccountConfirmed() {
		return
	}
	switch {
	case r.record == nil && f.ownAccount:
		r.services.Connections.Prove(r.session.Key, by, by)
	case r.record != nil && f.id != 0 && f.record.id == f.id:
		r.services.Connections.Prove(r.session.Key, connection.AccountOf(r.record), by)
	}
}
