package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/provider/webhookcache"
)

// defaultTimeout is that of operations whose timeouts are not configured.
const defaultTimeout = 2 * time.Minute

const summaryCreate = "Cannot create the webhook subscription"

// creation is one run of Create.
type creation struct {
	plan       subscriptionModel
	private    privateData
	connection *connection
	lock       *webhookcache.Lock // nil without an application
	timeout    time.Duration      // 0 if it is not configured
	deadline   time.Time
	// replaced is the number of equal subscriptions that this one replaces.
	replaced int
	diags    *diag.Diagnostics
}

// createResult is what a creation ends with.
type createResult int

const (
	notCreated    createResult = iota // the diagnostics have an error
	created                           // it exists, or may exist and is kept
	createdUnread                     // it exists, and one response can read all subscriptions of the application back
)

// newCreation returns nil after an error.
func (r *subscriptionResource) newCreation(
	ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse,
) *creation {
	c := &creation{connection: r.connection, diags: &resp.Diagnostics}
	c.diags.Append(req.Plan.Get(ctx, &c.plan)...)
	c.diags.Append(req.Config.GetAttribute(ctx, path.Root("url_wo"), &c.plan.URLWriteOnly)...)
	c.diags.Append(req.Config.GetAttribute(ctx, path.Root("payload_json_wo"), &c.plan.PayloadWriteOnly)...)
	c.timeout, _ = c.plan.Timeouts.Create(ctx, 0) // validated when it was configured
	r.connection.complete(&c.plan)
	c.plan.checkPayloads(c.diags)
	if c.diags.HasError() || r.connection.serviceClient(c.diags) == nil {
		return nil
	}
	if !c.plan.ApplicationID.IsNull() {
		lock, ok := r.connection.acquire(ctx, c.plan.ApplicationID)
		if !ok {
			c.diags.AddError(summaryCreate, "The apply was interrupted before the provider sent a request.")
			return nil
		}
		c.lock = lock
	}
	c.deadline = time.Now().Add(cmp.Or(c.timeout, defaultTimeout))
	return c
}

// create releases the lock, which other subscriptions of the application wait for.
func (c *creation) create(ctx context.Context) createResult {
	if c.lock != nil {
		defer c.lock.Release()
	}
	if c.keepReplaced(ctx) {
		return created
	}
	// Another resource of this run may have created it. The service returns it later, or never without an application.
	if _, exists := c.connection.created.LoadOrStore(c.plan.key(), true); exists {
		c.plan.addExistsError(c.diags)
		return notCreated
	}
	for {
		if c.lock != nil { // after a pause that the service asked for, somebody else may have subscribed the URL
			c.plan.checkCreate(ctx, c.lock, c.replaced, c.diags)
		}
		if c.diags.HasError() {
			c.connection.created.Delete(c.plan.key())
			return notCreated
		}
		response, err := c.subscribe(ctx)
		if !webhookcache.WaitRetryAfter(ctx, err) {
			return c.conclude(ctx, response, err)
		}
	}
}

// conclude finds out what became of the request.
func (c *creation) conclude(ctx context.Context, response *client.SubscriptionResponse, err error) createResult {
	switch {
	case err == nil:
		return c.record(ctx, response)
	case client.OutcomeOf(err) == client.Unknown:
		return c.recoverLostResponse(ctx, err)
	default:
		c.connection.created.Delete(c.plan.key())
		addRejection(c.diags, summaryCreate, err, c.plan.requestFields(c.connection.client))
		if client.KindOf(err) == client.KindConflict {
			c.diags.AddError("The service may keep only one webhook subscription", "If the service keeps one subscription "+
				"for the account or for a URL, use one resource for all, and import the subscription that exists.")
		}
		return notCreated
	}
}

func (c *creation) subscribe(ctx context.Context) (*client.SubscriptionResponse, error) {
	// An interrupt must not cancel the request: the service would carry it out, and only the response would be lost.
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), c.deadline)
	defer cancel()
	return c.connection.client.SubscribeWebhook(ctx, c.plan.request())
}

