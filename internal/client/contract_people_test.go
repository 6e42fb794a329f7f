package client_test

import (
	"fmt"
	"strings"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// stateNames are the further names that the user of such a service configures.
func (w *world) stateNames() lifecycle.Names {
	names := map[string]lifecycle.Names{
		"other": {
			InReview: []string{"under review"}, Completed: []string{"closed"}, Rejected: []string{"refused"},
		},
		"approved": {
			InReview: []string{"awaiting decision"}, Completed: []string{"approved"}, Rejected: []string{"denied"},
		},
		"german": {
			InReview: []string{"in Prüfung"}, Completed: []string{"abgeschlossen"}, Rejected: []string{"abgelehnt"},
		},
		"codes": {InReview: []string{"S21"}, Completed: []string{"S34"}, Rejected: []string{"S35"}},
	}
	if w.chosen["statusShape"] == "integer" {
		return lifecycle.Names{InReview: []string{"21"}, Completed: []string{"34"}, Rejected: []string{"35"}}
	}
	return names[w.chosen["stateNames"]]
}

// same compares what the client read with what the sandbox knows.
func (w *world) same(step string, got *client.Application, want control.Application) {
	w.t.Helper()
	if w.chosen["applicationReference"] == "hidden" {
		want.Reference = ""
	}
	stage, read := lifecycle.Names{}.Stage(client.State{Name: want.State}), w.stateNames().Stage(got.State)
	if read == lifecycle.Unknown {
		read = lifecycle.Open // nobody has to explain what comes before the review
	}
	if got.ID != want.ID || got.Reference != want.Reference || got.Name.Reveal() != want.Name ||
		got.Archived != want.Archived ||
		got.MandateType.Name != want.MandateType || got.MandateType.ID == 0 || read != stage ||
		got.State == (client.State{}) {
		w.t.Errorf("%s: read %+v, want %+v", step, got, want)
	}
	if len(got.Individuals) != 0 && len(got.Individuals) != len(want.Individuals) {
		w.t.Errorf("%s: read %d individuals, want %d", step, len(got.Individuals), len(want.Individuals))
	}
	for i := range got.Individuals { // in any order
		for _, individual := range want.Individuals {
			if individual.ID == got.Individuals[i].ID {
				w.samePerson(step, &got.Individuals[i], individual, w.chosen["checks"] != "individual_only")
			}
		}
	}
}

// samePerson compares an individual, with the checks if the response has to show them.
func (w *world) samePerson(step string, got *client.Individual, want control.Individual, withChecks bool) {
	w.t.Helper()
	if w.chosen["individualReference"] == "hidden" {
		want.Reference = ""
	}
	states := map[string]int32{}
	found := 0
	for _, check := range want.Checks {
		states[check.State]++
		for _, shown := range got.Checks { // in any order
			if shown.ID == check.ID && shown.Name == check.Name && shown.State != (client.State{}) {
				found++
			}
		}
	}
	if withChecks && (found != len(want.Checks) || found != len(got.Checks)) || !withChecks && len(got.Checks) > 0 {
		w.t.Errorf("%s: read checks %+v, want %+v", step, got.Checks, want.Checks)
	}
	counted := got.ChecksPending == states["pending"] && got.ChecksInReview == states["in review"] &&
		got.ChecksPassed == states["passed"]+states["manually_accepted"]
	if !counted && w.chosen["manualCounters"] == "recounted" {
		w.t.Errorf(
			"%s: counted %d pending, %d in review and %d passed of %v", step, got.ChecksPending, got.ChecksInReview,
			got.ChecksPassed, states,
		)
	}
	if got.ID != want.ID || got.Reference.Reveal() != want.Reference || got.TermsAccepted != want.TermsAccepted ||
		got.State == (client.State{}) || (len(got.CompletedActions) > 0) != want.ActionsCompleted {
		w.t.Errorf("%s: read %+v, want %+v", step, got, want)
	}
}

// early is what cannot be done before the people have done their part.
func (w *world) early(acme control.Application) {
	jane, john := acme.Individuals[0], acme.Individuals[1]
	if acme.State != "in review" {
		w.transition("complete early", control.CompleteApplication, acme.ID)
	}
	_, err := w.do("report early", control.IndividualReport, func() error {
		return errorOf(w.client.IndividualReport(w.ctx, jane.ID, 1<<20))
	})
	w.holds("report early", err)
	w.decide("decide early", control.AcceptCheck, john.Checks[0].ID, 0)
	for _, person := range []control.Individual{jane, john} {
		var got *client.Individual
		_, err := w.do("retrieve individual", control.RetrieveIndividual, func() (err error) {
			got, err = w.client.RetrieveIndividual(w.ctx, person.ID)
			return err
		})
		if w.holds("retrieve individual", err) {
			w.samePerson("retrieve individual", got, w.person(acme.ID, person.ID), true)
		}
	}
}

func (w *world) person(application, id int64) control.Individual {
	for _, person := range w.known(application).Individuals {
		if person.ID == id {
			return person
		}
	}
	return control.Individual{}
}

// mails resends one invite and resets the other individual: one e-mail each, to whom it is for.
func (w *world) mails(acme control.Application) {
	jane, john := acme.Individuals[0].ID, acme.Individuals[1].ID
	w.mail("resend", control.ResendInvites, jane, 1, func() error { return errorOf(w.client.ResendInvites(w.ctx, jane)) })
	reset := func() error { return errorOf(w.client.ResetIndividual(w.ctx, john)) }
	w.mail("reset", control.ResetIndividual, john, 1, reset)
	if w.chosen.refusalOf("reset") == nil {
		w.settled(acme.ID) // with the ids that the checks have now
	}
}

// forms are how many forms a client tries of a request without a documented payload.
var forms = map[string]int{"empty": 2, "empty_typed": 2, "empty_untyped": 3}

func (w *world) mail(step string, op control.Operation, to int64, mails int, request func() error) {
	w.t.Helper()
	did, err := w.do(step, op, request)
	for tries := forms[w.chosen["resendResetBody"]]; tries > 1 && err != nil && w.chosen.refusalOf(step) == nil; tries-- {
		if client.OutcomeOf(err).NothingDone() == w.chosen.problemless() || len(did.emails) > 0 || did.requests != 1 {
			w.t.Errorf("%s: %v, with %d requests and %d e-mails", step, err, did.requests, len(did.emails))
		}
		did, err = w.do(step, op, request) // a person tries again, and the client sends another form
	}
	if !w.holds(step, err) {
		mails = 0
	}
	if len(did.emails) != mails || mails > 0 && (did.emails[0].IndividualID != to ||
		!strings.HasPrefix(string(op), string(did.emails[0].Kind))) {
		w.t.Errorf("%s: e-mails %+v, want %d", step, did.emails, mails)
	}
}

// review is the part of the story from the people's last step to the end of the application.
func (w *world) review(acme control.Application) {
	jane, john := acme.Individuals[0], acme.Individuals[1]
	w.play(control.Play{ApplicationID: acme.ID, Individual: fmt.Sprint(john.ID), Result: control.ResultPass})
	w.play(control.Play{ApplicationID: acme.ID, Individual: fmt.Sprint(jane.ID), Result: control.ResultReview})
	if got := w.settled(acme.ID); len(got.Individuals) != 2 || w.stateNames().Stage(got.State) != lifecycle.InReview {
		w.t.Errorf("in review: %+v", got)
	}
	checks := w.person(acme.ID, jane.ID).Checks
	if !w.decide("decide", control.AcceptCheck, checks[0].ID, 0) {
		w.decide("decide with a reference", control.AcceptCheck, checks[0].ID, checks[0].ID)
	}
	w.decide("decide again", control.AcceptCheck, checks[0].ID, checks[0].ID)
	w.decide("decide with a reference", control.RejectCheck, checks[1].ID, checks[1].ID)
	w.decide("decide with a reference", control.AcceptCheck, checks[2].ID, checks[2].ID)
	w.settled(acme.ID)

	w.transition("complete", control.CompleteApplication, acme.ID)
	w.transition("complete again", control.CompleteApplication, acme.ID)
	w.mail(
		"resend when concluded", control.ResendInvites, jane.ID, 0,
		func() error { return errorOf(w.client.ResendInvites(w.ctx, jane.ID)) },
	)
	w.report(jane.ID)
	w.settled(acme.ID)
}

func (w *world) play(play control.Play) {
	w.t.Helper()
	if _, err := w.control.Play(w.ctx, play); err != nil {
		w.t.Fatal(err)
	}
	w.look()
}

// decide accepts or rejects a check by hand, and holds that it has that state then, and before if it was refused.
func (w *world) decide(step string, op control.Operation, check, reference int64) bool {
	w.t.Helper()
	decide, want := w.client.AcceptCheck, "manually_accepted"
	if op == control.RejectCheck {
		decide, want = w.client.RejectCheck, "manually_rejected"
	}
	_, err := w.do(step, op, func() error {
		_, err := decide(
			w.ctx, check,
			client.CheckReview{Comment: client.Hide(canary), CommentFor: "IndividualCheck", Reference: reference},
		)
		return err
	})
	done := w.holds(step, err)
	if state := w.checkState(check); done && state != want {
		w.t.Errorf("%s: the check is %s", step, state)
	}
	return done
}

func (w *world) checkState(id int64) string {
	for i := range w.seen.applications {
		for _, person := range w.seen.applications[i].Individuals {
			for _, check := range person.Checks {
				if check.ID == id {
					return check.State
				}
			}
		}
	}
	return ""
}

// transition completes or rejects, and holds that success and the state are the same thing.
func (w *world) transition(step string, op control.Operation, id int64) {
	w.t.Helper()
	transition, want := w.client.CompleteApplication, "completed"
	if op == control.RejectApplication {
		transition, want = w.client.RejectApplication, "rejected"
	}
	seen := w.settled(id).State
	var got *client.Change
	request := func() (err error) {
		got, err = transition(w.ctx, id, seen)
		return err
	}
	did, err := w.do(step, op, request)
	// As long as nothing proves what is refused, the next request has another method or form.
	for more := 3; more > 0 && client.OutcomeOf(err) == client.Unknown && !did.changed &&
		w.chosen.problemless() && w.chosen.refusalOf(step) == nil; more-- { // two methods, three forms
		did, err = w.do(step, op, request)
	}
	done, known := w.holds(step, err), w.known(id)
	if done && known.State != want {
		w.t.Errorf("%s: the application is %s", step, known.State)
	}
	if done && got.Application != nil {
		w.same(step, got.Application, known)
	}
}

func (w *world) report(individual int64) {
	var downloaded *client.Report
	_, err := w.do("report", control.IndividualReport, func() (err error) {
		downloaded, err = w.client.IndividualReport(w.ctx, individual, 1<<20)
		return err
	})
	want, prefix := "application/json", "{"
	if w.chosen["reportFormat"] == "pdf" {
		want, prefix = "application/pdf", "%PDF"
	}
	if w.holds("report", err) &&
		(downloaded.ContentType != want || !strings.HasPrefix(string(downloaded.Content), prefix)) {
		w.t.Errorf("a report of type %q that begins with %.10q", downloaded.ContentType, downloaded.Content)
	}
}
