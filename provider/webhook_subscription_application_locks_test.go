package provider

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// A response describes what was subscribed before its request, and nothing later.
func TestWebhookCacheGetSince(t *testing.T) {
	service := serviceThatReturns(t, 200, `[{"id": 7, "url": "`+receiverURL+`"}]`)
	before := func(first time.Time) time.Time { return first.Add(-time.Nanosecond) }
	after := func(first time.Time) time.Time { return first.Add(time.Nanosecond) }
	for name, test := range map[string]struct {
		since  func(first time.Time) time.Time
		shared bool
	}{
		"subscribed before the request": {before, true},
		"subscribed after the request":  {after, false},
		"subscribed at the same time":   {func(first time.Time) time.Time { return first }, false},
	} {
		t.Run(name, func(t *testing.T) {
			cache := newWebhookCache(service, "url")
			first := cache.refresh(t.Context())
			second := cache.getSince(test.since(first.requestedAt))(t.Context())
			if first.err != nil || second.err != nil {
				t.Fatal(first.err, second.err)
			}
			if shared := first.webhooks == second.webhooks; shared != test.shared {
				t.Errorf("want the response shared: %v, got %v", test.shared, shared)
			}
		})
	}
}

// A slow response is as current as a quick one once it is there: the requests that wait for it share it.
func TestWebhookCacheGet(t *testing.T) {
	service := serviceThatReturns(t, 200, `[{"id": 7, "url": "`+receiverURL+`"}]`)
	for name, test := range map[string]struct {
		requested, received time.Duration // ago
		shared              bool
	}{
		"within the TTL":              {webhookCacheTTL / 10, 0, true},
		"within the TTL, but slow":    {time.Minute, 0, true},
		"received longer ago than it": {time.Minute, time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			cached := &client.Webhooks{}
			cache := newWebhookCache(service, "url")
			cache.latest = &webhookResponse{
				webhooks: cached, requestedAt: now.Add(-test.requested), receivedAt: now.Add(-test.received),
			}
			got := cache.get(t.Context())
			if (got.webhooks == cached) != test.shared || got.err != nil {
				t.Errorf("want the response shared: %v (%v)", test.shared, got.err)
			}
		})
	}
}

// A read can time out without any interrupt, so the warning names both causes.
func TestReadBackTimeout(t *testing.T) {
	var connection connection
	if _, ok := connection.acquire(t.Context(), types.Int64Value(4711)); !ok {
		t.Fatal("the lock is not free")
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	var warnings diag.Diagnostics
	c := creation{plan: model(nil), connection: &connection, diags: &warnings}
	c.readBackWithOthers(ctx)
	if len(warnings) != 1 || !strings.Contains(warnings[0].Detail(), "timed out") {
		t.Errorf("want a warning about the timeout, got %v", warnings)
	}
}

// Only a service that has returned a list can be asked later. From one that returns the newest webhook alone, nothing
// is learned once another one is subscribed.
func TestWebhookCacheIsList(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		isList bool
	}{
		"a list":                         {200, `[{"url": "` + receiverURL + `"}]`, true},
		"a wrapped list":                 {200, `{"data": [{"url": "` + receiverURL + `"}]}`, true},
		"an object: perhaps the newest":  {200, `{"url": "` + receiverURL + `"}`, false},
		"an empty list: an object later": {200, `[]`, false},
		"a list with a masked URL":       {200, `[{"url": "` + receiverURL + `"}, {"url": null}]`, false},
		"404":                            {404, ``, false},
		"nothing":                        {204, ``, false},
		"HTML":                           {200, `<html>`, false},
	} {
		t.Run(name, func(t *testing.T) {
			cache := newWebhookCache(serviceThatReturns(t, test.status, test.body), "url")
			if cache.isList() {
				t.Error("a list before any request")
			}
			cache.refresh(t.Context())
			if cache.isList() != test.isList {
				t.Errorf("want %v, got %v", test.isList, cache.isList())
			}
		})
	}
}
