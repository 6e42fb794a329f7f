package provider

import (
	"cmp"
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// defaultTimeout is that of operations whose timeouts are not configured.
const defaultTimeout = 2 * time.Minute

// createOperation is one run of Create.
type createOperation struct {
	plan      subscriptionModel
	writeOnly types.String
	private   privateData
	service   *client.Client
	lock      *applicationLock // nil without an application
	deadline  time.Time
	// timeoutConfigured means that the deadline comes from the configuration.
	timeoutConfigured bool
	connection        *connection
	// replaced is the subscription that this run has abandoned to create this one; nil if there is none.
	replaced *abandonedSubscription
	// replacedMatches is the number of equal subscriptions that this one replaces.
	replacedMatches int
	// exists means that the subscription exists. From then on nothing may be an error, because an error would taint the
	// resource, and the replacement of a tainted resource creates a second subscription.
	exists bool
	// readBackLater means that one response can serve all subscriptions of the application.
	readBackLater bool
	resp          *resource.CreateResponse
}

// Create subscribes, at most once.
func (r *subscriptionResource) Create(
	ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse,
) {
	c := createOperation{connection: r.connection, resp: resp}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &c.plan)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("payload_json_wo"), &c.writeOnly)...)
	timeout, timeoutDiags := c.plan.Timeouts.Create(ctx, 0)
	resp.Diagnostics.Append(timeoutDiags...)
	subscriptionModel{WriteOnly: c.writeOnly, FieldNames: c.plan.FieldNames}.checkWriteOnly(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if c.service = r.connection.serviceClient(&resp.Diagnostics); c.service == nil {
		return
	}
	if !c.plan.ApplicationID.IsNull() {
		lock, ok := r.connection.locks.acquire(ctx, c.plan.ApplicationID.ValueInt64())
		if !ok {
			resp.Diagnostics.AddError("Cannot create the webhook subscription",
				"The apply was interrupted before the provider sent a request.")
			return
		}
		c.lock = lock
	}
	c.timeoutConfigured = timeout > 0
	c.deadline = time.Now().Add(cmp.Or(timeout, defaultTimeout))
	ctx, cancel := context.WithDeadline(ctx, c.deadline)
	defer cancel()
	c.createAndUnlock(ctx)
	if c.readBackLater {
		c.readBackWithOthers(ctx, r.connection)
	}
	if c.exists {
		c.writeState(ctx)
	}
}

// createAndUnlock releases the lock, which other subscriptions of the application wait for.
func (c *createOperation) createAndUnlock(ctx context.Context) {
	if c.lock != nil {
		defer c.lock.release()
	}
	if c.shouldSend(ctx) {
		c.send(ctx)
	}
}

// shouldSend looks for an equal subscription and applies on_existing.
func (c *createOperation) shouldSend(ctx context.Context) bool {
	c.replaced = c.connection.abandoned.take(&c.plan, c.writeOnly)
	if c.replaced != nil && c.replaced.sent(&c.plan, c.writeOnly) {
		c.keep(c.replaced)
		return false
	}
	adopt := c.plan.OnExisting.ValueString() == existingAdopt
	if c.plan.ApplicationID.IsNull() {
		if adopt {
			c.adopt(lookupResult{})
		}
		return !adopt
	}
	result, err := c.lookup(ctx, c.lock.webhooks.get)
	if err == nil && result.status != lookupAbsent && c.replaced != nil {
		c.replacedMatches = len(result.matches)
		return true
	}
	switch c.plan.applyOnExisting(result, err, c.writeOnly, &c.resp.Diagnostics) {
	case existingSend, existingUnknown:
		return true
	case existingTake:
		c.adopt(result)
	case existingStop:
	}
	return false
}

// lookup also finds what this run has created, because the service may return it later.
func (c *createOperation) lookup(ctx context.Context, source webhookSource) (lookupResult, error) {
	result, err := c.plan.lookup(ctx, c.service, forCreate, source)
	url, _ := c.plan.effectiveURL()
	if err == nil && result.status != lookupFound && c.lock.created[client.CanonicalURL(url)] {
		result = lookupResult{status: lookupFound}
	}
	return result, err
}

func (c *createOperation) send(ctx context.Context) {
	response, err := c.subscribe(ctx)
	for waitRetryAfter(ctx, err) {
		if c.createdMeanwhile(ctx) {
			return
		}
		response, err = c.subscribe(ctx)
	}
	switch {
	case err == nil:
		c.private.Created = time.Now().UTC()
		c.markExisting(response)
		if response.Accepted {
			c.warnAccepted()
		}
		if c.readBackLater = c.lock != nil && c.lock.webhooks.isList(); !c.readBackLater {
			c.readBack(ctx)
		}
	case client.OutcomeOf(err) == client.Unknown:
		c.recoverLostResponse(ctx, err)
	default:
		addRejection(&c.resp.Diagnostics, "Cannot create the webhook subscription", err, c.requestFields())
	}
}

