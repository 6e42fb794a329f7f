package client

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// Subscription is what SubscribeWebhook sends (interface: Subscribe to webhook). The payload is not documented: our
// reading is `url`, `events` and `application_id`. FieldNames renames these, and Payload overrides them.
type Subscription struct {
	URL           Secret   // left out if empty; it may hold a token of the receiver
	Events        []string // left out if empty
	ApplicationID int64    // left out if 0
	// FieldNames maps these field names to the service's, such as "url" to "target_url".
	FieldNames map[string]string
	// Payload is a JSON object that is merged over the fields (RFC 7396, JSON merge patch); empty for none.
	Payload Sensitive[json.RawMessage]
}

// SubscriptionResponse is the response to SubscribeWebhook. Its shape is not documented: our reading.
type SubscriptionResponse struct {
	ID  int64                      // 0 if the response names none
	Raw Sensitive[json.RawMessage] // empty if the response is empty or not JSON
}

// Webhook is one subscription (interface: Retrieve webhook). Its shape is not documented: our reading.
type Webhook struct {
	ID     int64    // 0 if there is none
	URL    Secret   // "" if none was found
	Events []string // nil if the response has no list of events
	Raw    Sensitive[json.RawMessage]
}

// Webhooks is the response to RetrieveWebhook: none, one or several subscriptions.
type Webhooks struct {
	Items []Webhook
	// List means that the response was a list, alone or wrapped. Otherwise, there may be other subscriptions.
	List bool
	// Complete means that a subscription that is not in Items does not exist: the response was a list of which every entry
	// was read and that names no further page or larger count.
	Complete bool
	// Empty means that the response held nothing: no body, or JSON without any value. It may mean that there is no
	// subscription. A proxy may respond in the same way.
	Empty bool
	Raw   Sensitive[json.RawMessage]
}

// SubscribeWebhook subscribes to updates: POST /ext/webhooks/subscribe. The service cannot delete a subscription, so
// the client retries only if nothing was done. Any 2xx is success.
// Errors: NotSent with KindInvalid if Payload is no JSON object. Unknown: the subscription may exist.
func (c *Client) SubscribeWebhook(ctx context.Context, subscription Subscription) (*SubscriptionResponse, error) {
	body, err := subscription.encode()
	if err != nil {
		return nil, &Error{
			Operation: OpSubscribeWebhook, Outcome: NotSent, Kind: KindInvalid, detail: "the payload is not a JSON object",
		}
	}
	response, err := c.do(ctx, request{op: OpSubscribeWebhook, body: body})
	if err != nil {
		return nil, err
	}
	result := &SubscriptionResponse{Raw: response.raw()}
	if o, err := response.object(); err == nil {
		result.ID = o.unwrap("webhook", "subscription").id("id", "webhook_id", "subscription_id")
	}
	return result, nil
}

// RetrieveWebhook reads the webhook details of an application: GET /ext/webhooks/retrieve/{application_id}. urlNames
// are names of the URL in the response, in addition to the usual ones. Transient faults are retried.
// Errors: IsNotFoundProblem: there is no webhook, or no such application. KindUnreadable: the response is no JSON.
func (c *Client) RetrieveWebhook(ctx context.Context, applicationID int64, urlNames ...string) (*Webhooks, error) {
	response, err := c.do(ctx, request{op: OpRetrieveWebhook, id: applicationID})
	if err != nil {
		return nil, err
	}
	return parseWebhooks(response, urlNames...)
}

func (s Subscription) encode() ([]byte, error) {
	fields := map[string]any{}
	set := func(name string, value any) { fields[s.fieldName(name)] = value }
	if address := s.URL.Reveal(); address != "" {
		set("url", address)
	}
	if len(s.Events) > 0 {
		set("events", s.Events)
	}
	if s.ApplicationID != 0 {
		set("application_id", s.ApplicationID)
	}
	body, payload := encode(fields), s.Payload.Reveal()
	if len(payload) == 0 {
		return body, nil
	}
	if _, err := parseObject(payload); err != nil {
		return nil, err
	}
	return jsonpatch.MergePatch(body, payload)
}

func (s Subscription) fieldName(name string) string { return orDefault(s.FieldNames[name], name) }

// WebhookURLNames returns the names under which a webhook's URL is read (not documented: our reading).
func WebhookURLNames() []string { return slices.Clone(webhookURLNames) }