// record completes the state after a response, and reads the subscription back.
func (c *creation) record(ctx context.Context, response *client.SubscriptionResponse) createResult {
	c.private.Created = time.Now().UTC()
	c.markExisting()
	c.plan.setResponse(response, c.diags)
	if response.Accepted {
		c.diags.AddWarning("The service makes the webhook subscription later",
			"The service answered HTTP 202 Accepted. Until it has made the subscription, it delivers nothing. It is in the "+
				"state, and the provider does not send it again. If no delivery arrives, ask the service's support. To send it "+
				"again, remove it from the state with `state rm`, and apply.")
	}
	switch {
	case c.lock == nil:
		return created
	case c.lock.IsList():
		return createdUnread
	}
	c.readBack(ctx)
	return created
}

// markExisting records that the subscription exists, and completes the state as far as it is known.
func (c *creation) markExisting() {
	c.private.WriteOnly = newWriteOnlyDigest(c.plan.PayloadWriteOnly)
	c.plan.setComputed()
	c.connection.created.Store(c.plan.key(), true)
}

func (c *creation) setMatches(result lookupResult) {
	c.private.Seen, c.private.Single = true, result.single
	c.plan.setMatches(result.matches, c.private, c.diags)
}

// readBack completes the state of a subscription that exists. A failure is only a warning.
func (c *creation) readBack(ctx context.Context) {
	result, err := c.plan.lookup(ctx, forRefresh, c.lock.GetSince(c.private.Created))
	switch {
	case err != nil:
		c.warnNotReadBack(errorDetail(err))
	case result.status == lookupFound:
		c.setMatches(result)
	case result.status == lookupAbsent:
		c.plan.setUnreadable("the service does not return it yet", true, c.private, c.diags)
	default:
		c.plan.setUnreadable(result.reason, true, c.private, c.diags)
	}
}

// readBackWithOthers waits for the lock again. By then, one list has all the subscriptions that were created meanwhile.
func (c *creation) readBackWithOthers(ctx context.Context) {
	lock, ok := c.connection.acquire(ctx, c.plan.ApplicationID)
	if !ok {
		c.warnNotReadBack("The read waited for other subscriptions of the application until it timed out or the apply " +
			"was interrupted.")
		return
	}
	defer lock.Release()
	c.readBack(ctx)
}

const (
	// recoveryTimeout is how long the provider looks for a subscription whose response was lost, unless a timeout is
	// configured: the service may be slow to create it, or to return it.
	recoveryTimeout = 8 * time.Second
	// The interval between two requests doubles.
	minPollInterval = time.Second
	maxPollInterval = 8 * time.Second
)

// recoverLostResponse finds out whether a request without a response created the subscription. It never sends the
// request again: what cannot be found out is kept in the state.
func (c *creation) recoverLostResponse(ctx context.Context, lost error) createResult {
	result := lookupResult{reason: reasonNoApplication}
	if c.lock != nil {
		result = c.search(ctx)
	}
	cause := c.plan.requestFields(c.connection.client).errorCause(lost)
	switch {
	case result.status == lookupFound && len(result.matches) == c.replaced+1:
		c.private.Created = time.Now().UTC()
		c.markExisting()
		c.setMatches(result)
		c.diags.AddWarning(summaryUnclear(lost),
			cause+" The provider found the subscription by reading it back. The values of `output` are null.")
		return created
	case result.status != lookupFound && result.answer != &answerListWithoutIt: // the service may never show one
		c.private.Created, c.private.Unconfirmed = time.Now().UTC(), true
		c.markExisting()
		c.plan.warnUnconfirmed(cause+" ", cmp.Or(result.reason, "the service shows none"), c.diags)
		return created
	}
	found := "So far, the service does not return the subscription"
	if result.status == lookupFound {
		found = fmt.Sprintf("The service returns %d subscriptions to this URL", len(result.matches))
	}
	c.diags.AddError("The webhook subscription may exist", fmt.Sprintf(
		"%s It is unknown whether the service now delivers to %s. The provider does not repeat the request. The new "+
			"subscription is not in the state, and nothing is tainted.\n\n%s. Apply again: the provider looks for it first, "+
			"and creates it only if the service does not return it. To manage an existing one, import it:\n\n%s",
		cause, c.plan.receiver(), found, c.plan.importBlock()))
	return notCreated
}

