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
	return c.HasOtherName(record) && !c.Vouched && !c.IsSame(AccountOf(record))
}

// IsSame reports whether an account has shown to be the one of the connection.
func (c *Connection) IsSame(account Account) bool {
	return account != "" && slices.Contains(c.SameAccounts, account)
}

// HasOtherName reports whether a record is about another account than that of the connection, by name.
func (c *Connection) HasOtherName(record *v1alpha1.ApplicationRecord) bool {
	return c.Account != "" && AccountOf(record) != c.Account
}
