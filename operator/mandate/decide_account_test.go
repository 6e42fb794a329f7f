package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// otherAccounts are the cases of credentials that may belong to another account.
func otherAccounts() map[string]decideCase {
	return map[string]decideCase{
		"a lost create of another account while a proof is sought that the account is the same": {
			facts: newMandate(func(f *facts) {
				f.record = sent(91*time.Second, func(r *recordFacts) { r.account = accountOther })
				f.service.Account = connection.AccountSought
			}),
			want: wait(v1alpha1.ReasonAccountChanged),
		},
		"a lost create of an account that is the same": {
			why: "credentials that may read the application can be another account's, and nothing proves what was never seen",
			facts: newMandate(func(f *facts) {
				f.record = unclear(91*time.Second, func(r *recordFacts) { r.account = accountRenamed })
			}),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"a new Mandate while a proof is sought that the account is the one of the others": {
			why:   "its application could become another account's",
			facts: newMandate(func(f *facts) { f.service.Account = connection.AccountSought }),
			want:  wait(v1alpha1.ReasonAccountChanged),
		},
		"a new Mandate after none was found": {
			facts: newMandate(func(f *facts) { f.service.Account = connection.AccountRefuted }),
			want:  wait(reasonOtherAccount),
		},
	}
}
