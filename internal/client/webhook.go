package client

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/mandate-io/idv/internal/client/wire"
)

// Subscription is what SubscribeWebhook sends (interface: Subscribe to webhook). The payload is not documented: our
// reading is `url`, `events` and `application_id`. FieldNames renames these, and Payload overrides them.
type Subscription struct {
	URL           Secret   // left out if empty; it may hold a token of the receiver
	Events        []string // left out if empty
	ApplicationID int64    // left out if 0

	FieldNames map[string]string // maps these field names to the service's, such as "url" to "target_url"
	Payload    Raw               // a JSON object that is merged over the fields (RFC 7396, merge patch); empty for none
}

// SubscriptionResponse is the response to SubscribeWebhook. Its shape is not documented: our reading.
type SubscriptionResponse struct {
	ID       int64 // 0 if the response names none
	Accepted bool  // the service subscribes later (202)
	Raw      Raw   // empty if the response is empty
}

// Webhook is one subscription (interface: Retrieve webhook). Its shape is not documented: our reading.
type Webhook struct {
	ID     int64    // 0 if there is none
	URL    Secret   // "" if none was found
	Events []string // nil if the response has no list of events
	Raw    Raw
}

// Webhooks is the response to RetrieveWebhook: none, one or several subscriptions.
type Webhooks struct {
	Items []Webhook
	List  bool // the response was a list, alone or wrapped; otherwise, there may be other subscriptions
	// Complete means that a subscription that is not in Items does not exist: the response was a list of which every entry
	// was read and that names no further page or larger count.
	Complete bool
	// Empty means that the response held nothing: no body, or JSON without any value. It may mean that there is no
	// subscription. A proxy may respond in the same way.
	Empty bool
	Raw   Raw
}

// SubscribeWebhook subscribes to updates: POST /ext/webhooks/subscribe. The service cannot delete a subscription, so
// the client retries only if nothing was done.
// Errors: NotSent with KindInvalid if Payload is no JSON object. Unknown: the subscription may exist.
func (c *Client) SubscribeWebhook(ctx context.Context, subscription Subscription) (*SubscriptionResponse, error) {
	q := newRequest(OpSubscribeWebhook, 0)
	var err error
	if q.body, err = subscription.Body(); err != nil {
		return nil, invalid(q.op, "the payload is not a JSON object")
	}
	return do(ctx, c, q, func(a *answer) (*SubscriptionResponse, error) {
		id := a.value.Unwrap("webhook", "subscription").ID("id", "webhook_id", "subscription_id")
		return &SubscriptionResponse{ID: id, Accepted: a.accepted(), Raw: a.raw()}, nil
	})
}

// RetrieveWebhook reads the webhook details of an application: GET /ext/webhooks/retrieve/{application_id}. urlNames
// are names of the URL in the response, in addition to the usual ones. Transient faults are retried.
// Errors: IsNotFound: there is no webhook, or no such application. KindUnreadable: the response is no JSON.
func (c *Client) RetrieveWebhook(ctx context.Context, applicationID int64, urlNames ...string) (*Webhooks, error) {
	return do(ctx, c, newRequest(OpRetrieveWebhook, applicationID), func(a *answer) (*Webhooks, error) {
		return parseWebhooks(a, slices.Concat(urlNames, webhookURLNames)), nil
	})
}

// Body is what SubscribeWebhook sends. The error is that of a Payload that is no JSON object.
func (s Subscription) Body() ([]byte, error) {
	fields := map[string]any{}
	if address := s.URL.Reveal(); address != "" {
		fields[s.FieldName("url")] = address
	}
	if len(s.Events) > 0 {
		fields[s.FieldName("events")] = s.Events
	}
	if s.ApplicationID != 0 {
		fields[s.FieldName("application_id")] = s.ApplicationID
	}
	body, payload := encode(fields), s.Payload.Reveal()
	if len(payload) == 0 {
		return body, nil
	}
	if value, err := wire.Parse(payload); err != nil || !value.IsObject() {
		return nil, wire.ErrNotJSON
	}
	return jsonpatch.MergePatch(body, payload)
}

