package client_test

import (
	"errors"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// story is everything that a user of the service does, in the life of a few applications.
func story(t rapid.TB, chosen reading, secure bool) {
	w := newWorld(t, chosen, secure)
	defer w.close()
	defer func() { shows(w.t, "the log", w.logged.all()) }()
	if !w.login() {
		w.lockedOut()
		return
	}
	mandateType := w.referenceData()

	acme := w.create("create", w.newApplication("acme", mandateType))
	w.refusedCreates(acme, mandateType)
	w.readLag(acme)
	w.webhooks(acme)
	w.early(acme)
	w.mails(acme)
	w.review(acme)

	w.revoked(mandateType)
	w.suppressed(mandateType)
	w.archived(mandateType)
	w.eightWeeks(acme)
}

func (w *world) login() bool {
	_, err := w.do("login", control.Token, func() error {
		_, err := w.client.AccessToken(w.ctx)
		return err
	})
	usable := w.chosen.refusalOf("use") == nil
	return w.holds("login", err) && usable
}

// lockedOut is the story of a user without API permission: every request says so, and the client does not repeat its
// login.
func (w *world) lockedOut() {
	wanted := w.newApplication("acme", 17)
	for op, request := range map[control.Operation]func() error{
		control.CreateApplication:   func() error { return errorOf(w.client.CreateApplication(w.ctx, wanted)) },
		control.RetrieveApplication: func() error { return errorOf(w.client.RetrieveApplication(w.ctx, 4711)) },
		control.CompleteApplication: func() error {
			return errorOf(w.client.CompleteApplication(w.ctx, 4711, client.State{}))
		},
		control.ResendInvites: func() error { return errorOf(w.client.ResendInvites(w.ctx, 4711)) },
		control.References:    func() error { return errorOf(w.client.RetrieveReferences(w.ctx)) },
	} {
		step := "use"
		if emailing[op] {
			step = "send"
		}
		did, err := w.do(step, op, request)
		w.holds(step, err)
		if did.changed {
			w.t.Errorf("%s changed something", op)
		}
	}
	if logins := w.seen.Requests(control.Token); logins > 2 && w.chosen["rateLimit"] == "0" {
		w.t.Errorf("%d logins", logins)
	}
}

// referenceData gives the id of the mandate type that the story uses.
func (w *world) referenceData() int64 {
	var references *client.References
	_, err := w.do("references", control.References, func() (err error) {
		references, err = w.client.RetrieveReferences(w.ctx)
		return err
	})
	if !w.holds("references", err) {
		w.t.FailNow()
	}
	find := func(list []client.Reference, want client.Reference) (found client.Reference) {
		if matches := client.MatchReferences(list, want); len(matches) == 1 {
			found = matches[0]
		}
		return found
	}
	kyc := find(references.MandateTypes, client.Reference{Code: "kyc"})
	byName := find(references.MandateTypes, client.Reference{Name: "know your customer"})
	byID := find(references.MandateTypes, client.Reference{ID: 17})
	if kyc.ID != 17 || byName != kyc || byID != kyc || len(references.MandateTypes) != 3 {
		w.t.Errorf("mandate types %+v", references.MandateTypes)
	}
	country := find(references.Countries, client.Reference{Code: "GB"})
	passport := find(references.DocumentTypes, client.Reference{Code: "passport"})
	if country.Name != "United Kingdom" || passport.Name != "Passport" || len(references.Countries) != 5 ||
		len(references.DocumentTypes) != 3 {
		w.t.Errorf("countries %+v, documents %+v", references.Countries, references.DocumentTypes)
	}
	return kyc.ID
}

func (w *world) newApplication(name string, mandateType int64) client.NewApplication {
	wanted := client.NewApplication{
		Name: client.Hide(canary + " " + name), Reference: canary + "-" + name, MandateTypeID: mandateType,
	}
	for _, person := range []string{"jane", "john"} {
		wanted.Individuals = append(wanted.Individuals, client.NewIndividual{
			Reference:   client.Hide(canary + "-" + name + "-" + person),
			Email:       client.Hide(canary + "." + name + "." + person + "@example.com"),
			Title:       client.Hide("Ms"),
			FirstName:   client.Hide(canary),
			MiddleName:  new(client.Hide(canary)),
			LastName:    client.Hide(canary + person),
			DateOfBirth: client.Hide(dateOfBirth),
			Gender:      client.Hide("female"),
		})
	}
	return wanted
}

// create makes an application, and holds that it exists once, with its invites and the id that was returned, or not at
// all.
func (w *world) create(step string, wanted client.NewApplication) control.Application {
	w.t.Helper()
	var application *client.Application
	did, err := w.do(step, control.CreateApplication, func() (err error) {
		application, err = w.client.CreateApplication(w.ctx, wanted)
		return err
	})
	if len(did.created) == 0 {
		w.holds(step, err)
		if len(did.emails) > 0 || err == nil {
			w.t.Errorf("%s: nothing was created, but there are %d e-mails, and the error is %v", step, len(did.emails), err)
		}
		return control.Application{}
	}
	if refused := w.chosen.refusalOf(step); len(did.created) > 1 || refused != nil && step != "create" {
		w.t.Errorf("%s: %d were created", step, len(did.created))
	}
	made := did.created[0]
	if w.holds("create", err) {
		w.same(step, application, made)
		if len(application.Raw.Reveal()) == 0 {
			w.t.Errorf("%s: no raw JSON", step)
		}
	}
	if failure, ok := errors.AsType[*client.Error](err); ok && failure.Outcome == client.Candidate &&
		failure.Candidate != made.ID && w.chosen["createBody"] != "job" {
		w.t.Errorf("%s: the candidate is %d, want %d", step, failure.Candidate, made.ID)
	}
	var invited, want []string
	for _, email := range did.emails {
		invited = append(invited, string(email.Kind)+" "+email.Address)
	}
	for _, person := range wanted.Individuals {
		if !wanted.SuppressEmailNotification {
			want = append(want, "invite "+person.Email.Reveal())
		}
	}
	slices.Sort(invited)
	if !slices.Equal(invited, want) || made.Reference != wanted.Reference || made.Name != wanted.Name.Reveal() {
		w.t.Errorf("%s: created %+v with %v, want %v", step, made, invited, want)
	}
	return made
}

func (w *world) refusedCreates(acme control.Application, mandateType int64) {
	again := w.newApplication("again", mandateType)
	again.Reference = acme.Reference
	w.create("duplicate", again)

	letters := w.newApplication("letters", mandateType)
	letters.Reference = strings.ToUpper(acme.Reference)
	w.create("duplicate in other letters", letters)

	people := w.newApplication("people", mandateType)
	people.Individuals[1].Reference = client.Hide(acme.Individuals[0].Reference)
	w.create("duplicate individual", people)

	w.create("wrong type", w.newApplication("type", 999))
}

// readLag holds that a new application is not known for as long as the service says, and from then on is.
func (w *world) readLag(acme control.Application) {
	unknown := 0
	for {
		_, err := w.retrieve("retrieve", acme.ID)
		isUnknown := client.IsNotFound(err) || client.KindOf(err) == client.KindUnproven && w.chosen.problemless()
		if isUnknown && unknown < 10 {
			unknown++
			continue
		}
		w.holds("retrieve", err)
		break
	}
	if lag := w.chosen["readLag"]; lag != string(rune('0'+unknown)) {
		w.t.Errorf("not known in %d looks, the service said %s", unknown, lag)
	}
	_, err := w.retrieve("what never was", acme.ID+1<<30) // no id that was given is so much larger
	w.holds("what never was", err)
}

func (w *world) retrieve(step string, id int64) (*client.Application, error) {
	var application *client.Application
	_, err := w.do(step, control.RetrieveApplication, func() (err error) {
		application, err = w.client.RetrieveApplication(w.ctx, id)
		return err
	})
	return application, err
}

// settled reads an application beyond the read lag.
func (w *world) settled(id int64) *client.Application {
	w.t.Helper()
	for range 10 {
		if application, err := w.retrieve("retrieve", id); err == nil {
			w.same("retrieve", application, w.known(id))
			return application
		}
	}
	w.t.Fatalf("an application cannot be read")
	return nil
}

// known is what the sandbox knows of an application.
func (w *world) known(id int64) control.Application {
	for i := range w.seen.applications {
		if w.seen.applications[i].ID == id {
			return w.seen.applications[i]
		}
	}
	return control.Application{}
}

// eightWeeks moves the clock beyond the retention, and beyond the life of every token.
func (w *world) eightWeeks(acme control.Application) {
	if _, err := w.control.Advance(w.ctx, 57*24*time.Hour); err != nil {
		w.t.Fatal(err)
	}
	w.look()
	if w.chosen["tokenRefusal"] == "403" { // the reference data shows that it is not about an application
		_, err := w.do("references", control.References, func() error { return errorOf(w.client.RetrieveReferences(w.ctx)) })
		w.holds("references", err)
	}
	_, err := w.retrieve("what is gone", acme.ID)
	w.holds("what is gone", err)
}
