package mandate

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
)

// accountWith is what a base URL and credentials say of the account.
func accountWith(url string, credentials [32]byte) connection.Account {
	if credentials == inAnotherPlace {
		credentials = [32]byte{}
	}
	return connection.NewAccount(url, v1alpha1.GrantTypePassword, string(credentials[:]), "")
}

// account is what the IdentityService and its Secret say of the account.
func (w *world) account() connection.Account { return accountWith(w.url(), w.credentials) }

// accountChanges is after a user has changed the service or the Secret. The controller of services asks for a proof if
// a Mandate has an application, or may have one.
func (w *world) accountChanges() {
	w.unconfirmed = ""
	begun, _, _ := w.dependents()
	account := w.account()
	if begun > 0 && !slices.Contains(connection.SameAccounts(account, w.proofs), w.trusted) {
		w.unconfirmed = account
	} else {
		w.trusted = account
	}
}

// accountState is what the controller of services says of the account.
func (w *world) accountState() connection.AccountState {
	begun, created, refused := w.dependents()
	switch {
	case w.unconfirmed != w.account() || begun == 0:
		return connection.AccountConfirmed
	case refused < created:
		return connection.AccountSought
	default:
		return connection.AccountRefuted
	}
}

// notShown are the reasons of Mandates whose application the account did not show.
var notShown = []string{v1alpha1.ReasonAccountChanged, v1alpha1.ReasonIdentityServiceMismatch}

// dependents counts the Mandates that have an application without an outcome, or may have one, and what they say.
func (w *world) dependents() (begun, created, refused int) {
	for _, m := range w.mandates {
		ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
		switch {
		case m.Status.Outcome != "":
		case m.Status.ApplicationID != nil:
			begun++
			created++
			if ready != nil && slices.Contains(notShown, ready.Reason) {
				refused++
			}
		case is(m, v1alpha1.ConditionCreated) == metav1.ConditionUnknown:
			begun++
		}
	}
	return begun, created, refused
}

// prove takes over what a step has confirmed, as the controller of services does in the status.
func (s *environment) prove(r *Reconciler) {
	for _, key := range connectionKeys() {
		for _, proof := range r.config.Services.Connections.Proofs(key) {
			if !slices.Contains(s.world.proofs, proof) || s.world.unconfirmed == connection.Account(proof.SameAs) {
				s.dirty = true
				s.world.proofs = connection.WithProofs(s.world.proofs, []v1alpha1.SameAccount{proof})
				s.world.unconfirmed, s.world.trusted = "", s.world.account()
			}
		}
	}
}

// madeWith reports whether a record says that it was made with some credentials.
func madeWith(credentials [32]byte, record *v1alpha1.ApplicationRecord) bool {
	return connection.AccountOf(record) == accountWith(record.Spec.ServiceURL, credentials)
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
	lacks := record == nil || !ledger.MayExist(record) // and gets none by an account that has shown nothing
	return reason == v1alpha1.ReasonAccountChanged &&
		(lacks && w.accountState() != connection.AccountConfirmed || record != nil && !madeWith(w.credentials, record))
}
