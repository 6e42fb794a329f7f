package client

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// CompleteApplication moves an application from "in review" to "completed": /ext/applications/{id}/complete. The method
// is not documented: see Config.CompleteMethod; nor is the payload: an empty object, or no body if that is refused. Sending it twice is harmless, but read the state first. The result is
// nil if a 2xx answer holds no application; 202 means that the state may change later.
// Errors: Refused, while the service does not let it be completed yet; IsNotFound only if there is no such application.
func (c *Client) CompleteApplication(ctx context.Context, id int64) (*Application, error) {
	return c.transition(ctx, OpCompleteApplication, &c.complete, id)
}

// RejectApplication moves an application from "in review" to rejected: /ext/applications/{id}/reject. Otherwise as
// CompleteApplication.
func (c *Client) RejectApplication(ctx context.Context, id int64) (*Application, error) {
	return c.transition(ctx, OpRejectApplication, &c.reject, id)
}

// transitionMethods are the methods that complete and reject could have, the likeliest first.
var transitionMethods = []string{http.MethodPatch, http.MethodPost, http.MethodPut}

// transitionMethod is what is known about the method of complete or reject.
type transitionMethod struct {
	configured TransitionMethod
	learned    atomic.Pointer[string] // the method that the service took
	payload    payload
}

// candidates are the methods to try, in order.
func (m *transitionMethod) candidates() []string {
	if m.configured != "" && m.configured != TransitionAuto {
		return []string{string(m.configured)}
	}
	if learned := m.learned.Load(); learned != nil {
		return moveToFront(transitionMethods, []string{*learned})
	}
	return transitionMethods
}

func (c *Client) transition(ctx context.Context, op Operation, known *transitionMethod, id int64) (*Application, error) {
	left, outcome := known.candidates(), NotSent
	for {
		method := left[0]
		answer, err := c.doWithReadings(ctx, call{op: op, method: method, id: id}, &known.payload)
		if err == nil {
			known.learned.Store(&method)
			return applicationIfAny(answer, id), nil
		}
		var refusal *Error
		if !errors.As(err, &refusal) {
			return nil, err
		}
		outcome = worstOutcome(outcome, refusal.Outcome)
		refusal.Outcome = outcome
		if IsNotFound(err) {
			if refusal = c.explainNotFound(ctx, refusal, id); IsNotFound(refusal) {
				return nil, refusal
			}
		}
		if left = left[1:]; len(left) == 0 || refusal.Kind != KindMethodNotAllowed {
			return nil, refusal
		}
		left = moveToFront(left, refusal.allowedMethods)
	}
}

// explainNotFound tells what a 404 to a transition is about: some routers say 404 for a method that a path does not have,
// and that must not pass for an application that is gone.
func (c *Client) explainNotFound(ctx context.Context, notFound *Error, id int64) *Error {
	explained := *notFound
	switch _, err := c.RetrieveApplication(ctx, id); {
	case err == nil:
		explained.Kind, explained.detail = KindMethodNotAllowed, "the application exists, so the service seems to want another method; set it in the configuration"
	case !IsNotFound(err):
		explained.Kind, explained.detail = KindRejected, "and it could not be found out whether the application exists"
	}
	return &explained
}

// moveToFront moves those of methods that are in first to the front.
func moveToFront(methods, first []string) []string {
	rank := func(method string) int {
		if slices.Contains(first, method) {
			return 0
		}
		return 1
	}
	sorted := slices.Clone(methods)
	slices.SortStableFunc(sorted, func(a, b string) int { return rank(a) - rank(b) })
	return sorted
}

// supportedMethods are those of an Allow header that a transition could use; nothing else of what a service wrote is kept.
func supportedMethods(allow []string) []string {
	named := strings.FieldsFunc(strings.ToUpper(strings.Join(allow, ",")), func(r rune) bool { return r == ',' || r == ' ' })
	return slices.DeleteFunc(slices.Clone(transitionMethods), func(m string) bool { return !slices.Contains(named, m) })
}
