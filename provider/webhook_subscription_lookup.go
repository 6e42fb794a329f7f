package provider

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// lookupResult says whether the service has a subscription.
type lookupResult struct {
	status  lookupStatus
	matches []client.Webhook // with lookupFound
	reason  string           // with lookupUnknown: completes "... cannot be read back, because"
	answer  *answer          // nil without a request
	single  bool             // the response is one webhook, and no list
	// conclusive means that a second response shows the same absence.
	conclusive bool
	// gone means that the subscription is absent, and that the service shows that its application no longer exists.
	gone bool
}

type lookupStatus int

const (
	lookupUnknown lookupStatus = iota // the response proves neither that it exists nor that it does not
	lookupFound
	lookupAbsent
)

// String returns the word of the guide.
func (s lookupStatus) String() string {
	return [...]string{lookupUnknown: "cannot tell", lookupFound: "present", lookupAbsent: "absent"}[s]
}

// lookup asks the service for the subscription. It returns the errors of a request without a usable response. Any other
// response is a result, also one that proves nothing.
func (m *subscriptionModel) lookup(
	ctx context.Context, purpose lookupPurpose, source webhookSource,
) (lookupResult, error) {
	if m.ApplicationID.IsNull() {
		return lookupResult{reason: reasonNoApplication}, nil
	}
	if !m.isIdentified() {
		return lookupResult{reason: "`payload_json` replaces the URL or the application"}, nil
	}
	response := source(ctx)
	kind, matches := response.answerAbout(m.urlDigest())
	result := lookupResult{status: kind.proves[purpose], matches: matches, answer: kind}
	result.single = response.err == nil && !response.webhooks.List
	if result.status == lookupUnknown {
		result.reason = kind.reason
	}
	if kind == &answerFailure || kind.foreign && purpose == forCreate {
		return result, response.err
	}
	return result, nil
}

// lookup sends one request for all subscriptions of an application that are read at the same time. With twice, absence
// needs two responses.
func (r *subscriptionResource) lookup(
	ctx context.Context, state *subscriptionModel, purpose lookupPurpose, twice bool,
) (lookupResult, error) {
	timeout, _ := state.Timeouts.Read(ctx, defaultTimeout) // validated when it was configured
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	lock, ok := r.connection.acquire(ctx, state.ApplicationID)
	if !ok {
		err := context.Cause(ctx)
		return lookupResult{}, fmt.Errorf("waiting for other subscriptions of the application failed: %w", err)
	}
	defer lock.release()
	result, err := state.lookup(ctx, purpose, lock.webhooks.get)
	if err != nil || result.status != lookupAbsent {
		return result, err
	}
	if purpose == forRefresh && lock.isGone(ctx) {
		result.gone = true
		return result, nil
	}
	if twice {
		result, err = state.lookup(ctx, purpose, lock.webhooks.getPrevious)
		result.conclusive = err == nil && result.status == lookupAbsent
	}
	return result, err
}

// planLookup looks for an equal subscription during the plan of a create, so that the plan already says what the apply
// will find. Terraform plans a create once more right before it, so the same holds for the apply.
func (r *subscriptionResource) planLookup(ctx context.Context, plan *subscriptionModel, diags *diag.Diagnostics) {
	if r.connection == nil || plan.ApplicationID.IsNull() || !plan.isLookupKnown() {
		return
	}
	if plan.isIdentified() && (r.connection.client == nil || r.connection.isManaged(plan)) {
		return
	}
	lock, ok := r.connection.acquire(ctx, plan.ApplicationID)
	if !ok {
		return
	}
	defer lock.release()
	result, err := plan.lookup(ctx, forCreate, lock.webhooks.get)
	if plan.checkCreate(ctx, lock, result, err, diags) && result.status == lookupUnknown {
		diags.AddWarning("Cannot check for an existing webhook subscription", fmt.Sprintf(
			"It is unknown whether a subscription to %s already exists, because %s. The apply creates one. If it exists, the "+
				"service then delivers each update twice.\n\nIf you know that it exists, import it instead:\n\n%s",
			plan.receiver(), result.reason, plan.importBlock()))
	}
}

