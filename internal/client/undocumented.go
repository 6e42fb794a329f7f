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
	return c.transition(ctx, OpCompleteApplication, c.config.CompleteMethod, id, seen)
}

// RejectApplication moves an application from "in review" to rejected: /ext/applications/{id}/reject (interface: Reject
// application). See Config.RejectMethod; otherwise as CompleteApplication.
func (c *Client) RejectApplication(ctx context.Context, id int64, seen State) (*Change, error) {
	return c.transition(ctx, OpRejectApplication, c.config.RejectMethod, id, seen)
}

// transitionMethods are the methods that complete and reject could have, the likeliest first.
var transitionMethods = []string{http.MethodPatch, http.MethodPost, http.MethodPut}

func (c *Client) transition(
	ctx context.Context, op Operation, configured TransitionMethod, id int64, seen State,
) (*Change, error) {
	known, methods := c.forms[op], transitionMethods
	if configured != TransitionAuto {
		methods = []string{string(configured)}
	} else if learned := known.method.Load(); learned != nil {
		methods = moveToFront(methods, []string{*learned})
	}
	forms := known.toTry()
	outcome := NotSent
	var notFound *Error // the response to a method
	notAllowed := false // what the service says of another one
	for {
		q := forms[0].apply(newRequest(op, id))
		q.method = methods[0]
		change, err := c.change(ctx, q)
		refusedForm := known.learn(forms[0], err)
		if err == nil || failureOf(err).saysMethodExists() {
			known.method.Store(&methods[0])
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
	q.headers.Del("Content-Type")
	methods, err := do(ctx, c, q, func(a *answer) ([]string, error) {
		return supportedMethods(a.Header.Values("Allow")), nil
	})
	if err != nil && KindOf(err) == KindMethodNotAllowed {
		return failureOf(err).allowedMethods, nil
	}
	return methods, err
}

// form is how a request without a documented payload is sent.
type form struct {
	body  []byte
	typed bool // with the Content-Type
}

func (f *form) apply(q *request) *request {
	q.body = f.body
	if !f.typed {
		q.headers.Del("Content-Type")
	}
	return q
}

// forms are the readings of the payload of an operation, the likeliest first. Which of them the service takes is
// learned, from one request to the next, and so is the method.
type forms struct {
	readings []*form
	// alike is what operations that are probably alike have learned: the form to begin with.
	alike    *atomic.Pointer[form]
	refusals atomic.Int32 // since the client was made
	learned  atomic.Pointer[form]
	method   atomic.Pointer[string] // of complete and reject: the one that the service has
}

// undocumentedForms are for operations whose payload is not documented: an empty object, or no body, with the
// Content-Type that the interface lists for every request or without it. Some frameworks refuse one without a body.
var undocumentedForms = []*form{{encode(struct{}{}), true}, {nil, true}, {nil, false}}

func newForms() map[Operation]*forms {
	of := map[Operation]*forms{ // a deletion has no body
		OpDeleteApplication: {readings: undocumentedForms[1:], alike: new(atomic.Pointer[form])},
	}
	alike := new(atomic.Pointer[form])
	for _, op := range []Operation{OpCompleteApplication, OpRejectApplication, OpResendInvites, OpResetIndividual} {
		of[op] = &forms{readings: undocumentedForms, alike: alike}
	}
	return of
}

// toTry are the forms to send, in order. After all of them were refused, it is the same order again, because the
// refusals may have been about something else.
func (f *forms) toTry() []*form {
	if learned := f.learned.Load(); learned != nil {
		return []*form{learned}
	}
	first := (max(slices.Index(f.readings, f.alike.Load()), 0) + int(f.refusals.Load())) % len(f.readings)
	return append(f.readings[first:len(f.readings):len(f.readings)], f.readings[:first]...)
}

// learn takes over what came of a form that was sent, and reports whether the service may have refused the form.
func (f *forms) learn(sent *form, err error) (refused bool) {
	switch {
	case err == nil:
		f.learned.Store(sent)
		f.alike.Store(sent)
		return false
	case f.learned.Load() != nil || !refusesForm(failureOf(err)):
		return false
	}
	f.refusals.Add(1)
	return true
}

// refusesForm reports whether a response could be about the body as a whole. It is no proof that nothing was done. The
// status of what was not sent is that of a login, or of a read before it.
func refusesForm(e *Error) bool {
	invalid := e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity
	return e.Outcome != NotSent && (e.Status == http.StatusUnsupportedMediaType || invalid && len(e.Problem.Fields()) == 0)
}
