package mandate

import (
	"context"
	"time"
	"unique"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// accountPeriod is within how long all applications are looked for when the credentials name another account: one that
// shows does so by proof that it is the same, and one that does not is said at the service.
const accountPeriod = 10 * time.Minute

// knownAccount is the account of an application. The zero value is not known.
type knownAccount struct {
	id int64
	by unique.Handle[account]
}

// knownAccount is that of the connection.
func (r *reconciliation) knownAccount() knownAccount {
	return knownAccount{r.facts.id, unique.Make(accountOf(&r.session.Connection))}
}

// learnAccount remembers whether the record is the connection's account's, so that it is not read before each poll.
func (r *reconciliation) learnAccount() {
	known, record := knownAccount{}, r.facts.record
	if record.id != 0 && record.id == r.facts.id && !record.otherAccount {
		known = r.knownAccount()
	}
	r.facts.ownAccount = known != knownAccount{}
	if known != r.localState.Get(r.mandate).known {
		r.localState.Update(r.mandate, func(s *localState) { s.known = known })
	}
}

// forgetAccount forgets the account that is not the connection's any more, and has the application read soon.
func (s *localState) forgetAccount(now time.Time, to knownAccount, within time.Duration) {
	if s.known == (knownAccount{}) || s.known.by == to.by {
		return
	}
	s.known = knownAccount{}
	if soon := now.Add(within); soon.Before(s.readAt) {
		s.readAt, s.due = soon, soon
	}
}

// setAccount records that the account of the application has another name now: the service has shown the application
// to it, or a person says so.
func (r *reconciliation) setAccount(ctx context.Context) error {
	account := r.session.Connection.Account.Digest(r.record.Spec.Salt)
	record, err := r.ledger.SetAccount(ctx, r.record, account)
	if err != nil {
		return r.reloadIfLost(ctx, err)
	}
	log.FromContext(ctx).Info("The account of the application has other credentials now", "applicationID", r.facts.id)
	r.setRecord(record)
	return nil
}
