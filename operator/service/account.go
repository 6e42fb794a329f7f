package service

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

const (
	// enoughReads is how many applications are read before nobody expects that another one proves the account.
	enoughReads = 20
	// readInterval is between two of these reads, and maxLookWithin bounds how long all of them take.
	readInterval, maxLookWithin = 3 * time.Second, 10 * time.Minute
)

// judgeAccount says whether the account of the credentials has shown that it has the applications of the Mandates. That
// is asked when the account is another one than before: until one of its reads shows a reference, or a person says so,
// it creates nothing. After a restart, the condition in the status tells that it was asked. The first account of a
// service is not asked: Mandates that name it may have applications at another one.
func (e *entry) judgeAccount(service connection.Service, found dependents, proofs []v1alpha1.SameAccount) {
	status, account := service.ServiceStatus(), e.made.account
	e.sameAccounts = connection.SameAccounts(account, connection.WithProofs(status.SameAccounts, proofs))
	before := connection.Account(status.Account)
	if e.judged != account {
		e.judged = account
		asked := meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionAccountChanged)
		e.unconfirmed = account != e.confirmed && before != "" && (asked || !slices.Contains(e.sameAccounts, before))
	}
	shown := slices.ContainsFunc(proofs, func(p v1alpha1.SameAccount) bool { return p.SameAs == string(account) })
	if shown || found.begun == 0 || connection.IsVouchedFor(service, account) {
		e.unconfirmed = false
	}
	switch {
	case !e.unconfirmed:
		e.accountState, e.confirmed = connection.AccountConfirmed, account
	case found.refused < min(enoughReads, found.created):
		e.accountState = connection.AccountSought
	default:
		e.accountState = connection.AccountRefuted
	}
	e.lookWithin = min(maxLookWithin, time.Duration(found.created)*readInterval)
}

// showAccount writes the account into the status, and what proves that it is the same as others.
func (e *entry) showAccount(status *v1alpha1.IdentityServiceStatus, proofs []v1alpha1.SameAccount) {
	if e.client == nil {
		return
	}
	status.Account = string(e.made.account)
	isPair := func(p v1alpha1.SameAccount) bool { return p.Account != p.SameAs }
	pairs := slices.DeleteFunc(slices.Clone(proofs), func(p v1alpha1.SameAccount) bool { return !isPair(p) })
	status.SameAccounts = connection.WithProofs(status.SameAccounts, pairs)
}