func (c *createOperation) requestFields() requestFields {
	fields := c.plan.requestFields(c.writeOnly)
	fields.service = c.service
	return fields
}

func (c *createOperation) subscribe(ctx context.Context) (*client.SubscriptionResponse, error) {
	// An interrupt must not cancel the request: the service would carry it out, and only the response would be lost.
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), c.deadline)
	defer cancel()
	return c.service.SubscribeWebhook(ctx, c.plan.expand(c.writeOnly))
}

// createdMeanwhile looks again after a pause, in which somebody else may have subscribed the URL. A lookup that proves
// nothing changes nothing: shouldSend has decided about that.
func (c *createOperation) createdMeanwhile(ctx context.Context) bool {
	if c.lock == nil {
		return false
	}
	result, err := c.lookup(ctx, c.lock.webhooks.get)
	switch {
	case err != nil:
		c.plan.addLookupError(result, err, &c.resp.Diagnostics)
		return true
	case result.status != lookupFound || len(result.matches) <= c.replacedMatches:
		return false
	case c.plan.OnExisting.ValueString() != existingAdopt:
		c.plan.addExistsError(&c.resp.Diagnostics)
	case c.plan.checkSettings(result.matches, c.writeOnly, &c.resp.Diagnostics):
		c.adopt(result)
	}
	return true
}

// adopt takes an existing subscription into the state.
func (c *createOperation) adopt(result lookupResult) {
	c.markExisting(nil)
	c.connection.abandoned.adopt(&c.plan)
	c.setMatches(result)
}

// markExisting records that the subscription exists, and completes the state as far as it is known.
func (c *createOperation) markExisting(response *client.SubscriptionResponse) {
	c.exists = true
	c.private.WriteOnly = newWriteOnlyDigest(c.writeOnly)
	c.plan.setComputed()
	if response != nil {
		c.private.ID = c.plan.setResponse(response, c.writeOnly, &c.resp.Diagnostics)
	}
	if url, known := c.plan.effectiveURL(); known && c.lock != nil {
		c.lock.created[client.CanonicalURL(url)] = true
	}
}

func (c *createOperation) setMatches(result lookupResult) {
	if len(result.matches) == 0 {
		return // this run created it, and the service does not return it yet
	}
	c.private.Seen = true
	c.private.Single = result.single
	c.plan.setMatches(result.matches, c.private, &c.resp.Diagnostics)
}

func (c *createOperation) writeState(ctx context.Context) {
	c.private.write(ctx, c.resp.Private, &c.resp.Diagnostics)
	c.resp.Diagnostics.Append(c.resp.State.Set(ctx, &c.plan)...)
	c.resp.Diagnostics.Append(c.resp.Identity.Set(ctx, c.plan.identity())...)
}

// readBack completes the state of a subscription that exists. A failure is only a warning.
func (c *createOperation) readBack(ctx context.Context) {
	if c.lock == nil {
		return
	}
	result, err := c.plan.lookup(ctx, c.service, forRefresh, c.lock.webhooks.getSince(c.private.Created))
	switch {
	case err != nil:
		c.warnNotReadBack(errorDetail(err))
	case result.status == lookupFound:
		c.setMatches(result)
	case result.status == lookupAbsent:
		c.plan.setUnavailable("the service does not return it yet", true, &c.resp.Diagnostics)
	default:
		c.plan.setUnavailable(result.reason, true, &c.resp.Diagnostics)
	}
}

// readBackWithOthers waits for the lock again. By then, one list has all the subscriptions that were created meanwhile.
func (c *createOperation) readBackWithOthers(ctx context.Context, connection *connection) {
	lock, ok := connection.locks.acquire(ctx, c.plan.ApplicationID.ValueInt64())
	if !ok {
		c.warnNotReadBack("The read waited for other subscriptions of the application until it timed out or the apply " +
			"was interrupted.")
		return
	}
	defer lock.release()
	c.readBack(ctx)
}

func (c *createOperation) warnAccepted() {
	c.resp.Diagnostics.AddWarning("The service makes the webhook subscription later",
		"The service answered HTTP 202 Accepted. Until it has made the subscription, it delivers nothing. It is in the "+
			"state, and the provider does not send it again. If no delivery arrives, ask the service's support; to send it "+
			"again, run apply with `-replace`.")
}

func (c *createOperation) warnNotReadBack(cause string) {
	c.resp.Diagnostics.AddWarning("The webhook subscription could not be read back",
		"The subscription exists, and the next plan reads it again. "+cause)
}
