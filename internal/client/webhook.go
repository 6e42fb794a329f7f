package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// Subscription is what SubscribeWebhook sends. The payload is not documented: `url`, `events` and `application_id` are
// our reading, FieldNames renames them, and Payload has the last word.
type Subscription struct {
	URL           Secret   // may hold a token of the receiver; left out if empty
	Events        []string // left out if empty
	ApplicationID int64    // left out if 0
	// FieldNames maps our names to the service's, such as "url" to "target_url".
	FieldNames map[string]string
	// Payload is a JSON object that is merged over the fields above as RFC 7396 says; nil for none.
	Payload Sensitive[json.RawMessage]
}

// SubscriptionResponse is what the service says to a subscription; its shape is not documented.
type SubscriptionResponse struct {
	ID  int64                      // 0 if the answer names none
	Raw Sensitive[json.RawMessage] // empty if the answer is empty or not JSON
}

// Webhook is one subscription as the service shows it.
type Webhook struct {
	ID     int64  // 0 if the service gave none
	URL    Secret // "" if none was found
	Events []string
	Raw    Sensitive[json.RawMessage]
}

// Webhooks is the answer of RetrieveWebhook: none, one or several.
type Webhooks struct {
	Items []Webhook
	// Complete tells that what is not in Items does not exist: the answer was a list of which every entry was
	// understood, and that speaks of no more than it holds, or it was empty. An object is one webhook, perhaps of
	// several, or something else altogether.
	Complete bool
	Raw      Sensitive[json.RawMessage]
}

// SubscribeWebhook subscribes to updates: POST /ext/webhooks/subscribe. The service has no way to unsubscribe, so the
// request is sent again only if provably nothing was done. Any 2xx is success.
// Errors: NotSent with KindInvalid if Payload is no JSON object. Unknown: the subscription may exist.
func (c *Client) SubscribeWebhook(ctx context.Context, subscription Subscription) (*SubscriptionResponse, error) {
	body, err := subscription.encode()
	if err != nil {
		return nil, &Error{Operation: OpSubscribeWebhook, Outcome: NotSent, Kind: KindInvalid, detail: "the further payload is not a JSON object"}
	}
	answer, err := c.do(ctx, call{op: OpSubscribeWebhook, body: body})
	if err != nil {
		return nil, err
	}
	result := &SubscriptionResponse{Raw: answer.raw()}
	if o, err := parseObject(answer.body); err == nil {
		result.ID = o.unwrap("webhook", "subscription").id("id", "webhook_id", "subscription_id")
	}
	return result, nil
}

// RetrieveWebhook reads the webhook details of an application: GET /ext/webhooks/retrieve/{application_id}. urlNames are
// names that the URL may have in the answer besides the usual ones.
// Errors: IsNotFound if the service says so: there may be no webhook, or no such application.
// KindUnreadable if the answer is no JSON.
func (c *Client) RetrieveWebhook(ctx context.Context, applicationID int64, urlNames ...string) (*Webhooks, error) {
	answer, err := c.do(ctx, call{op: OpRetrieveWebhook, id: applicationID})
	if err != nil {
		return nil, err
	}
	return parseWebhooks(answer, urlNames...)
}

func (s Subscription) encode() ([]byte, error) {
	fields := map[string]any{}
	set := func(name string, value any) { fields[orDefault(s.FieldNames[name], name)] = value }
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

var webhookURLNames = []string{"url", "target_url", "callback_url", "webhook_url", "endpoint_url", "endpoint", "callback", "target", "uri", "href"}

func parseWebhooks(answer *answer, urlNames ...string) (*Webhooks, error) {
	if len(answer.body) > 0 && !json.Valid(answer.body) {
		return nil, unreadable(answer, "the answer is not JSON")
	}
	webhooks := &Webhooks{}
	if len(answer.body) > 0 {
		webhooks.Raw = Hide(json.RawMessage(answer.body))
	}
	urlNames = slices.Concat(urlNames, webhookURLNames)
	webhooks.add(answer.body, urlNames, 0)
	list, ok := webhookList(answer.body, urlNames)
	// Every entry is a webhook itself, and there is none beside the list.
	understood := slices.EqualFunc(list, webhooks.Items, func(entry json.RawMessage, webhook Webhook) bool {
		return bytes.Equal(entry, webhook.Raw.Reveal())
	})
	more := answer.nextPage || hasMore(answer.body, len(list), 0)
	webhooks.Complete = len(answer.body) == 0 || ok && understood && !more
	return webhooks, nil
}

// webhookList finds the list that an answer is, bare or in what wraps it. An object that is a webhook, or that could
// hold two lists, is none: who takes it for all that exist subscribes again.
func webhookList(raw json.RawMessage, urlNames []string) ([]json.RawMessage, bool) {
	for range 3 {
		if items, ok := asList(raw); ok {
			return items, true
		}
		o, _ := asObject(raw)
		var ways []json.RawMessage
		for _, m := range o {
			if !isNull(m.value) && slices.ContainsFunc(webhookListNames, func(name string) bool { return alike(m.name, name) }) {
				ways = append(ways, m.value)
			}
		}
		if _, isWebhook := parseWebhook(raw, urlNames); isWebhook || len(ways) != 1 {
			return nil, false
		}
		raw = ways[0]
	}
	return nil, false
}

var webhookListNames = []string{"webhooks", "subscriptions", "data", "results", "items", "result"}

// add finds webhooks in a list, an object, or what wraps either.
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

// parseWebhook reads an object that has a URL; what has none is no webhook.
func parseWebhook(raw json.RawMessage, urlNames []string) (Webhook, bool) {
	o, _ := asObject(raw)
	address, _ := parseString(o.find(urlNames, func(value json.RawMessage) bool {
		text, ok := parseString(value)
		return ok && text != ""
	}))
	if address == "" {
		return Webhook{}, false
	}
	return Webhook{ID: o.id("id", "webhook_id", "subscription_id"), URL: Hide(address), Events: o.texts("events", "event_types", "topics"), Raw: Hide(raw)}, true
}

// WithURL gives the webhooks that deliver to a URL, which the service may write otherwise than it was sent (RFC 3986,
// 6.2): letter case of scheme and host, the usual port, and an empty path make no difference.
func (w *Webhooks) WithURL(wanted string) []Webhook {
	var found []Webhook
	for _, webhook := range w.Items {
		if canonicalURL(webhook.URL.Reveal()) == canonicalURL(wanted) {
			found = append(found, webhook)
		}
	}
	return found
}

func canonicalURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	u.Host = strings.ToLower(u.Host)
	if usual := map[string]string{"https": ":443", "http": ":80"}[u.Scheme]; usual != "" {
		u.Host = strings.TrimSuffix(u.Host, usual)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}