// isLookupKnown reports whether the plan knows what identifies the subscription.
func (m *subscriptionModel) isLookupKnown() bool {
	return isKnown(m.configuredURL()) && isKnown(m.ApplicationID) && isKnown(m.PayloadJSON)
}

// checkCreate adds an error if there may not be a new subscription: there is one already, its application is gone, or
// the response is not that of the service.
func (m *subscriptionModel) checkCreate(
	ctx context.Context, lock *applicationLock, result lookupResult, err error, diags *diag.Diagnostics,
) bool {
	switch {
	case err != nil:
		m.addLookupError(result, err, diags)
	case result.status == lookupFound:
		m.addExistsError(diags)
	default:
		return m.checkAlive(ctx, lock, result, diags)
	}
	return false
}

// checkAlive adds an error if there is no webhook because there is no application.
func (m *subscriptionModel) checkAlive(
	ctx context.Context, lock *applicationLock, result lookupResult, diags *diag.Diagnostics,
) bool {
	if result.status != lookupAbsent || !lock.isGone(ctx) {
		return true
	}
	m.addGoneError(diags)
	return false
}

func (m *subscriptionModel) addLookupError(result lookupResult, err error, diags *diag.Diagnostics) {
	const summary = "Cannot look up the webhook subscription"
	if result.answer == nil || result.answer == &answerFailure {
		addRequestError(diags, summary, err)
		return
	}
	diags.AddError(summary, fmt.Sprintf(
		"It is unknown whether a subscription to %s already exists: %s. Nothing was sent.\n\nCheck `base_url`, and any "+
			"proxy or firewall in front of the service. If the service itself responds like this, see the guide "+
			"\"Import\".", m.receiver(), result.answer.reason))
}

func (m *subscriptionModel) addExistsError(diags *diag.Diagnostics) {
	about := "all applications"
	if !m.ApplicationID.IsNull() {
		about = fmt.Sprintf("application %d", m.ApplicationID.ValueInt64())
	}
	diags.AddError("The webhook subscription already exists", fmt.Sprintf(
		"The service already delivers updates about %s to %s. A second subscription would deliver each update twice. "+
			"Nothing was sent.\n\nTo manage the existing subscription, add this block and apply:\n\n%s\n"+
			"If Terraform is about to replace the subscription, remove `create_before_destroy` from the resource instead.",
		about, m.receiver(), m.importBlock()))
}

// importBlock is the block that imports the subscription. The provider does not know the name of the resource.
func (m *subscriptionModel) importBlock() string {
	return fmt.Sprintf("import {\n  to = idv_webhook_subscription.NAME\n  id = %q\n}\n", m.identity().importID())
}

// applicationLock lets one subscription of an application at a time look for an existing one and create. The service
// may return only the newest webhook, so whether one exists is known only as long as no other one is created. Only the
// holder of the lock uses the other fields.
type applicationLock struct {
	semaphore chan struct{}
	webhooks  webhookCache
	// gone is whether the service has shown that the application does not exist; nil before the first look.
	gone *bool
}

// acquire waits for the lock of an application. It returns false if the context ends first.
func (c *connection) acquire(ctx context.Context, application types.Int64) (*applicationLock, bool) {
	lock := c.applicationLock(application.ValueInt64())
	select {
	case lock.semaphore <- struct{}{}:
		return lock, true
	case <-ctx.Done():
		return nil, false
	}
}

func (c *connection) applicationLock(id int64) *applicationLock {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.locks == nil {
		c.locks = map[int64]*applicationLock{}
	}
	if c.locks[id] == nil {
		webhooks := webhookCache{service: c.client, applicationID: id, urlField: cmp.Or(c.fieldNames["url"], "url")}
		c.locks[id] = &applicationLock{semaphore: make(chan struct{}, 1), webhooks: webhooks}
	}
	return c.locks[id]
}

