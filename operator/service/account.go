package service

import (
	"cmp"
	"slices"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

const (
	// enoughReads is how many applications are read before nobody expects that another one proves the account.
	enoughReads = 20
	// readInterval is between two of these reads, and maxLookWithin bounds how long all of them take.
	readInterval, maxLookWithin = 3 * time.Second, 10 * time.Minute
)

// accountFacts is what is known of the account of a connection.
type accountFacts struct {
	classified  connection.Account // the one that classify has seen last
	confirmed   connection.Account // the last one that needed no proof, or has one
	unconfirmed bool               // classified needs one
	state       connection.AccountState
	same        []connection.Account
	lookWithin  time.Duration
}

// classify says whether the account of the credentials has shown that it has the applications of the Mandates. That is
// asked when the account is another one than before: until one of its reads shows a reference, or a person says so, it
// creates nothing. After a restart, the condition in the status tells that it was asked. The first account of a service
// is not asked: Mandates that name it may have applications at another one. While there are no credentials, nothing
// changes.
func (a *accountFacts) classify(
	service connection.Service, account connection.Account, found dependents, proofs []v1alpha1.SameAccount,
) {
	if account == "" {
		return
	}
	status := service.ServiceStatus()
	a.same = connection.SameAccounts(account, connection.WithProofs(status.SameAccounts, proofs))
	before := connection.Account(status.Account)
	if a.classified != account {
		a.classified = account
		asked := shownChange(status) == v1alpha1.ReasonAccountChanged
		a.unconfirmed = account != a.confirmed && before != "" && (asked || !slices.Contains(a.same, before))
	}
	shown := slices.ContainsFunc(proofs, func(p v1alpha1.SameAccount) bool { return p.SameAs == string(account) })
	if shown || found.begun == 0 || connection.IsVouchedFor(service, account) {
		a.unconfirmed = false
	}
	switch {
	case !a.unconfirmed:
		a.state, a.confirmed = connection.AccountConfirmed, account
	case found.refused < min(enoughReads, found.created):
		a.state = connection.AccountSought
	default:
		a.state = connection.AccountRefuted
	}
	a.lookWithin = min(maxLookWithin, time.Duration(found.created)*readInterval)
}

// change is the reason of ConditionAccountChanged; "" if it is not there. While there are no credentials, it stays as
// it is. Mandates that wait for another account put the one of the connection in no doubt, also for the next process.
func (a *accountFacts) change(status *v1alpha1.IdentityServiceStatus, found dependents) string {
	shown := shownChange(status)
	return cmp.Or(
		engine.If(a.classified == "", shown),
		engine.If(a.state != connection.AccountConfirmed, v1alpha1.ReasonAccountChanged),
		engine.If(found.waits, v1alpha1.ReasonApplicationsOfOtherAccount),
	)
}

func shownChange(status *v1alpha1.IdentityServiceStatus) string {
	return engine.ReasonOf(status.Conditions, v1alpha1.ConditionAccountChanged)
}

// showAccount writes the account into the status, and what proves that it is the same as others.
func showAccount(status *v1alpha1.IdentityServiceStatus, account connection.Account, proofs []v1alpha1.SameAccount) {
	if account == "" {
		return
	}
	status.Account = string(account)
	proofs = slices.DeleteFunc(proofs, func(p v1alpha1.SameAccount) bool { return p.Account == p.SameAs })
	status.SameAccounts = connection.WithProofs(status.SameAccounts, proofs)
}
