package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mandate-io/idv/internal/client"
)

// creation is one run of Create.
type creation struct {
	plan    subscriptionModel
	history history
	service *client.Client
	resp    *resource.CreateResponse
}

// Create subscribes, at most once.
func (r *subscriptionResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	c := creation{resp: resp}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &c.plan)...)
	c.history = readHistory(ctx, resp.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if c.service = r.connection.service(&resp.Diagnostics); c.service == nil {
		if !resp.Diagnostics.HasError() {
			resp.Diagnostics.Append(r.connection.problem)
		}
		return
	}
	if !c.plan.ApplicationID.IsNull() {
		// One after the other for an application: the service may show only the newest webhook, and whether one exists
		// can then be told only as long as no other one comes after it.
		defer r.connection.creating.lock(c.plan.ApplicationID.ValueInt64())()
	}
	if c.mayBeSent(ctx) {
		c.send(ctx)
	}
}

// mayBeSent looks for an equal subscription and does with it what on_existing says.
func (c *creation) mayBeSent(ctx context.Context) bool {
	adopt := c.plan.OnExisting.ValueString() == existingAdopt
	if c.plan.ApplicationID.IsNull() {
		if adopt {
			c.record(ctx, nil)
		}
		return !adopt
	}
	seen, err := c.plan.lookUp(ctx, c.service)
	switch {
	case err != nil:
		addError(&c.resp.Diagnostics, "Cannot look whether the webhook subscription exists", err)
	case seen.verdict == absent:
		return true
	case seen.verdict == found && adopt:
		c.record(ctx, nil)
		c.observe(ctx, seen)
	case seen.verdict == found:
		c.resp.Diagnostics.AddAttributeError(path.Root("on_existing"), "The webhook subscription exists already", fmt.Sprintf(
			"The service delivers updates of application %d to %s already; a second subscription would deliver them twice. Nothing was "+
				"sent. Set on_existing = %q to take it over, or import it by the id %q.",
			c.plan.ApplicationID.ValueInt64(), c.plan.shownURL(), existingAdopt, fmt.Sprintf("%d/URL", c.plan.ApplicationID.ValueInt64())))
	case adopt:
		c.resp.Diagnostics.AddAttributeError(path.Root("on_existing"), "Cannot tell whether the webhook subscription exists", fmt.Sprintf(
			"It cannot be read back, because %s. Nothing was sent. If you know that it does not exist, set on_existing = %q, which then "+
				"subscribes. If you know that it does, import it by the id %q.",
			seen.why, existingFail, fmt.Sprintf("%d/URL", c.plan.ApplicationID.ValueInt64())))
	default:
		c.resp.Diagnostics.AddWarning("Could not look for an equal webhook subscription", fmt.Sprintf(
			"Whether %s was subscribed before cannot be told, because %s.", c.plan.shownURL(), seen.why))
		return true
	}
	return false
}

func (c *creation) send(ctx context.Context) {
	// An interrupt must not cut the request: the service would go on, and only the answer would be lost. The client's
	// own timeout bounds it.
	answer, err := c.service.SubscribeWebhook(context.WithoutCancel(ctx), c.plan.request())
	switch {
	case err == nil:
		c.history.Created = time.Now().UTC()
		c.record(ctx, answer)
		c.readBack(ctx)
	case client.OutcomeOf(err) == client.Unknown:
		c.recover(ctx, err)
	default:
		addRefusal(&c.resp.Diagnostics, "Cannot subscribe the webhook", err, c.plan.fieldPaths())
	}
}

// record writes the state: from here on nothing may be an error, because that would taint the resource, and a tainted
// one is replaced, by a second subscription.
func (c *creation) record(ctx context.Context, answer *client.SubscriptionAnswer) {
	c.plan.settle(answer)
	c.write(ctx)
	c.resp.Diagnostics.Append(c.resp.Identity.Set(ctx, c.plan.identity())...)
}

func (c *creation) write(ctx context.Context) {
	c.history.write(ctx, c.resp.Private, &c.resp.Diagnostics)
	c.resp.Diagnostics.Append(c.resp.State.Set(ctx, &c.plan)...)
}

func (c *creation) observe(ctx context.Context, seen sighting) {
	c.history.Seen = true
	c.plan.observe(seen.matches, &c.resp.Diagnostics)
	c.write(ctx)
}

// readBack completes the state of a subscription that is known to exist. What goes wrong with it is no failure.
func (c *creation) readBack(ctx context.Context) {
	if c.plan.ApplicationID.IsNull() {
		return
	}
	seen, err := c.plan.lookUp(ctx, c.service)
	switch {
	case err != nil:
		c.resp.Diagnostics.AddWarning("The webhook subscription could not be read back", "It exists. "+describe(err))
	case seen.verdict == found:
		c.observe(ctx, seen)
	}
}
