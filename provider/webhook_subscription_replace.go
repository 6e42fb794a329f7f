package provider

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// abandonedSubscription is a subscription that this run has removed from the state. It still exists at the service.
type abandonedSubscription struct {
	state   subscriptionModel
	private privateData
}

// subscriptionKey identifies a subscription at the service.
type subscriptionKey struct {
	applicationID int64
	url           string
}

func (m *subscriptionModel) key() subscriptionKey {
	url, known := m.effectiveURL()
	if !known {
		url = m.URL.ValueString()
	}
	return subscriptionKey{m.ApplicationID.ValueInt64(), client.CanonicalURL(url)}
}

// abandonedSubscriptions are those of one run. With -replace and replace_triggered_by, the same run creates again what
// it has abandoned.
type abandonedSubscriptions struct {
	mu  sync.Mutex
	all map[subscriptionKey][]abandonedSubscription
	// adopted are those that this run has adopted. With create_before_destroy, the old resource is destroyed after that.
	adopted map[subscriptionKey]bool
}

func (a *abandonedSubscriptions) add(state subscriptionModel, private privateData) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[subscriptionKey][]abandonedSubscription{}
	}
	a.all[state.key()] = append(a.all[state.key()], abandonedSubscription{state, private})
}

// take returns a subscription that the planned one replaces, if possible one with the same request.
func (a *abandonedSubscriptions) take(plan *subscriptionModel, writeOnly types.String) *abandonedSubscription {
	a.mu.Lock()
	defer a.mu.Unlock()
	candidates := a.all[plan.key()]
	if len(candidates) == 0 {
		return nil
	}
	isSame := func(s abandonedSubscription) bool { return s.sent(plan, writeOnly) }
	n := max(0, slices.IndexFunc(candidates, isSame))
	found := candidates[n]
	a.all[plan.key()] = slices.Delete(candidates, n, n+1)
	return &found
}

func (a *abandonedSubscriptions) adopt(m *subscriptionModel) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.adopted == nil {
		a.adopted = map[subscriptionKey]bool{}
	}
	a.adopted[m.key()] = true
}

// isAdopted reports whether another resource manages the subscription, so that nothing is left behind.
func (a *abandonedSubscriptions) isAdopted(m *subscriptionModel) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.adopted[m.key()]
}

// sent reports whether the planned request is the one that was sent.
func (a *abandonedSubscription) sent(plan *subscriptionModel, writeOnly types.String) bool {
	request := *plan
	if request.WriteOnlyVersion.IsUnknown() { // the provider sets it
		if a.private.WriteOnly == nil && !a.state.WriteOnlyVersion.IsNull() {
			return false // of a tainted resource, the provider gets no digest
		}
		request.WriteOnlyVersion = types.Int64Value(max(a.state.WriteOnlyVersion.ValueInt64(), defaultWriteOnlyVersion))
	}
	return !a.private.WriteOnly.differsFrom(writeOnly) &&
		len(request.withoutEmptyWriteOnly(writeOnly).changes(a.state.sentFor(&request, a.private))) == 0
}

// keep takes the abandoned subscription into the state again: a second one would deliver each update twice.
func (c *createOperation) keep(abandoned *abandonedSubscription) {
	planned := c.plan.WriteOnlyVersion
	c.private = abandoned.private
	c.private.Recorded, c.private.Unchanged = true, ""
	digest := abandoned.private.WriteOnly
	c.markExisting(nil)
	if digest != nil {
		c.private.WriteOnly = digest
	}
	if planned.IsUnknown() && !abandoned.state.WriteOnlyVersion.IsNull() {
		c.plan.WriteOnlyVersion = abandoned.state.WriteOnlyVersion
	}
	c.plan.ResponseJSON = abandoned.state.ResponseJSON
	c.plan.WebhookJSON = abandoned.state.WebhookJSON
	c.plan.DriftDetection = abandoned.state.DriftDetection
	c.resp.Diagnostics.AddWarning("The webhook subscription was kept", fmt.Sprintf(
		"Terraform replaces the resource, but the request stays the same. The provider sent nothing, and manages the "+
			"existing subscription to %s again.\n\nTo create another subscription, change an argument of the request.",
		c.plan.displayURL()))
}