// FieldName is the service's name of a field: url, events or application_id.
func (s Subscription) FieldName(name string) string { return cmp.Or(s.FieldNames[name], name) }

// Names under which a webhook's URL and events are read, and those of a list around it (not documented: our reading).
var (
	webhookURLNames = []string{
		"url", "target_url", "callback_url", "webhook_url", "endpoint_url", "endpoint", "callback", "target", "uri", "href",
	}
	webhookEventNames = []string{"events", "event_types", "topics"}
	webhookListNames  = []string{"webhooks", "subscriptions", "data", "results", "items", "result"}
)

func parseWebhooks(a *answer, urlNames []string) *Webhooks {
	webhooks := &Webhooks{Empty: holdsNothing(a.value, 0)}
	if len(a.json) > 0 {
		webhooks.Raw = Hide(json.RawMessage(a.json))
	}
	find := func(m wire.Member) bool {
		webhook, ok := parseWebhook(m.Value, urlNames)
		if ok {
			webhooks.Items = append(webhooks.Items, webhook)
		}
		return !ok
	}
	if find(wire.Member{Value: a.value}) {
		a.value.Walk(4, find)
	}
	var list []wire.Value
	list, webhooks.List = webhookList(a.value, urlNames)
	// Every entry of the list is a webhook itself, and there is none outside of it.
	allRead := slices.EqualFunc(list, webhooks.Items, func(entry wire.Value, webhook Webhook) bool {
		return entry.Raw() == string(webhook.Raw.Reveal())
	})
	webhooks.Complete = webhooks.List && allRead && !a.value.HasMore(a.Header, len(list))
	return webhooks
}

// holdsNothing reports whether a response has no body, or is null, an object without members, or one whose members are
// all like that. An empty list is something: a list that says that there is nothing.
func holdsNothing(value wire.Value, depth int) bool {
	return value.IsNull() || value.IsObject() && depth < wire.MaxWrappers &&
		!slices.ContainsFunc(value.Object(), func(m wire.Member) bool { return !holdsNothing(m.Value, depth+1) })
}

// webhookList returns the list in a response, alone or wrapped. An object that is a webhook, or that holds several
// values that could be the list, has none: a caller that took it for everything would subscribe again.
func webhookList(value wire.Value, urlNames []string) ([]wire.Value, bool) {
	for range wire.MaxWrappers {
		if value.IsList() {
			return value.List(), true
		}
		candidates := slices.DeleteFunc(value.Object(), func(m wire.Member) bool {
			return m.Value.IsNull() || !m.Named(webhookListNames)
		})
		if _, isWebhook := parseWebhook(value, urlNames); isWebhook || len(candidates) != 1 {
			return nil, false
		}
		value = candidates[0].Value
	}
	return nil, false
}

// parseWebhook reads an object that has a URL; an object without one is no webhook.
func parseWebhook(value wire.Value, urlNames []string) (Webhook, bool) {
	o := value.Object()
	address, _ := o.Find(urlNames, func(v wire.Value) bool {
		text, _ := v.AsString()
		return text != ""
	}).AsString()
	if address == "" {
		return Webhook{}, false
	}
	webhook := Webhook{
		ID: o.ID("id", "webhook_id", "subscription_id"), URL: Hide(address), Raw: Hide(json.RawMessage(value.Raw())),
	}
	if events := o.Get(webhookEventNames...); events.IsList() {
		webhook.Events = []string{}
		for _, event := range events.List() {
			if name, ok := event.AsString(); ok {
				webhook.Events = append(webhook.Events, name)
			}
		}
	}
	return webhook, true
}

// WithURL returns the webhooks that deliver to a URL, in any form of it (see CanonicalURL).
func (w *Webhooks) WithURL(wanted string) []Webhook {
	return slices.DeleteFunc(slices.Clone(w.Items), func(webhook Webhook) bool {
		return CanonicalURL(webhook.URL.Reveal()) != CanonicalURL(wanted)
	})
}
