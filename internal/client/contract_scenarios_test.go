package client_test

import (
	"encoding/json"
	"slices"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

const hook = "https://hooks.example.com/" + canary

// webhooks subscribes twice, finds the subscription again, and sees the service deliver.
func (w *world) webhooks(acme control.Application) {
	subscription := client.Subscription{
		URL: client.Hide(hook), Events: []string{"application.completed"}, ApplicationID: acme.ID,
	}
	if required := w.chosen["subscribeRequired"]; required != "none" {
		subscription.Payload = client.Hide(json.RawMessage(`{"` + required + `":"` + canary + `"}`))
	}
	if w.chosen["subscribeApplication"] == "refused" {
		subscription.ApplicationID = 0
	}
	var urlNames []string
	if w.chosen["subscribeFields"] == "renamed" {
		subscription.FieldNames = map[string]string{
			"url": "target_url", "events": "event_types", "application_id": "mandate_id",
		}
		urlNames = []string{"target_url"}
	}
	for _, step := range []string{"subscribe", "subscribe again"} {
		_, err := w.do(step, control.SubscribeWebhook, func() error {
			_, err := w.client.SubscribeWebhook(w.ctx, subscription)
			return err
		})
		w.holds(step, err)
	}
	var webhooks *client.Webhooks
	_, err := w.do("find webhook", control.RetrieveWebhook, func() (err error) {
		webhooks, err = w.client.RetrieveWebhook(w.ctx, acme.ID, urlNames...)
		return err
	})
	missing := w.chosen.refusalOf("find webhook") != nil
	switch {
	case missing && err == nil && len(webhooks.Items) == 0:
		return // a list that holds none says the same as a 404
	case !w.holds("find webhook", err):
		return
	}
	found := webhooks.WithURL(hook)
	if len(found) == 0 || found[0].ID == 0 || !slices.Equal(found[0].Events, subscription.Events) {
		w.t.Errorf("found %+v", webhooks.Items)
	}
	whole := w.chosen["retrieveWebhook"] != "object"
	if webhooks.Complete != whole {
		w.t.Errorf("complete: %v, although the answer is of shape %s", webhooks.Complete, w.chosen["retrieveWebhook"])
	}
}

// revoked holds that a token that is suddenly worth nothing costs one login, and neither an e-mail that is not known
// nor a second one: the create is refused, and succeeds when it is made again.
func (w *world) revoked(mandateType int64) {
	if _, err := w.control.RevokeTokens(w.ctx); err != nil {
		w.t.Fatal(err)
	}
	logins := w.seen.Logins
	wanted := w.newApplication("revoked", mandateType)
	var made *client.Application
	did, err := w.do("revoked", control.CreateApplication, func() (err error) {
		made, err = w.client.CreateApplication(w.ctx, wanted)
		return err
	})
	switch {
	case err == nil || len(did.created) > 0: // the client had got another token before
		if w.holds("create", err) {
			w.same("revoked", made, did.created[0])
		}
	default:
		outcome, kind := client.Refused, client.KindExpiredToken
		if refusal := w.chosen["tokenRefusal"]; refusal == "redirect" || refusal == "html_200" {
			outcome, kind = client.Unknown, client.KindUnreadable
		}
		if w.chosen.problemless() && w.chosen["tokenRefusal"] == "403" {
			outcome, kind = client.Unknown, client.KindUnproven
		}
		unclear := client.IsForbidden(err) && w.chosen["rateLimit"] != "0" // then the client may have no time to find out
		if (client.OutcomeOf(err) != outcome || client.KindOf(err) != kind) && !unclear {
			w.t.Errorf("revoked: %v", err)
		}
		w.create("create", wanted)
	}
	slow := w.chosen["tokenLifetime"] != "0" || w.chosen["rateLimit"] != "0"
	if more := w.seen.Logins - logins; more != 1 && !slow {
		w.t.Errorf("%d logins after the tokens were revoked", more)
	}
}

// suppressed is the life of an application whose people get no mail, which ends with its deletion.
func (w *world) suppressed(mandateType int64) {
	wanted := w.newApplication("suppressed", mandateType)
	wanted.SuppressEmailNotification = true
	globex := w.create("create", wanted)
	mails := 0
	if w.chosen["suppress"] == "invite" {
		mails = 1
	}
	jane := globex.Individuals[0].ID
	resend := func() error { return errorOf(w.client.ResendInvites(w.ctx, jane)) }
	w.mail("resend", control.ResendInvites, jane, mails, resend)
	w.settled(globex.ID)
	w.play(control.Play{ApplicationID: globex.ID, Result: control.ResultReview})
	w.transition("complete undecided", control.CompleteApplication, globex.ID)
	if w.known(globex.ID).State != "completed" {
		w.transition("reject", control.RejectApplication, globex.ID)
	}

	for _, step := range []string{"delete", "change what is gone"} {
		_, err := w.do(step, control.DeleteApplication, func() error {
			return errorOf(w.client.DeleteApplication(w.ctx, globex.ID))
		})
		w.holds(step, err)
	}
	_, err := w.retrieve("what is gone", globex.ID)
	w.holds("what is gone", err)
	_, err = w.do("change what is gone", control.RetrieveIndividual, func() error {
		return errorOf(w.client.RetrieveIndividual(w.ctx, jane))
	})
	w.holds("change what is gone", err)
	w.transitionOfGone(globex.ID)
	w.mail("resend when gone", control.ResendInvites, jane, 0, resend)
	w.create("reuse of a deleted reference", wanted)
}

// transitionOfGone holds that an application that is gone is completed by nobody, whatever the service says of it.
func (w *world) transitionOfGone(id int64) {
	var change *client.Change
	_, err := w.do("change what is gone", control.CompleteApplication, func() (err error) {
		change, err = w.client.CompleteApplication(w.ctx, id, client.State{Name: "in review"})
		return err
	})
	if w.chosen["goneAnswer"] != "state_deleted" {
		w.holds("change what is gone", err)
	} else if err != nil || change.Application == nil || !change.Accepted { // the state is another one, and is shown
		w.t.Errorf("what is gone: %+v, %v", change, err)
	}
}

// archived is the scenario of an application that is archived before it is rejected.
func (w *world) archived(mandateType int64) {
	initech := w.create("create", w.newApplication("archived", mandateType))
	w.settled(initech.ID) // else a 404 to a transition could be about the method or the read lag
	w.play(control.Play{ApplicationID: initech.ID, Result: control.ResultFail})
	for _, step := range []string{"archive", "archive again"} {
		var got *client.Change
		_, err := w.do(step, control.ArchiveApplication, func() (err error) {
			got, err = w.client.ArchiveApplication(w.ctx, initech.ID)
			return err
		})
		known := w.known(initech.ID)
		if w.holds(step, err) && (!known.Archived || got.Application != nil && !got.Application.Archived) {
			w.t.Errorf("%s: it is not archived", step)
		}
	}
	w.transition("reject when archived", control.RejectApplication, initech.ID)
	w.settled(initech.ID)
}