// summaryUnclear tells a lost response from one that does not say what the service did.
func summaryUnclear(err error) string {
	if failure, ok := errors.AsType[*client.Error](err); ok && failure.Status != 0 {
		return "The response to the webhook subscription does not show what the service did"
	}
	return "The response to the webhook subscription was lost"
}

// search looks for a subscription until it is there.
func (c *creation) search(ctx context.Context) lookupResult {
	until := time.Now().Add(recoveryTimeout)
	if c.timeout > 0 {
		until = c.deadline
	}
	result := lookupResult{reason: "the request to read it failed"}
	for interval := minPollInterval; ; interval = min(2*interval, maxPollInterval) {
		// An interrupt or a short timeout may have lost the response. One read is due in any case.
		latest, err := c.plan.lookup(context.WithoutCancel(ctx), forCreate, c.lock.Refresh)
		if err == nil {
			result = latest
		}
		pause := interval
		if asked := client.RetryAfterOf(err); asked > 0 && asked < time.Until(c.deadline) {
			pause = max(interval, asked)
			if next := time.Now().Add(pause + minPollInterval); next.After(until) {
				until = next
			}
		}
		if len(result.matches) > c.replaced || time.Until(until) < pause || !client.Sleep(ctx, pause) {
			return result
		}
	}
}

func (c *creation) warnNotReadBack(cause string) {
	c.diags.AddWarning("The webhook subscription could not be read back",
		"The subscription exists, and the next plan reads it again. "+cause)
}

// storedSubscription is a subscription as the state has it, or had it: with -replace and replace_triggered_by, the same
// run creates again what it has abandoned.
type storedSubscription struct {
	state   subscriptionModel
	private privateData
}

// sent reports whether the planned request is the one that was sent.
func (s *storedSubscription) sent(plan *subscriptionModel) bool {
	request := *plan
	request.ID = types.StringNull()         // unknown in a plan
	if request.PayloadVersion.IsUnknown() { // the provider sets it
		if s.private.WriteOnly == nil && !s.state.PayloadVersion.IsNull() {
			return false // of a tainted resource, the provider gets no digest
		}
		request.PayloadVersion = types.Int64Value(max(s.state.PayloadVersion.ValueInt64(), defaultWriteOnlyVersion))
	}
	return !s.private.WriteOnly.differsFrom(plan.PayloadWriteOnly) &&
		len(request.withoutEmptyPayload().changes(s.state.sentFor(&request, s.private))) == 0
}

// keepReplaced takes the subscription that this one replaces into the state again, if the request stays the same: a
// second one would deliver each update twice.
func (c *creation) keepReplaced(ctx context.Context) bool {
	value, _ := c.connection.abandoned.LoadAndDelete(c.plan.key())
	abandoned, ok := value.(storedSubscription)
	if !ok {
		return false
	}
	if !abandoned.sent(&c.plan) {
		if c.lock != nil {
			existing, _ := c.plan.lookup(ctx, forCreate, c.lock.Get) // create reports an error
			c.replaced = len(existing.matches)
		}
		return false
	}
	planned, digest := c.plan.PayloadVersion, abandoned.private.WriteOnly
	c.private = abandoned.private
	c.private.Recorded, c.private.Unchanged = true, false
	c.markExisting()
	if digest != nil {
		c.private.WriteOnly = digest
	}
	if planned.IsUnknown() && !abandoned.state.PayloadVersion.IsNull() {
		c.plan.PayloadVersion = abandoned.state.PayloadVersion
	}
	c.plan.SubscriptionID, c.plan.Readable = abandoned.state.SubscriptionID, abandoned.state.Readable
	c.plan.Pointers = abandoned.state.Pointers
	c.plan.planOutput(&abandoned.state, c.diags)
	c.diags.AddWarning("The webhook subscription was kept", fmt.Sprintf(
		"Terraform replaces the resource, but the request stays the same. The provider sent nothing, and manages the "+
			"existing subscription to %s again.\n\nTo create another subscription, change an argument of the request.",
		c.plan.receiver()))
	return true
}
