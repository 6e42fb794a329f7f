package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mandate-io/idv/internal/client"
)

const (
	// recoveryTimeout is how long the provider looks for a subscription whose response was lost, unless a timeout is
	// configured: the service may be slow to create it, or to return it.
	recoveryTimeout = 8 * time.Second
	// The interval between two requests doubles.
	minPollInterval = time.Second
	maxPollInterval = 8 * time.Second
)

// recoverLostResponse finds out whether a request without a response created the subscription. It never sends the
// request again.
func (c *createOperation) recoverLostResponse(ctx context.Context, lost error) {
	result := lookupResult{reason: reasonNoApplication}
	if c.lock != nil {
		result = c.poll(ctx)
	}
	if result.status == lookupFound && len(result.matches) == c.replacedMatches+1 {
		c.private.Created = time.Now().UTC()
		c.markExisting(nil)
		c.setMatches(result)
		c.resp.Diagnostics.AddAttributeWarning(path.Root("response_json"),
			"The response to the webhook subscription was lost", c.requestFields().errorCause(lost)+
				" The provider found the subscription by reading it back, so no action is needed. `response_json` stays null.")
		return
	}
	c.resp.Diagnostics.AddError("The webhook subscription may exist", fmt.Sprintf(
		"%s It is unknown whether the service now delivers to %s. The service cannot delete a subscription, so the "+
			"provider does not repeat the request. The new subscription is not in the state, and nothing is tainted.\n\n%s",
		c.requestFields().errorCause(lost), c.plan.displayURL(), c.recoverySteps(result)))
}

func (c *createOperation) poll(ctx context.Context) lookupResult {
	until := time.Now().Add(recoveryTimeout)
	if c.timeoutConfigured {
		until = c.deadline
	}
	result := lookupResult{reason: "the request to read it failed"}
	for interval := minPollInterval; ; interval = min(2*interval, maxPollInterval) {
		// An interrupt or a short timeout may have lost the response. One read is due in any case.
		latest, err := c.plan.lookup(context.WithoutCancel(ctx), c.service, forCreate, c.lock.webhooks.refresh)
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
		created := result.status == lookupFound && len(result.matches) > c.replacedMatches
		if created || time.Until(until) < pause || !client.Sleep(ctx, pause) {
			return result
		}
	}
}

// recoverySteps says how to continue while it is unknown whether the subscription exists.
func (c *createOperation) recoverySteps(result lookupResult) string {
	adopt := fmt.Sprintf("`on_existing = %q`", existingAdopt)
	if c.lock == nil {
		return "Without `application_id`, the subscription cannot be read back:\n" +
			"1. Find out whether it exists, from a delivery or from the service's support.\n" +
			"2. If it exists or may exist, set " + adopt + " and apply again. The provider takes it into the state and " +
			"sends nothing.\n" +
			"3. If it does not exist, apply again without a change. The provider creates it."
	}
	switch {
	case result.status == lookupFound && len(result.matches) == c.replacedMatches:
		return "So far, the service returns only the subscription to replace:\n" +
			"1. Set " + adopt + " and apply again, to take that subscription into the state.\n" +
			"2. Apply the change again."
	case result.status == lookupFound:
		return fmt.Sprintf("The service returns %d subscriptions to this URL, and it is unknown which of them is the new "+
			"one. Set %s and apply again to manage them as one.", len(result.matches), adopt)
	case result.status == lookupAbsent:
		return "So far, the service does not return the subscription. Set " + adopt + " and apply again. The provider " +
			"adopts the subscription if it exists by then, and creates it otherwise."
	default:
		return fmt.Sprintf("The subscription cannot be read back, because %s. As soon as it can, set %s and apply again. "+
			"The provider adopts the subscription if it exists, and creates it otherwise. If you know that it exists, you "+
			"can import it with the ID %q instead.", result.reason, adopt, c.plan.importIDPattern())
	}
}
