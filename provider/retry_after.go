package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mandate-io/idv/internal/client"
)

// waitRetryAfter waits as long as a service that limits requests asks, and reports whether to send the request again.
// It does so only after a failure that proves that nothing was done, and only if the pause fits into the context's
// deadline.
func waitRetryAfter(ctx context.Context, err error) bool {
	pause := client.RetryAfterOf(err)
	deadline, bounded := ctx.Deadline()
	if client.KindOf(err) != client.KindRateLimited || client.OutcomeOf(err) == client.Unknown || pause <= 0 ||
		!bounded || pause >= time.Until(deadline) {
		return false
	}
	return client.Sleep(ctx, pause)
}

// pauseOf says how long to wait before the next request, as a sentence that follows another one; "" if nothing asks to.
func pauseOf(err error) string {
	failure, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok || failure.RetryAfter <= 0 || failure.Kind == client.KindCredentials:
		return ""
	case failure.Status != 0:
		return fmt.Sprintf(" The service asks for a pause of %s (Retry-After).", failure.RetryAfter.Round(time.Second))
	default:
		return fmt.Sprintf(" The next request is due in %s.", failure.RetryAfter.Round(time.Second))
	}
}
