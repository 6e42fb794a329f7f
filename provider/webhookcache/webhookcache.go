// Package webhookcache shares what the service returns about the webhooks of an application: all subscriptions of the
// application would send the same request.
package webhookcache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/mandate-io/idv/internal/client"
)

// Lock lets one subscription of an application at a time look for an existing one and create. The service
// may return only the newest webhook, so whether one exists is known only as long as no other one is created. Only the
// holder of the lock uses the other fields.
type Lock struct {
	Cache
	semaphore chan struct{}
	// gone is whether the service has shown that the application does not exist; nil before the first look.
	gone *bool
}

// Locks are the locks of the applications of one run.
type Locks struct{ all sync.Map }

// Acquire waits for the lock of the application of a cache. It returns false if the context ends first.
func (l *Locks) Acquire(ctx context.Context, cache Cache) (*Lock, bool) {
	value, _ := l.all.LoadOrStore(cache.ApplicationID, &Lock{semaphore: make(chan struct{}, 1), Cache: cache})
	lock, _ := value.(*Lock)
	select {
	case lock.semaphore <- struct{}{}:
		return lock, true
	case <-ctx.Done():
		return nil, false
	}
}

// Release lets the next one in.
func (l *Lock) Release() { <-l.semaphore }

// IsGone reports whether the service itself says that the application does not exist. It asks once in a run. An answer
// that proves nothing is no end of an application.
func (l *Lock) IsGone(ctx context.Context) bool {
	if l.gone == nil {
		_, err := l.Service.RetrieveApplication(ctx, l.ApplicationID)
		gone := client.IsNotFound(err)
		l.gone = &gone
	}
	return *l.gone
}

// Cache keeps the last responses of retrieve webhook for one application, because all its subscriptions would
// send the same request.
type Cache struct {
	Service          *client.Client
	ApplicationID    int64
	URLField         string // the name of the field that has the URL
	latest, previous *Response
}

// Response is one response of retrieve webhook.
type Response struct {
	Webhooks *client.Webhooks
	Err      error
	// ByDigest has the webhooks by the digests of their URLs. An ID may have the digest of a URL in the form in which the
	// user wrote it.
	ByDigest map[string][]client.Webhook
	// requestedAt and receivedAt bound the moment that the response describes.
	requestedAt, receivedAt time.Time
}

// Source returns the webhooks of an application: a method of a Cache, or what GetSince returns.
type Source func(context.Context) Response

// ttl counts from the receipt of a response. Counted from its request, the response of a slow service would
// never be shared, and all reads of an application would wait for each other.
const ttl = time.Second

// Get returns the current webhooks, or a response within the TTL.
func (c *Cache) Get(ctx context.Context) Response {
	if c.latest != nil && time.Since(c.latest.receivedAt) < ttl {
		return *c.latest
	}
	return c.Refresh(ctx)
}

// GetSince returns a source that accepts a response if it was requested after the given time.
func (c *Cache) GetSince(since time.Time) Source {
	return func(ctx context.Context) Response {
		if c.latest != nil && c.latest.requestedAt.After(since) {
			return *c.latest
		}
		return c.Refresh(ctx)
	}
}

// Refresh requests the webhooks, and caches a response that says what exists.
func (c *Cache) Refresh(ctx context.Context) Response {
	response := c.retrieve(ctx)
	for WaitRetryAfter(ctx, response.Err) {
		response = c.retrieve(ctx)
	}
	c.previous, c.latest = c.latest, nil
	if response.Err == nil || client.IsNotFound(response.Err) {
		c.latest = &response
	}
	return response
}

func (c *Cache) retrieve(ctx context.Context) Response {
	response := Response{requestedAt: time.Now()}
	response.Webhooks, response.Err = c.Service.RetrieveWebhook(ctx, c.ApplicationID, c.URLField)
	response.receivedAt = time.Now()
	if response.Err != nil {
		return response
	}
	response.ByDigest = map[string][]client.Webhook{}
	for _, webhook := range response.Webhooks.Items {
		url := webhook.URL.Reveal()
		for _, digest := range slices.Compact([]string{URLDigest(url), digestOf(url)}) {
			response.ByDigest[digest] = append(response.ByDigest[digest], webhook)
		}
	}
	return response
}

// secondLookDelay is how long after a response without a subscription the provider looks again. A proxy that restarts,
// or a replica that lags, may have sent the first one.
const secondLookDelay = time.Second

// GetPrevious is a source of the response before the latest, if that was requested secondLookDelay later. So a second
// look costs one request for all subscriptions of an application. Otherwise, it waits and requests the webhooks again.
func (c *Cache) GetPrevious(ctx context.Context) Response {
	if c.previous != nil && c.latest != nil && c.latest.requestedAt.Sub(c.previous.receivedAt) >= secondLookDelay {
		return *c.previous
	}
	client.Sleep(ctx, secondLookDelay) // if the context ends, the request fails
	return c.Refresh(ctx)
}

// IsList reports whether the service has returned all webhooks of the application, and at least one.
func (c *Cache) IsList() bool {
	return c.latest != nil && c.latest.Err == nil && c.latest.Webhooks.Complete && len(c.latest.Webhooks.Items) > 0
}

// URLDigest is the digest of a URL. All forms of a URL that a service may take for the same have the same digest.
func URLDigest(url string) string { return digestOf(client.CanonicalURL(url)) }

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// WaitRetryAfter waits as long as a service that limits requests asks, and reports whether to send the request again.
// It does so only after a failure that proves that nothing was done, and only if the pause fits into the context's
// deadline.
func WaitRetryAfter(ctx context.Context, err error) bool {
	pause := client.RetryAfterOf(err)
	deadline, bounded := ctx.Deadline()
	if client.KindOf(err) != client.KindRateLimited || client.OutcomeOf(err) == client.Unknown || pause <= 0 ||
		!bounded || pause >= time.Until(deadline) {
		return false
	}
	return client.Sleep(ctx, pause)
}
