package connection

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// Account is whom the service sees by way of a connection: a digest of the user name and the client id. Both may be
// personal data, so neither they nor this digest, which anybody could compute, leave the process: Digest has a key.
type Account [sha256.Size]byte

// NewAccount makes an Account of a user name and a client id, of which one may be empty.
func NewAccount(username, clientID string) Account {
	text := binary.BigEndian.AppendUint64(nil, uint64(len(username)))
	return sha256.Sum256(append(append(text, username...), clientID...))
}

// Digest names the account to others, by a key of theirs: the salt of a record, or the UID of a service.
func (a Account) Digest(key string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write(a[:])
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// shownAccount is how many digits the status of a service shows: a person names it, and nobody else can choose one.
const shownAccount = 16

// ShownAccount is what the status of a service shows of the account that its credentials belong to.
func ShownAccount(service Service, account Account) string {
	return account.Digest(string(service.GetUID()))[:shownAccount]
}

// VouchedAccount is the account of which a person says so at a service; "" if there is none.
func VouchedAccount(service client.Object) string {
	if account := service.GetAnnotations()[v1alpha1.SameAccountAnnotation]; len(account) == shownAccount {
		return account
	}
	return ""
}

// IsVouchedFor reports whether a person says that the account is the one that the applications were created with,
// whatever it was called then.
func IsVouchedFor(service Service, account Account) bool {
	return VouchedAccount(service) == ShownAccount(service, account)
}

// IsOther reports whether a record was made for another account than that of the connection, if that is known.
func (c *Connection) IsOther(record *v1alpha1.ApplicationRecord) bool {
	return c.Account != (Account{}) && !c.Account.Made(record)
}

// Made reports whether a record was made for this account.
func (a Account) Made(record *v1alpha1.ApplicationRecord) bool {
	return record.Spec.Account == a.Digest(record.Spec.Salt)
}
