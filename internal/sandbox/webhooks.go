package sandbox

import (
	"net/http"
	"net/url"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// subscriptionFields are the member names of a subscription.
type subscriptionFields struct{ url, events, application string }

func fieldsOf(d dialect.Dialect) subscriptionFields {
	if d.SubscribeFields == dialect.SubscribeRenamed {
		return subscriptionFields{"target_url", "event_types", "mandate_id"}
	}
	return subscriptionFields{"url", "events", "application_id"}
}

func (a *account) subscribeWebhook(r *request) (response, error) {
	names := fieldsOf(r.dialect)
	wanted, err := decodeSubscription(r, names)
	if err != nil {
		return response{}, err
	}
	if err := a.handshake(r, wanted.URL, names); err != nil {
		return response{}, err
	}
	subscription, err := a.data.Subscribe(wanted)
	if err != nil {
		return response{}, err
	}
	rendered := renderSubscription(subscription, names)
	switch answer := r.dialect.SubscribeAnswer; answer {
	case dialect.SubscribeWithoutID:
		delete(rendered, "id")
	case dialect.Subscribe201:
		return response{status: http.StatusCreated, json: rendered}, nil
	case dialect.Subscribe202, dialect.Subscribe204:
		return response{status: statusIn(answer)}, nil
	}
	return ok(rendered), nil
}

func (a *account) retrieveWebhook(r *request) (response, error) {
	rendered := []any{}
	for _, subscription := range a.data.Subscriptions(r.id) {
		rendered = append(rendered, renderSubscription(subscription, fieldsOf(r.dialect)))
	}
	if len(rendered) == 0 && r.dialect.NoWebhooks == dialect.NoWebhooks404 {
		return response{}, state.ErrNotFound
	}
	if len(rendered) == 0 && r.dialect.NoWebhooks == dialect.NoWebhooksEmpty {
		return ok(rendered), nil
	}
	switch r.dialect.RetrieveWebhook {
	case dialect.WebhookList:
		return ok(rendered), nil
	case dialect.WebhookWrapped:
		return ok(map[string]any{"webhooks": rendered}), nil
	case dialect.Webhook404:
		return response{}, state.ErrNotFound
	}
	if len(rendered) == 0 {
		return response{}, state.ErrNotFound
	}
	return ok(rendered[len(rendered)-1]), nil
}

func decodeSubscription(r *request, names subscriptionFields) (state.Subscription, error) {
	m, _ := newMembers(r.body)
	wanted := state.Subscription{
		URL:           m.text(names.url),
		Events:        member[[]string](m, names.events, "a list of strings"),
		ApplicationID: m.integer(names.application),
		Others:        m.rest,
	}
	target, err := url.Parse(wanted.URL)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		m.problems.Add(names.url, "must be an http or https URL")
	}
	if len(wanted.Events) == 0 && r.dialect.SubscribeEvents == dialect.SubscribeEventsRequired {
		m.problems.Add(names.events, "must name at least one event")
	}
	required := r.dialect.SubscribeApplication == dialect.SubscribeApplicationRequired
	switch {
	case wanted.ApplicationID < 0, wanted.ApplicationID == 0 && required:
		m.problems.Add(names.application, "must be an application id")
	case wanted.ApplicationID != 0 && r.dialect.SubscribeApplication == dialect.SubscribeApplicationRefused:
		m.problems.Add(names.application, "is not a known field")
	}
	if required := r.dialect.SubscribeRequired; required != "" && len(m.sent[required]) <= len(`""`) {
		m.problems.Add(required, "is required")
	}
	if len(m.problems) > 0 {
		return wanted, &state.InvalidError{Fields: m.problems}
	}
	return wanted, nil
}

// handshake refuses a URL that does not answer the challenge of the dialect.
func (a *account) handshake(r *request, target string, names subscriptionFields) error {
	kind := r.dialect.SubscribeHandshake
	if kind == "" || a.queue.Challenge(r.Context(), target, kind == dialect.HandshakePost) {
		return nil
	}
	return state.InvalidField(names.url, "does not answer the challenge")
}

func renderSubscription(s state.Subscription, names subscriptionFields) map[string]any {
	rendered := map[string]any{}
	for name, value := range s.Others {
		rendered[name] = value
	}
	if s.Disabled {
		rendered["active"] = false
	}
	rendered["id"] = s.ID
	rendered[names.url] = s.URL
	rendered[names.events] = append([]string{}, s.Events...)
	rendered[names.application] = nil
	if s.ApplicationID != 0 {
		rendered[names.application] = s.ApplicationID
	}
	return rendered
}