func (l *applicationLock) release() { <-l.semaphore }

// isGone reports whether the service itself says that the application does not exist. It asks once in a run. An answer
// that proves nothing is no end of an application.
func (l *applicationLock) isGone(ctx context.Context) bool {
	if l.gone == nil {
		_, err := l.webhooks.service.RetrieveApplication(ctx, l.webhooks.applicationID)
		gone := client.IsNotFound(err)
		l.gone = &gone
	}
	return *l.gone
}

// webhookCache keeps the last responses of retrieve webhook for one application, because all its subscriptions would
// send the same request.
type webhookCache struct {
	service          *client.Client
	applicationID    int64
	urlField         string
	latest, previous *webhookResponse
}

// webhookResponse is one response of retrieve webhook.
type webhookResponse struct {
	webhooks *client.Webhooks
	err      error
	// byDigest has the webhooks by the digests of their URLs, in every form that an ID may have.
	byDigest map[string][]client.Webhook
	// requestedAt and receivedAt bound the moment that the response describes.
	requestedAt, receivedAt time.Time
}

// webhookSource returns the webhooks of an application: get, getSince or refresh of a webhookCache.
type webhookSource func(context.Context) webhookResponse

// webhookCacheTTL counts from the receipt of a response. Counted from its request, the response of a slow service would
// never be shared, and all reads of an application would wait for each other.
const webhookCacheTTL = time.Second

// get returns the current webhooks, or a response within the TTL.
func (c *webhookCache) get(ctx context.Context) webhookResponse {
	if c.latest != nil && time.Since(c.latest.receivedAt) < webhookCacheTTL {
		return *c.latest
	}
	return c.refresh(ctx)
}

// getSince returns a source that accepts a response if it was requested after the given time.
func (c *webhookCache) getSince(since time.Time) webhookSource {
	return func(ctx context.Context) webhookResponse {
		if c.latest != nil && c.latest.requestedAt.After(since) {
			return *c.latest
		}
		return c.refresh(ctx)
	}
}

// refresh requests the webhooks, and caches a response that says what exists.
func (c *webhookCache) refresh(ctx context.Context) webhookResponse {
	response := c.retrieve(ctx)
	for waitRetryAfter(ctx, response.err) {
		response = c.retrieve(ctx)
	}
	c.previous, c.latest = c.latest, nil
	if response.err == nil || client.IsNotFound(response.err) {
		c.latest = &response
	}
	return response
}

func (c *webhookCache) retrieve(ctx context.Context) webhookResponse {
	response := webhookResponse{requestedAt: time.Now()}
	response.webhooks, response.err = c.service.RetrieveWebhook(ctx, c.applicationID, c.urlField)
	response.receivedAt = time.Now()
	response.index()
	return response
}

// secondLookDelay is how long after a response without a subscription the provider looks again. A proxy that restarts,
// or a replica that lags, may have sent the first one.
const secondLookDelay = time.Second

// getPrevious is a source of the response before the latest, if that was requested secondLookDelay later. So a second
// look costs one request for all subscriptions of an application. Otherwise, it waits and requests the webhooks again.
func (c *webhookCache) getPrevious(ctx context.Context) webhookResponse {
	if c.previous != nil && c.latest != nil && c.latest.requestedAt.Sub(c.previous.receivedAt) >= secondLookDelay {
		return *c.previous
	}
	client.Sleep(ctx, secondLookDelay) // if the context ends, the request fails
	return c.refresh(ctx)
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
		for _, digest := range slices.Compact([]string{urlSHA256(url), hexSHA256(url)}) {
			r.byDigest[digest] = append(r.byDigest[digest], webhook)
		}
	}
}
