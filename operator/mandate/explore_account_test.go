package mandate

import (
	"cmp"
	"fmt"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
)

// accountWith is what credentials say of the account.
func accountWith(credentials [32]byte) connection.Account {
	if credentials == inAnotherPlace {
		credentials = [32]byte{}
	}
	return connection.NewAccount(string(credentials[:]), "")
}

// madeWith reports whether a record says that it was made with some credentials.
func madeWith(credentials [32]byte, record *v1alpha1.ApplicationRecord) bool {
	return accountWith(credentials).Made(record)
}

// siteOfRecord is the account that a record is about.
func siteOfRecord(record *v1alpha1.ApplicationRecord) string {
	if madeWith(ofAnotherAccount, record) {
		return siteOf(record.Spec.ServiceURL, ofAnotherAccount)
	}
	return siteOf(record.Spec.ServiceURL, [32]byte{})
}

// siteOfConnection is the account that a connection leads to.
func siteOfConnection(c *connection.Connection) string { return siteOf(c.URL, c.Credentials) }

// checkAccount holds a call that acts on people to the account of the record (I17). By another name, it may do
// anything but send a create again whose outcome is unknown: nobody can prove then that it is the same account.
func (s *environment) checkAccount(op idv.Operation) {
	record := s.world.records[s.current.mandate.Name]
	used := &s.current.session.Connection
	switch {
	case record == nil || s.world.forgotten, madeWith(used.Credentials, record):
	case record.Spec.ApplicationID == nil, record.Spec.ServiceURL == used.URL && siteOfRecord(record) != s.site():
		s.violation = cmp.Or(s.violation, fmt.Sprintf("I17: %s is sent by another account than the record's", op))
	}
}

func (s *environment) site() string { return siteOfConnection(&s.current.session.Connection) }

// waitsForAccount reports whether a Mandate rightly waits for other credentials.
func (w *world) waitsForAccount(m *v1alpha1.Mandate, reason string) bool {
	record := w.records[m.Name]
	return reason == v1alpha1.ReasonAccountChanged && record != nil && !madeWith(w.credentials, record)
}
