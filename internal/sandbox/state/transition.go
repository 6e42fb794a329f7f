package state

import (
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// Archive marks an application as archived.
func (a *Account) Archive(id int64) (Application, error) {
	archive := func(app *application) (func(), error) {
		switch {
		case !app.Archived:
			return func() {
				app.Archived = true
				a.touch(app)
				a.publish(app, "application.archived", 0)
			}, nil
		case a.dialect.Get().RepeatedArchive == dialect.RepeatedArchiveRefused:
			return nil, &RefusedError{Reason: "the application is already archived"}
		default:
			return nothing, nil
		}
	}
	return change(a, control.ArchiveApplication, &a.applications, id, archive, a.view)
}

// Complete concludes an application that is in review.
func (a *Account) Complete(id int64) (Application, error) {
	return a.conclude(control.CompleteApplication, id, statusCompleted)
}

// Reject rejects an application that is in review.
func (a *Account) Reject(id int64) (Application, error) {
	return a.conclude(control.RejectApplication, id, statusRejected)
}

func (a *Account) conclude(op control.Operation, id int64, outcome Status) (Application, error) {
	conclude := func(app *application) (func(), error) {
		d := a.dialect.Get()
		switch {
		case app.Archived && d.ArchivedTransition == dialect.ArchivedTransitionRefused:
			return nil, &RefusedError{Reason: "the application is archived"}
		case app.Status == outcome && d.RepeatedTransition == dialect.RepeatedTransitionOK:
			return nothing, nil
		case app.Status != statusInReview:
			return nil, &RefusedError{Reason: "the application is not in review"}
		case outcome == statusCompleted && a.undecided(app):
			return nil, &RefusedError{Reason: "the application has checks in review", Undecided: true}
		default:
			return func() { a.setStatus(app, outcome) }, nil
		}
	}
	return change(a, op, &a.applications, id, conclude, a.view)
}

// SetState moves an application to any state, as somebody at the service can. A state that the sandbox does not have
// is final.
func (a *Account) SetState(wanted control.StateChange) (control.Application, error) {
	if wanted.State == "" {
		return control.Application{}, InvalidField("state", "must not be empty")
	}
	defer a.lock()()
	app, err := a.find(wanted.ApplicationID, wanted.Reference)
	if err != nil {
		return control.Application{}, err
	}
	a.setStatus(app, statusNamed(wanted.State))
	return a.summary(app), nil
}

// updateStatus derives the state of an application from its individuals.
func (a *Account) updateStatus(app *application) {
	if app.Status.final() {
		return
	}
	started := false
	done, passed := true, true
	for _, person := range app.individuals {
		started = started || person.TermsAccepted
		done = done && person.done()
		passed = passed && person.status() == individualCompleted
		a.publishCompletion(person)
	}
	switch {
	case done || app.initialStatus == statusInReview:
		a.setStatus(app, statusInReview)
	case started || app.Status != app.initialStatus:
		a.setStatus(app, statusInProgress)
	}
	if passed && a.dialect.Get().Completion == dialect.CompletionByItself {
		a.setStatus(app, statusCompleted)
	}
}

func (a *Account) setStatus(app *application, status Status) {
	if app.Status != status {
		app.Status = status
		a.touch(app)
		a.publish(app, "application."+status.event(), 0)
	}
}

// touch sets the time of the last change. The clock can have been set back since the previous one.
func (a *Account) touch(app *application) {
	app.changed = a.clock.Now()
	a.scheduleExpiry(a.rule.expiry(app))
}

// undecided is true if a check in review blocks complete.
func (a *Account) undecided(app *application) bool {
	if a.dialect.Get().UndecidedChecks == dialect.UndecidedAllow {
		return false
	}
	for _, person := range app.individuals {
		if person.count(checkInReview) > 0 {
			return true
		}
	}
	return false
}
