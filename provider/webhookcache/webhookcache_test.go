package webhookcache

import (
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/test/webhookservice"
)

const receiverURL = "https://hooks.example.com/idv"

// A response describes what was subscribed before its request, and nothing later.
func TestGetSince(t *testing.T) {
	service := webhookservice.New(t, 200, `[{"id": 7, "url": "`+receiverURL+`"}]`)
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
			cache := newCache(service)
			first := cache.Refresh(t.Context())
			second := cache.GetSince(test.since(first.requestedAt))(t.Context())
			if first.Err != nil || second.Err != nil {
				t.Fatal(first.Err, second.Err)
			}
			if shared := first.Webhooks == second.Webhooks; shared != test.shared {
				t.Errorf("want the response shared: %v, got %v", test.shared, shared)
			}
		})
	}
}

// A slow response is as current as a quick one once it is there: the requests that wait for it share it.
func TestGet(t *testing.T) {
	service := webhookservice.New(t, 200, `[{"id": 7, "url": "`+receiverURL+`"}]`)
	for name, test := range map[string]struct {
		requested, received time.Duration // ago
		shared              bool
	}{
		"within the TTL":              {ttl / 10, 0, true},
		"within the TTL, but slow":    {time.Minute, 0, true},
		"received longer ago than it": {time.Minute, time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			cached := &client.Webhooks{}
			cache := newCache(service)
			cache.latest = &Response{
				Webhooks: cached, requestedAt: now.Add(-test.requested), receivedAt: now.Add(-test.received),
			}
			got := cache.Get(t.Context())
			if (got.Webhooks == cached) != test.shared || got.Err != nil {
				t.Errorf("want the response shared: %v (%v)", test.shared, got.Err)
			}
		})
	}
}

// Only a service that has returned a list can be asked later. From one that returns the newest webhook alone, nothing
// is learned once another one is subscribed.
func TestIsList(t *testing.T) {
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
			cache := newCache(webhookservice.New(t, test.status, test.body))
			if cache.IsList() {
				t.Error("a list before any request")
			}
			cache.Refresh(t.Context())
			if cache.IsList() != test.isList {
				t.Errorf("want %v, got %v", test.isList, cache.IsList())
			}
		})
	}
}

func newCache(service *client.Client) *Cache {
	return &Cache{Service: service, ApplicationID: webhookservice.ApplicationID, URLField: "url"}
}
