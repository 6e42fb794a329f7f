package state

import (
	"crypto/rand"
	"slices"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// Outbox returns the e-mails that were sent, oldest first. They outlive their
// applications: they prove who got e-mails.
func (a *Account) Outbox() []control.Email {
	defer a.lock()()
	return slices.Clone(a.emails)
}

func (a *Account) send(kind control.EmailKind, person *individual) {
	app := person.application
	inviteOnly := a.dialect.Get().Suppress == dialect.SuppressInvite
	if person.Email == "" || app.suppressed && (kind == control.Invite || !inviteOnly) {
		return
	}
	person.inviteCode = rand.Text()[:10]
	email := control.Email{
		Sequence: int64(len(a.emails)) + 1, Time: a.clock.Now(), Kind: kind,
		ApplicationID: app.ID, IndividualID: person.ID, IndividualReference: person.Reference,
		Address: person.Email, InviteCode: person.inviteCode,
		Recipient: person.fullName(), ApplicationName: app.Name, MandateType: app.MandateType.Name,
	}
	if app.Reference != nil {
		email.Reference = *app.Reference
	}
	a.emails = append(a.emails, email)
}
