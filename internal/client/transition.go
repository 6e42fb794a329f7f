package client

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// CompleteApplication moves an application from "in review" to "completed": /ext/applications/{id}/complete (interface:
// Complete application). The method is not documented: see Config.CompleteMethod. Nor is the payload: our reading is an
// empty object, or no body if the service refuses that. Read the state first, although a repetition does no harm.
//
// It returns nil if a 2xx response holds no application. After 202 the state may change later.
// Errors: Refused: the service does not let it be completed yet. IsNotFound: there is no such application.
func (c *Client) CompleteApplication(ctx context.Context, id int64) (*Application, error) {
	return c.transition(ctx, OpCompleteApplication, &c.complete, id)
}

// RejectApplication moves an application from "in review" to rejected: /ext/applications/{id}/reject (interface: Reject
// application). See Config.RejectMethod; otherwise as CompleteApplication.
func (c *Client) RejectApplication(ctx context.Context, id int64) (*Application, error) {
	return c.transition(ctx, OpRejectApplication, &c.reject, id)
}

// transitionMethods are the methods that complete and reject could have, the likeliest first.
var transitionMethods = []string{http.MethodPatch, http.MethodPost, http.MethodPut}

// transitionMethod is what is known about the method of complete or reject.
type transitionMethod struct {
	configured TransitionMethod
	learned    atomic.Pointer[string] // the method that the service accepted
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

func (c *Client) transition(
	ctx context.Context, op Operation, known *transitionMethod, id int64,
) (*Application, error) {
	methods, outcome := known.candidates(), NotSent
	for {
		method := methods[0]
		response, err := c.doWithReadings(ctx, request{op: op, method: method, id: id}, &known.payload)
		if err == nil {
			known.learned.Store(&method)
			return applicationIfAny(response, id), nil
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
		if methods = methods[1:]; len(methods) == 0 || refusal.Kind != KindMethodNotAllowed {
			return nil, refusal
		}
		methods = moveToFront(methods, refusal.allowedMethods)
	}
}

// explainNotFound finds out what a 404 to a transition means. Some routers answer 404 for a method that a path does not
// have, which must not look like an application that no longer exists.
func (c *Client) explainNotFound(ctx context.Context, notFound *Error, id int64) *Error {
	explained := *notFound
	switch _, err := c.RetrieveApplication(ctx, id); {
	case err == nil:
		explained.Kind = KindMethodNotAllowed
		explained.detail = "the application exists, so the service expects another method; configure it"
	case !IsNotFound(err):
		explained.Kind = KindRejected
		explained.detail = "the application could not be read to find out whether it exists"
	}
	return &explained
}

// moveToFront moves the preferred methods to the front.
func moveToFront(methods, preferred []string) []string {
	rank := func(method string) int {
		if slices.Contains(preferred, method) {
			return 0
		}
		return 1
	}
	sorted := slices.Clone(methods)
	slices.SortStableFunc(sorted, func(a, b string) int { return rank(a) - rank(b) })
	return sorted
}

// supportedMethods are the transition methods in an Allow header. Nothing else of the header is kept.
func supportedMethods(allow []string) []string {
	separator := func(r rune) bool { return r == ',' || r == ' ' }
	allowed := strings.FieldsFunc(strings.ToUpper(strings.Join(allow, ",")), separator)
	return slices.DeleteFunc(slices.Clone(transitionMethods), func(method string) bool {
		return !slices.Contains(allowed, method)
	})
}
