package state

import (
	"time"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

const (
	// Retention is how long the service keeps an application (interface: Limits).
	Retention = 8 * 7 * 24 * time.Hour
	// archivedRetention is how long it keeps an archived one where that is longer.
	archivedRetention = 365 * 24 * time.Hour
)

// retentionRule is the part of a dialect that decides when applications expire.
type retentionRule struct{ start, archived string }

func retentionRuleOf(d dialect.Dialect) retentionRule {
	return retentionRule{d.RetentionStart, d.ArchivedRetention}
}

func (r retentionRule) expiry(app *application) time.Time {
	start, kept := app.created, Retention
	if r.start == dialect.RetentionLastChange {
		start = app.changed
	}
	if app.Archived && r.archived == dialect.ArchivedRetentionLonger {
		kept = archivedRetention
	}
	return start.Add(kept)
}

// expire removes the expired applications. Checking all of them each time would be
// slow, so nextExpiry is a lower bound of the next expiry.
func (a *Account) expire() {
	now, rule := a.clock.Now(), retentionRuleOf(a.dialect.Get())
	if rule == a.rule && (a.nextExpiry.IsZero() || now.Before(a.nextExpiry)) {
		return
	}
	a.rule, a.nextExpiry = rule, time.Time{}
	for _, app := range a.applications.live {
		if expiry := rule.expiry(app); now.Before(expiry) {
			a.scheduleExpiry(expiry)
		} else {
			a.remove(app, dialect.DeletedFreedByExpiry)
		}
	}
}

func (a *Account) scheduleExpiry(expiry time.Time) {
	if a.nextExpiry.IsZero() || expiry.Before(a.nextExpiry) {
		a.nextExpiry = expiry
	}
}

// remove removes an application. The dialect decides whether this kind of removal
// frees its references.
func (a *Account) remove(app *application, freedBy string) {
	rule := a.dialect.Get().DeletedReferences
	reserved := rule != "" && rule != freedBy
	a.applications.remove(app.ID)
	a.deleted[app.ID] = app.Overview
	if app.Reference != nil {
		a.references.remove(*app.Reference, app, reserved)
	}
	for _, person := range app.individuals {
		if a.individuals.live[person.ID] == person { // else a newer application has this id
			a.individuals.remove(person.ID)
		}
		a.individualReferences.remove(person.Reference, app, reserved)
		for _, c := range person.checks {
			a.checks.remove(c.ID)
		}
	}
	a.unsubscribe(app.ID)
}
