package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
)

const (
	// recoveryTime is how long a subscription whose answer was lost is looked for, if timeouts do not say: the service may
	// be slow to make it, or to show it.
	recoveryTime = 8 * time.Second
	// The pauses between two looks double from the first to the last.
	firstPause, lastPause = time.Second, 8 * time.Second
)

// recover finds out what became of a subscription whose answer was lost. It never sends it again.
func (c *creation) recover(ctx context.Context, lost error) {
	seen := sighting{why: "there is no application_id"}
	if c.turn != nil {
		seen = c.lookRepeatedly(ctx)
	}
	if seen.verdict == found && len(seen.matches) == c.before+1 {
		c.history.Created = time.Now().UTC()
		c.record(nil)
		c.observe(seen)
		c.resp.Diagnostics.AddAttributeWarning(path.Root("response_json"), "The answer to the webhook subscription was lost",
			sentence(lost)+" The subscription was found by reading it back, so all is well; response_json stays null.")
		return
	}
	c.resp.Diagnostics.AddError("The webhook subscription may exist", fmt.Sprintf(
		"%s Whether the service now delivers to %s is not known. The service cannot take a subscription back, so it was not sent again; "+
			"nothing is in the state, and nothing is tainted.\n\n%s", sentence(lost), c.plan.shownURL(), c.advice(seen)))
}

func (c *creation) lookRepeatedly(ctx context.Context) sighting {
	until := time.Now().Add(recoveryTime)
	if c.patient {
		until = c.deadline
	}
	seen := sighting{why: "the service could not be asked"}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		// An interrupt, or too short a time, may have been what lost the answer; one look is due all the same.
		if now, err := c.plan.lookUp(context.WithoutCancel(ctx), c.service, c.turn.askAgain); err == nil {
			seen = now
		}
		if seen.verdict == found && len(seen.matches) > c.before || time.Until(until) < pause {
			return seen
		}
		select {
		case <-ctx.Done():
			return seen
		case <-time.After(pause):
		}
	}
}

// advice says how to go on when it is not known whether the subscription exists.
func (c *creation) advice(seen sighting) string {
	if c.turn == nil {
		return fmt.Sprintf("Without application_id it cannot be read back. Find out whether it exists: from a delivery, or from the operator of "+
			"the service. If it does, or may, set on_existing = %q and apply again: it is taken into the state, and nothing is sent. If it "+
			"does not, apply again as before: it is subscribed.", existingAdopt)
	}
	switch {
	case seen.verdict == found && len(seen.matches) == c.before:
		return fmt.Sprintf("The service shows only what was to be replaced, so far. Set on_existing = %q and apply again to have that in the "+
			"state, and make the change once more.", existingAdopt)
	case seen.verdict == found:
		return fmt.Sprintf("The service shows %d subscriptions to this URL, and which of them this was cannot be told. Set on_existing = %q and "+
			"apply again to take them over as one.", len(seen.matches), existingAdopt)
	case seen.verdict == absent:
		return fmt.Sprintf("The service does not show it, so far. Set on_existing = %q and apply again: if it exists by then, it is taken "+
			"over, and if not, it is subscribed.", existingAdopt)
	default:
		return fmt.Sprintf("It cannot be read back, because %s. Set on_existing = %q and apply again when it can be: if it exists, it is taken "+
			"over, and if not, it is subscribed. If you know that it exists, you can import it by the id %q.",
			seen.why, existingAdopt, fmt.Sprintf("%d/URL", c.plan.ApplicationID.ValueInt64()))
	}
}
