package provider

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// abandonedSubscription is a subscription that this run has removed from the state. It still exists at the service.
type abandonedSubscription struct {
	state   subscriptionModel
	private privateData
}

// abandonedSubscriptions are those of one run, by key. With -replace and replace_triggered_by, the same run creates
// again what it has abandoned.
type abandonedSubscriptions struct {
	mu  sync.Mutex
	all map[string][]abandonedSubscription
}

func (a *abandonedSubscriptions) add(state subscriptionModel, private privateData) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[string][]abandonedSubscription{}
	}
	a.all[state.key()] = append(a.all[state.key()], abandonedSubscription{state, private})
}

// take returns a subscription that the planned one replaces, if possible one with the same request.
func (a *abandonedSubscriptions) take(plan *subscriptionModel) *abandonedSubscription {
	a.mu.Lock()
	defer a.mu.Unlock()
	candidates := a.all[plan.key()]
	if len(candidates) == 0 {
		return nil
	}
	isSame := func(s abandonedSubscription) bool { return s.sent(plan) }
	n := max(0, slices.IndexFunc(candidates, isSame))
	found := candidates[n]
	a.all[plan.key()] = slices.Delete(candidates, n, n+1)
	return &found
}

// sent reports whether the planned request is the one that was sent.
func (a *abandonedSubscription) sent(plan *subscriptionModel) bool {
	request := *plan
	request.ID = types.StringNull()         // unknown in a plan
	if request.PayloadVersion.IsUnknown() { // the provider sets it
		if a.private.WriteOnly == nil && !a.state.PayloadVersion.IsNull() {
			return false // of a tainted resource, the provider gets no digest
		}
		request.PayloadVersion = types.Int64Value(max(a.state.PayloadVersion.ValueInt64(), defaultWriteOnlyVersion))
	}
	return !a.private.WriteOnly.differsFrom(plan.PayloadWriteOnly) &&
		len(request.withoutEmptyPayload().changes(a.state.sentFor(&request, a.private))) == 0
}

// keepReplaced takes the subscription that this one replaces into the state again, if the request stays the same: a
// second one would deliver each update twice.
func (c *creation) keepReplaced() bool {
	abandoned := c.connection.abandoned.take(&c.plan)
	if abandoned == nil {
		return false
	}
	if !abandoned.sent(&c.plan) {
		c.replaced = 1
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
