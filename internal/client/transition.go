package client

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// CompleteApplication moves an application from "in review" to "completed": /ext/applications/{id}/complete (interface:
// Complete application). The method is not documented: see Config.CompleteMethod. Nor is the payload: our reading is an
// empty object, or no body if the service refuses that. seen is the state in which the caller has just read the
// application. If the service refuses the method or the payload, the client reads the application, and tries another
// one only if the state is still the same.
//
// Errors: Refused: the service does not let it be completed yet. IsNotFound: there is no such application. Unknown:
// read the state.
func (c *Client) CompleteApplication(ctx context.Context, id int64, seen State) (*Change, error) {
	return c.transition(ctx, OpCompleteApplication, c.complete, id, seen)
}

// RejectApplication moves an application from "in review" to rejected: /ext/applications/{id}/reject (interface: Reject
// application). See Config.RejectMethod; otherwise as CompleteApplication.
func (c *Client) RejectApplication(ctx context.Context, id int64, seen State) (*Change, error) {
	return c.transition(ctx, OpRejectApplication, c.reject, id, seen)
}

// transitionMethods are the methods that complete and reject could have, the likeliest first.
var transitionMethods = []string{http.MethodPatch, http.MethodPost, http.MethodPut}

// transition is what is known about the request of complete or reject.
type transition struct {
	configured TransitionMethod
	learned    atomic.Pointer[string] // the method that the service has
	forms      *forms
}

func (t *transition) methods() []string {
	if t.configured != TransitionAuto {
		return []string{string(t.configured)}
	}
	if learned := t.learned.Load(); learned != nil {
		return moveToFront(transitionMethods, []string{*learned})
	}
	return transitionMethods
}

func (c *Client) transition(
	ctx context.Context, op Operation, known *transition, id int64, seen State,
) (*Change, error) {
	methods, forms := known.methods(), known.forms.toTry()
	outcome := NotSent
	var notFound *Error // the response to a method
	notAllowed := false // what the service says of another one
	for {
		q := forms[0].apply(newRequest(op, id))
		q.method = methods[0]
		change, err := c.change(ctx, q)
		refusedForm := known.forms.learn(forms[0], err)
		if err == nil || failureOf(err).saysMethodExists() {
			known.learned.Store(&methods[0])
		}
		if err == nil {
			return change, nil
		}
		failure := *failureOf(err)
		outcome = q.effect.worst(outcome, failure.Outcome)
		sent := failure.Outcome != NotSent // else the status is that of a login, or of a read before it
		failure.Outcome = outcome
		switch {
		case !sent:
			return nil, &failure
		case refusedForm:
			forms = forms[1:]
		case failure.Status == http.StatusMethodNotAllowed, failure.Status == http.StatusNotFound:
			methods = moveToFront(methods[1:], failure.allowedMethods)
			notAllowed = notAllowed || failure.Status == http.StatusMethodNotAllowed
			if failure.Status == http.StatusNotFound {
				notFound = cmp.Or(notFound, &failure)
			}
		default:
			return nil, &failure
		}
		// A proxy may have sent this response after the service has done the work: the state tells.
		current, err := c.RetrieveApplication(ctx, id)
		switch {
		case err == nil && current.State != seen:
			return &Change{Accepted: true, Application: current}, nil
		case err == nil && len(methods) > 0 && len(forms) > 0:
		case notFound == nil, refusedForm:
			return nil, &failure
		default:
			notFound.Outcome = outcome
			notFound.explainNotFound(err, notAllowed)
			return nil, notFound
		}
	}
}

// saysMethodExists reports whether the service itself refuses something else than the method.
func (e *Error) saysMethodExists() bool {
	return e.Problem != nil && e.Outcome != NotSent && e.Status != http.StatusMethodNotAllowed &&
		e.Status != http.StatusNotFound
}

// explainNotFound says what a 404 to a transition is about, after a read of the application with the given result. If
// the service says of other methods that they are not allowed, it has this one.
func (e *Error) explainNotFound(read error, hasMethod bool) {
	switch {
	case read == nil && hasMethod:
		e.Kind, e.detail = KindRejected, "the application exists, so the service refuses this for another reason"
	case read == nil:
		e.Kind = KindMethodNotAllowed
		e.detail = "the application exists, so the service expects another method; configure it"
	case IsNotFound(read):
		e.Kind = KindNotFound
	default:
		e.Kind, e.detail = KindUnproven, "the application could not be read to find out whether it exists"
	}
}

func moveToFront(methods, preferred []string) []string {
	sorted := slices.Clone(methods)
	slices.SortStableFunc(sorted, func(a, b string) int { // Index is -1 for those that are not preferred
		return min(slices.Index(preferred, b), 0) - min(slices.Index(preferred, a), 0)
	})
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

// AllowedMethods asks with OPTIONS which methods complete or reject has. Nothing is done to the application. nil: the
// service does not say.
func (c *Client) AllowedMethods(ctx context.Context, op Operation, id int64) ([]string, error) {
	q := newRequest(op, id)
	q.method, q.effect = http.MethodOptions, effectNone
	q.deadline = 0
	q.header.Del("Content-Type")
	methods, err := do(ctx, c, q, func(a *answer) ([]string, error) {
		return supportedMethods(a.header.Values("Allow")), nil
	})
	if err != nil && KindOf(err) == KindMethodNotAllowed {
		return failureOf(err).allowedMethods, nil
	}
	return methods, err
}
