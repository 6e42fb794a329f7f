package connection

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// Account is whom the service sees by way of a connection: a digest of the base URL, the grant type, and the user name
// and client id that are sent. Records and the status of services have it, so that anybody can compare them. "" is not
// known.
type Account string

// accountDigits is how many digits an Account has.
const accountDigits = 32

// NewAccount makes an Account. The base URL is in its normal form; the user name or the client id may be empty.
func NewAccount(baseURL string, grant v1alpha1.GrantType, username, clientID string) Account {
	h := sha256.New()
	for _, part := range []string{baseURL, string(grant), username, clientID} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return Account(hex.EncodeToString(h.Sum(nil))[:accountDigits])
}

// AccountOf is the account that a record is about.
func AccountOf(record *v1alpha1.ApplicationRecord) Account { return Account(record.Spec.Account) }

// VouchedAccount is the account of which a person says so at a service; "" if there is none.
func VouchedAccount(service client.Object) string {
	if account := service.GetAnnotations()[v1alpha1.SameAccountAnnotation]; len(account) == accountDigits {
		return account
	}
	return ""
}

// IsVouchedFor reports whether a person says that the account is the one that the applications were created with,
// whatever it was called then.
func IsVouchedFor(service Service, account Account) bool {
	return account != "" && VouchedAccount(service) == string(account)
}

// AccountState says whether the account of a connection has shown that it has the applications of its Mandates. Until
// then, nothing is created by it: the credentials may be those of another account.
type AccountState int

const (
	// AccountConfirmed is also that of a connection whose account did not change, or that has no applications.
	AccountConfirmed AccountState = iota
	// AccountSought is while applications are read with it.
	AccountSought
	// AccountRefuted is after enough of them were read, and none has shown its reference. A person has to act.
	AccountRefuted
)

// IsOther reports whether a record is about another account than that of the connection, and nobody knows that both are
// the same.
func (c *Connection) IsOther(record *v1alpha1.ApplicationRecord) bool {
	return c.HasOtherName(record) && !c.Vouched && !slices.Contains(c.SameAccounts, AccountOf(record))
}

// HasOtherName reports whether a record is about another account than that of the connection, by name.
func (c *Connection) HasOtherName(record *v1alpha1.ApplicationRecord) bool {
	return c.Account != "" && AccountOf(record) != c.Account
}

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
		r.BreakerChanged(key)
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
