package client

import (
	"context"
	"slices"
)

// A request passes through a chain of methods, each of which has one concern and calls the next. What is below them is
// an http.RoundTripper, which Config.Wrap can wrap.
//
//	retry         sends again what the operation allows
//	waitForLimit  waits for the rate limit and for Retry-After
//	authenticate  adds the token, and renews it
//	exchange      sends one HTTP request, and says what the response proves

const maxAttempts = 3

// retry sends a request again after a fault, as far as its effect allows.
func (c *Client) retry(ctx context.Context, q *request) (*answer, *Error) {
	for attempt := 1; ; attempt++ {
		a, failure := c.waitForLimit(ctx, q)
		if failure == nil {
			return a, nil
		}
		failure.Outcome = q.effect.worst(q.outcome, failure.Outcome)
		if attempt == maxAttempts || !retryable(ctx, q.effect, failure) || !c.admitsRetry() ||
			!c.limits.retries.Allow() || !c.limits.backOff(ctx, attempt, failure.RetryAfter) || !c.admitsRetry() {
			return nil, failure
		}
	}
}

func (c *Client) admitsRetry() bool { return c.config.MayRetry == nil || c.config.MayRetry() }

func retryable(ctx context.Context, of effect, failure *Error) bool {
	if failure.contextErr != nil || hasUntrustedID(ctx) {
		return false
	}
	switch of {
	case effectNone:
		if failure.Kind == KindRateLimited {
			return failure.Status/100 != 2 // else it is the Budget, and the service did the work
		}
		return slices.Contains([]Kind{KindUnreachable, KindConnection, KindTimeout, KindServer}, failure.Kind)
	case effectRepeatable, effectLasts:
		return failure.Outcome.NothingDone() && slices.Contains([]Kind{KindUnreachable, KindRateLimited}, failure.Kind)
	default:
		return false
	}
}

// waitForLimit waits for the client's own limits.
func (c *Client) waitForLimit(ctx context.Context, q *request) (*answer, *Error) {
	if tooLong := c.limits.wait(ctx); tooLong > 0 {
		return nil, rateLimited(q.op, tooLong)
	}
	if ctx.Err() != nil {
		return nil, contextEnded(ctx, q.op, NotSent, "before the request was sent")
	}
	return c.authenticate(ctx, q)
}
