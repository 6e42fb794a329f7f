package state

import "github.com/mandate-io/idv/internal/sandbox/dialect"

// Archive marks an application as archived.
func (a *Account) Archive(id int64) (Application, error) {
	defer a.lock()()
	app, ok := a.applications[id]
	switch {
	case !ok:
		return Application{}, ErrNotFound
	case !app.Archived:
		app.Archived = true
		a.touch(app)
		a.publish(app, "application.archived", 0)
	case a.dialect.Get().RepeatedArchive == dialect.RepeatedArchiveRefused:
		return Application{}, &RefusedError{Reason: "the application is already archived"}
	}
	return a.view(app), nil
}

// Complete concludes an application that is in review.
func (a *Account) Complete(id int64) (Application, error) {
	return a.conclude(id, statusCompleted)
}

// Reject rejects an application that is in review.
func (a *Account) Reject(id int64) (Application, error) {
	return a.conclude(id, statusRejected)
}

func (a *Account) conclude(id int64, outcome Status) (Application, error) {
	defer a.lock()()
	app, ok := a.applications[id]
	if !ok {
		return Application{}, ErrNotFound
	}
	d := a.dialect.Get()
	switch {
	case app.Archived && d.ArchivedTransition == dialect.ArchivedTransitionRefused:
		return Application{}, &RefusedError{Reason: "the application is archived"}
	case app.Status == outcome && d.RepeatedTransition == dialect.RepeatedTransitionOK:
		return a.view(app), nil
	case app.Status != statusInReview:
		return Application{}, &RefusedError{Reason: "the application is not in review"}
	case outcome == statusCompleted && a.undecided(app):
		return Application{}, &RefusedError{
			Reason: "the application has checks in review", Undecided: true,
		}
	}
	a.setStatus(app, outcome)
	return a.view(app), nil
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
