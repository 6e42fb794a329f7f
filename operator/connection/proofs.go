package connection

import (
	"slices"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// maxProofs is how many proofs the status of a service holds. The oldest go first: they are found again.
const maxProofs = 20

// Prove notes that the account of a connection has read an application that another account has created, or the same
// one: both are one account. The controller of services is told of what is new. It does not block.
func (r *Registry) Prove(key Key, created, reads Account) {
	proof := v1alpha1.SameAccount{Account: string(created), SameAs: string(reads)}
	r.mu.Lock()
	known := slices.Contains(r.proofs[key], proof)
	if !known {
		r.proofs[key] = WithProofs(r.proofs[key], []v1alpha1.SameAccount{proof})
	}
	r.mu.Unlock()
	if !known {
		r.ServiceChanged(key)
	}
}

// Proofs are those that this process has found for a connection.
func (r *Registry) Proofs(key Key) []v1alpha1.SameAccount {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.proofs[key])
}

// WithProofs are the proofs with more of them, the newest last.
func WithProofs(proofs, more []v1alpha1.SameAccount) []v1alpha1.SameAccount {
	all := slices.Clone(proofs)
	for _, proof := range more {
		if !slices.Contains(all, proof) {
			all = append(all, proof)
		}
	}
	return all[max(0, len(all)-maxProofs):]
}

// SameAccounts are the accounts that proofs show to be the same as one, in any number of steps. It is one of them.
func SameAccounts(account Account, proofs []v1alpha1.SameAccount) []Account {
	same := []Account{account}
	for i := 0; i < len(same); i++ {
		for _, proof := range proofs {
			for _, pair := range [][2]Account{
				{Account(proof.Account), Account(proof.SameAs)}, {Account(proof.SameAs), Account(proof.Account)},
			} {
				if pair[0] == same[i] && !slices.Contains(same, pair[1]) {
					same = append(same, pair[1])
				}
			}
		}
	}
	return same
}
