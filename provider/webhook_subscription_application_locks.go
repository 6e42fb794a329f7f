package provider

import (
	"context"
	"sync"
	"time"

	"github.com/mandate-io/idv/internal/client"
)

// applicationLocks lets one subscription of an application at a time look for an existing one and create. The service
// may return only the newest webhook, so whether one exists is known only as long as no other one is created.
type applicationLocks struct {
	mu    sync.Mutex
	locks map[int64]*applicationLock
}

// applicationLock is the lock of one application. Only its holder uses the other fields.
type applicationLock struct {
	semaphore chan struct{}
	webhooks  webhookCache
	// gone is whether the service has shown that the application does not exist; nil before the first look.
	gone *bool
}

// acquire waits for the lock of an application. It returns false if the context ends first.
func (l *applicationLocks) acquire(ctx context.Context, applicationID int64) (*applicationLock, bool) {
	lock := l.lock(applicationID)
	select {
	case lock.semaphore <- struct{}{}:
		return lock, true
	case <-ctx.Done():
		return nil, false
	}
}

func (l *applicationLocks) lock(applicationID int64) *applicationLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locks == nil {
		l.locks = map[int64]*applicationLock{}
	}
	if l.locks[applicationID] == nil {
		l.locks[applicationID] = &applicationLock{semaphore: make(chan struct{}, 1)}
	}
	return l.locks[applicationID]
}

func (l *applicationLock) release() { <-l.semaphore }

// isGone reports whether the service itself says that the application does not exist. It asks once in a run. An answer
// that proves nothing is no end of an application.
func (l *applicationLock) isGone(ctx context.Context, service *client.Client, applicationID int64) bool {
	if l.gone == nil {
		_, err := service.RetrieveApplication(ctx, applicationID)
		gone := client.IsNotFound(err)
		l.gone = &gone
	}
	return *l.gone
}

// webhookCache keeps the last responses of retrieve webhook for one application, because all its subscriptions would
// send the same request.
type webhookCache struct{ latest, previous *webhookResponse }

// webhookResponse is one response of retrieve webhook.
type webhookResponse struct {
	webhooks *client.Webhooks
	err      error
	urlField string
	// byDigest has the webhooks by the digests of their URLs, in every form that an ID may have.
	byDigest map[string][]client.Webhook
	// requestedAt and receivedAt bound the moment that the response describes.
	requestedAt, receivedAt time.Time
}

// webhookSource returns the webhooks of an application: get, getSince or refresh of a webhookCache.
type webhookSource func(
	ctx context.Context, service *client.Client, applicationID int64, urlField string,
) webhookResponse

// webhookCacheTTL counts from the receipt of a response. Counted from its request, the response of a slow service would
// never be shared, and all reads of an application would wait for each other.
const webhookCacheTTL = time.Second

// get returns the current webhooks, or a response within the TTL.
func (c *webhookCache) get(
	ctx context.Context, service *client.Client, applicationID int64, urlField string,
) webhookResponse {
	if c.has(urlField) && time.Since(c.latest.receivedAt) < webhookCacheTTL {
		return *c.latest
	}
	return c.refresh(ctx, service, applicationID, urlField)
}

// getSince returns a source that accepts a response if it was requested after the given time.
func (c *webhookCache) getSince(since time.Time) webhookSource {
	return func(
		ctx context.Context, service *client.Client, applicationID int64, urlField string,
	) webhookResponse {
		if c.has(urlField) && c.latest.requestedAt.After(since) {
			return *c.latest
		}
		return c.refresh(ctx, service, applicationID, urlField)
	}
}

func (c *webhookCache) has(urlField string) bool {
	return c.latest != nil && c.latest.urlField == urlField
}

// refresh requests the webhooks, and caches a response that says what exists.
func (c *webhookCache) refresh(
	ctx context.Context, service *client.Client, applicationID int64, urlField string,
) webhookResponse {
	response := webhookResponse{urlField: urlField, requestedAt: time.Now()}
	response.webhooks, response.err = service.RetrieveWebhook(ctx, applicationID, urlField)
	for waitRetryAfter(ctx, response.err) {
		response.requestedAt = time.Now()
		response.webhooks, response.err = service.RetrieveWebhook(ctx, applicationID, urlField)
	}
	response.receivedAt = time.Now()
	response.index()
	c.previous, c.latest = c.latest, nil
	if response.err == nil || client.IsNotFound(response.err) {
		c.latest = &response
	}
	return response
}

// secondLookDelay is how long after a response without a subscription the provider looks again. A proxy that restarts,
// or a replica that lags, may have sent the first one.
const secondLookDelay = time.Second

// getPrevious is a source of the response before the latest, if that was requested secondLookDelay later. So a second
// look costs one request for all subscriptions of an application. Otherwise, it waits and requests the webhooks again.
func (c *webhookCache) getPrevious(
	ctx context.Context, service *client.Client, applicationID int64, urlField string,
) webhookResponse {
	if c.previous != nil && c.latest != nil && c.previous.urlField == urlField &&
		c.latest.requestedAt.Sub(c.previous.receivedAt) >= secondLookDelay {
		return *c.previous
	}
	client.Sleep(ctx, secondLookDelay) // if the context ends, the request fails
	return c.refresh(ctx, service, applicationID, urlField)
}

// isList reports whether the service has returned all webhooks of the application, and at least one.
func (c *webhookCache) isList() bool {
	return c.latest != nil && c.latest.err == nil && c.latest.webhooks.Complete && len(c.latest.webhooks.Items) > 0
}

// index fills byDigest. An ID may have the digest of a URL in the form in which the user wrote it.
func (r *webhookResponse) index() {
	if r.err != nil {
		return
	}
	r.byDigest = map[string][]client.Webhook{}
	for _, webhook := range r.webhooks.Items {
		url := webhook.URL.Reveal()
		canonical := client.CanonicalURL(url)
		digest := hexSHA256(canonical)
		r.byDigest[digest] = append(r.byDigest[digest], webhook)
		if url != canonical {
			digest = hexSHA256(url)
			r.byDigest[digest] = append(r.byDigest[digest], webhook)
		}
	}
}
