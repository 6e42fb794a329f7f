package provider

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// defaultTimeout is that of operations whose timeouts are not configured.
const defaultTimeout = 2 * time.Minute

// creation is one run of Create.
type creation struct {
	plan      subscriptionModel
	writeOnly types.String
	history   history
	service   *client.Client
	turn      *turn // nil without an application
	deadline  time.Time
	patient   bool // the time was configured
	before    int  // how many equal subscriptions there are that this one replaces
	exists    bool // the subscription is recorded, and what follows can only complete the state
	unread    bool // it is to be read back, which can wait for that of others
	resp      *resource.CreateResponse
}

// Create subscribes, at most once.
func (r *subscriptionResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	c := creation{resp: resp}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &c.plan)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("payload_json_wo"), &c.writeOnly)...)
	c.history = readHistory(ctx, resp.Private, &resp.Diagnostics)
	limit, problems := c.plan.Timeouts.Create(ctx, 0)
	resp.Diagnostics.Append(problems...)
	subscriptionModel{WriteOnly: c.writeOnly, FieldNames: c.plan.FieldNames}.checkWriteOnly(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if c.service = r.connection.service(&resp.Diagnostics); c.service == nil {
		r.connection.refuse(&resp.Diagnostics)
		return
	}
	if !c.plan.ApplicationID.IsNull() {
		turn, ok := r.connection.turns.take(ctx, c.plan.ApplicationID.ValueInt64())
		if !ok {
			resp.Diagnostics.AddError("Cannot subscribe the webhook", "The apply was interrupted before anything was sent.")
			return
		}
		c.turn = turn
	}
	c.patient = limit > 0
	c.deadline = time.Now().Add(cmp.Or(limit, defaultTimeout))
	ctx, cancel := context.WithDeadline(ctx, c.deadline)
	defer cancel()
	c.subscribe(ctx)
	if c.unread {
		c.readBackTogether(ctx, r.connection)
	}
	if c.exists {
		c.write(ctx)
	}
}

// subscribe ends the turn: the other subscriptions of the application wait for it.
func (c *creation) subscribe(ctx context.Context) {
	if c.turn != nil {
		defer c.turn.release()
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
			c.record(nil)
		}
		return !adopt
	}
	seen, err := c.lookUp(ctx, c.turn.ask)
	switch {
	case err != nil:
		addError(&c.resp.Diagnostics, "Cannot look whether the webhook subscription exists", err)
	case seen.verdict == absent:
		return true
	case seen.verdict == found && c.replaces():
		c.before = len(seen.matches)
		return true
	case seen.verdict == found && adopt:
		c.record(nil)
		c.observe(seen)
	case seen.verdict == found:
		c.resp.Diagnostics.AddAttributeError(path.Root("on_existing"), "The webhook subscription exists already", fmt.Sprintf(
			"The service delivers updates of application %d to %s already; a second subscription would deliver them twice. Nothing was "+
				"sent. Set on_existing = %q to take it over, or import it by the id %q. "+
				"To replace it for the sake of a change takes a resource without create_before_destroy.",
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

// replaces tells that this run has just abandoned the equal subscription for the sake of a change, which no subscription
// can be told. Without a change, such as after a renaming of the resource, it would only be a double.
func (c *creation) replaces() bool {
	receiver, _ := c.plan.receiver()
	abandoned, ok := c.turn.abandoned[receiver]
	delete(c.turn.abandoned, receiver)
	return ok && len(c.plan.changes(&abandoned)) > 0
}

// lookUp is that of the model, and knows besides what this run has subscribed: the service may be slow to show it.
func (c *creation) lookUp(ctx context.Context, ask asking) (sighting, error) {
	seen, err := c.plan.lookUp(ctx, c.service, ask)
	if receiver, _ := c.plan.receiver(); err == nil && seen.verdict != found && c.turn.created[receiver] {
		seen = sighting{verdict: found}
	}
	return seen, err
}

func (c *creation) send(ctx context.Context) {
	// An interrupt must not cut the request: the service would go on, and only the answer would be lost.
	sending, cancel := context.WithDeadline(context.WithoutCancel(ctx), c.deadline)
	defer cancel()
	answer, err := c.service.SubscribeWebhook(sending, c.plan.request(c.writeOnly))
	switch {
	case err == nil:
		c.history.Created, c.history.ID = time.Now().UTC(), answer.ID
		c.record(answer)
		if c.unread = c.turn != nil && c.turn.listed(); !c.unread {
			c.readBack(ctx)
		}
	case client.OutcomeOf(err) == client.Unknown:
		c.recover(ctx, err)
	default:
		addRefusal(&c.resp.Diagnostics, "Cannot subscribe the webhook", err, c.plan.sent(c.writeOnly))
	}
}

// record settles that there will be a state: from here on nothing may be an error, because that would taint the resource,
// and a tainted one is replaced, by a second subscription.
func (c *creation) record(answer *client.SubscriptionResponse) {
	c.exists = true
	c.history.WriteOnly = imprintOf(c.writeOnly)
	c.plan.settle(answer, c.history.WriteOnly)
	if receiver, known := c.plan.receiver(); known && c.turn != nil {
		c.turn.created[receiver] = true
	}
}

func (c *creation) observe(seen sighting) {
	if len(seen.matches) == 0 {
		return // this run made it, and the service does not show it yet
	}
	c.history.Seen = true
	c.plan.observe(seen.matches, c.history, &c.resp.Diagnostics)
}

func (c *creation) write(ctx context.Context) {
	c.history.write(ctx, c.resp.Private, &c.resp.Diagnostics)
	c.resp.Diagnostics.Append(c.resp.State.Set(ctx, &c.plan)...)
	c.resp.Diagnostics.Append(c.resp.Identity.Set(ctx, c.plan.identity())...)
}

// readBack completes the state of a subscription that is known to exist. What goes wrong with it is no failure.
func (c *creation) readBack(ctx context.Context) {
	if c.turn == nil {
		return
	}
	seen, err := c.plan.lookUp(ctx, c.service, c.turn.askSince(c.history.Created))
	switch {
	case err != nil:
		c.warnUnread(describe(err))
	case seen.verdict == found:
		c.observe(seen)
	}
}

// readBackTogether waits for another turn. All that were subscribed meanwhile are in one list.
func (c *creation) readBackTogether(ctx context.Context, connection *connection) {
	turn, ok := connection.turns.take(ctx, c.plan.ApplicationID.ValueInt64())
	if !ok {
		c.warnUnread("The time for it was over, or the apply was interrupted, while it waited for other subscriptions of the application.")
		return
	}
	defer turn.release()
	c.readBack(ctx)
}

func (c *creation) warnUnread(why string) {
	c.resp.Diagnostics.AddWarning("The webhook subscription could not be read back", "It exists. "+why)
}
