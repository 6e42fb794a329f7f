package client_test

import (
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

// revoked holds that a token that is suddenly worth nothing costs one login, and neither a failure nor a second e-mail.
func (w *world) revoked(mandateType int64) {
	if _, err := w.control.RevokeTokens(w.ctx); err != nil {
		w.t.Fatal(err)
	}
	logins := w.seen.Logins
	w.create("create", w.newApplication("revoked", mandateType))
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
	w.mail("resend", control.ResendInvites, jane, mails, func() error { return w.client.ResendInvites(w.ctx, jane) })
	w.settled(globex.ID)
	w.play(control.Play{ApplicationID: globex.ID, Result: control.ResultReview})
	w.transition("complete undecided", control.CompleteApplication, globex.ID)
	if w.known(globex.ID).State != "completed" {
		w.transition("reject", control.RejectApplication, globex.ID)
	}

	for _, step := range []string{"delete", "what is gone"} {
		_, err := w.do(step, control.DeleteApplication, func() error { return w.client.DeleteApplication(w.ctx, globex.ID) })
		w.holds(step, err)
	}
	for op, request := range map[control.Operation]func() error{
		control.RetrieveApplication: func() error { return errorOf(w.client.RetrieveApplication(w.ctx, globex.ID)) },
		control.RetrieveIndividual:  func() error { return errorOf(w.client.RetrieveIndividual(w.ctx, jane)) },
		control.CompleteApplication: func() error { return errorOf(w.client.CompleteApplication(w.ctx, globex.ID)) },
	} {
		_, err := w.do("what is gone", op, request)
		w.holds("what is gone", err)
	}
	w.mail("resend when gone", control.ResendInvites, jane, 0, func() error { return w.client.ResendInvites(w.ctx, jane) })
	w.create("reuse of a deleted reference", wanted)
}

// archived is the scenario of an application that is archived before it is rejected.
func (w *world) archived(mandateType int64) {
	initech := w.create("create", w.newApplication("archived", mandateType))
	w.settled(initech.ID) // else a 404 to a transition could be about the method or the read lag
	w.play(control.Play{ApplicationID: initech.ID, Result: control.ResultFail})
	for _, step := range []string{"archive", "archive again"} {
		var got *client.Application
		_, err := w.do(step, control.ArchiveApplication, func() (err error) {
			got, err = w.client.ArchiveApplication(w.ctx, initech.ID)
			return err
		})
		known := w.known(initech.ID)
		if w.holds(step, err) && (!known.Archived || got != nil && !got.Archived) {
			w.t.Errorf("%s: it is not archived", step)
		}
	}
	w.transition("reject when archived", control.RejectApplication, initech.ID)
	w.settled(initech.ID)
}