// WebhookEventNames returns the names under which a webhook's events are read (not documented: our reading).
func WebhookEventNames() []string { return slices.Clone(webhookEventNames) }

var webhookURLNames = []string{
	"url", "target_url", "callback_url", "webhook_url", "endpoint_url", "endpoint", "callback", "target", "uri", "href",
}

var webhookEventNames = []string{"events", "event_types", "topics"}

func parseWebhooks(response *response, urlNames ...string) (*Webhooks, error) {
	if err := checkSize(response.body); err != nil {
		return nil, unusable(response, err, "")
	}
	if len(response.body) > 0 && !json.Valid(response.body) {
		return nil, unreadable(response, "the response is not JSON")
	}
	webhooks := &Webhooks{}
	if len(response.body) > 0 {
		webhooks.Raw = Hide(json.RawMessage(response.body))
	}
	urlNames = slices.Concat(urlNames, webhookURLNames)
	webhooks.add(response.body, urlNames, 0)
	list, ok := webhookList(response.body, urlNames)
	// Every entry of the list is a webhook itself, and there is none outside of it.
	allRead := slices.EqualFunc(list, webhooks.Items, func(entry json.RawMessage, webhook Webhook) bool {
		return bytes.Equal(entry, webhook.Raw.Reveal())
	})
	more := response.nextPage || hasMore(response.body, len(list), 0)
	webhooks.List = ok
	webhooks.Complete = ok && allRead && !more
	webhooks.Empty = holdsNothing(response.body, 0)
	return webhooks, nil
}

// holdsNothing reports whether a response has no body, or is null, an object without members, or one whose members are
// all like that. An empty list is something: a list that says that there is nothing.
func holdsNothing(raw json.RawMessage, depth int) bool {
	o, ok := asObject(raw)
	if !ok {
		return len(raw) == 0 || isNull(raw)
	}
	return depth < maxWrappers && !slices.ContainsFunc(o, func(m member) bool { return !holdsNothing(m.value, depth+1) })
}

// webhookList returns the list in a response, alone or wrapped. An object that is a webhook, or that holds several
// values that could be the list, has none: a caller that took it for everything would subscribe again.
func webhookList(raw json.RawMessage, urlNames []string) ([]json.RawMessage, bool) {
	for range 3 {
		if items, ok := asList(raw); ok {
			return items, true
		}
		o, _ := asObject(raw)
		var candidates []json.RawMessage
		for _, m := range o {
			if !isNull(m.value) && m.named(webhookListNames) {
				candidates = append(candidates, m.value)
			}
		}
		if _, isWebhook := parseWebhook(raw, urlNames); isWebhook || len(candidates) != 1 {
			return nil, false
		}
		raw = candidates[0]
	}
	return nil, false
}

var webhookListNames = []string{"webhooks", "subscriptions", "data", "results", "items", "result"}

// add finds webhooks in objects and lists.
func (w *Webhooks) add(raw json.RawMessage, urlNames []string, depth int) {
	if depth > 4 {
		return
	}
	if webhook, ok := parseWebhook(raw, urlNames); ok {
		w.Items = append(w.Items, webhook)
		return
	}
	items, _ := asList(raw)
	for _, item := range items {
		w.add(item, urlNames, depth+1)
	}
	o, _ := asObject(raw)
	for _, m := range o {
		w.add(m.value, urlNames, depth+1)
	}
}

// parseWebhook reads an object that has a URL; an object without one is no webhook.
func parseWebhook(raw json.RawMessage, urlNames []string) (Webhook, bool) {
	o, _ := asObject(raw)
	address, _ := parseString(o.find(urlNames, func(value json.RawMessage) bool {
		text, ok := parseString(value)
		return ok && text != ""
	}))
	if address == "" {
		return Webhook{}, false
	}
	webhook := Webhook{
		ID:     o.id("id", "webhook_id", "subscription_id"),
		URL:    Hide(address),
		Events: o.texts(webhookEventNames...),
		Raw:    Hide(raw),
	}
	if _, ok := asList(o.get(webhookEventNames...)); ok && webhook.Events == nil {
		webhook.Events = []string{}
	}
	return webhook, true
}

// WithURL returns the webhooks that deliver to a URL, in any form of it (see SameURL).
func (w *Webhooks) WithURL(wanted string) []Webhook {
	var found []Webhook
	for _, webhook := range w.Items {
		if SameURL(webhook.URL.Reveal(), wanted) {
			found = append(found, webhook)
		}
	}
	return found
}
