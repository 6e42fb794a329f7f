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
// application. If the service refuses the method or the payload, the client reads the application. It sends another one
// if the state is the same, and every response has proved that nothing was done. Otherwise, the next call does.
//
// Errors: Refused: it cannot be completed yet. IsNotFound: there is no such application. Unknown: read the state.
func (c *Client) CompleteApplication(ctx context.Context, id int64, seen State) (*Change, error) {
	return c.transition(ctx, OpCompleteApplication, id, seen)
}

// RejectApplication moves an application from "in review" to rejected: /ext/applications/{id}/reject (interface: Reject
// application). See Config.RejectMethod; otherwise as CompleteApplication.
func (c *Client) RejectApplication(ctx context.Context, id int64, seen State) (*Change, error) {
	return c.transition(ctx, OpRejectApplication, id, seen)
}

// What is said of a request whose form or method the service may have refused.
const (
	anotherForm   = "the service may want another form of the request; the next one has it"
	anotherMethod = "the service may want another method; set it in spec.transitions of the IdentityService"
)

func (c *Client) transition(ctx context.Context, op Operation, id int64, seen State) (*Change, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, emailDeadline, errDeadline) // of all requests together
	defer cancel()
	known := c.forms[op]
	forms, methods := known.toTry(), known.methods.Load()
	outcome, untried := NotSent, len(*methods)
	var notFound *Error // the response to a method
	notAllowed := false // what the service says of another one
	for {
		q := forms[0].apply(newRequest(op, id))
		q.method = (*methods)[0]
		change, err := c.change(ctx, q)
		refusedForm := known.learn(forms[0], err)
		if err == nil {
			return change, nil
		}
		failure := *failureOf(err)
		sent := failure.Outcome != NotSent // else the status is that of a login, or of a read before it
		outcome = q.effect.worst(outcome, failure.Outcome)
		failure.Outcome = outcome
		isNotFound := failure.Status == http.StatusNotFound
		if !sent || !refusedForm && !isNotFound && failure.Status != http.StatusMethodNotAllowed {
			return nil, &failure
		}
		// A proxy may have sent this response after the service has done the work: the state tells.
		current, unread := c.RetrieveApplication(ctx, id)
		switch {
		case unread == nil && current.State != seen:
			return &Change{Accepted: true, Application: current}, nil
		case refusedForm:
			forms = forms[1:]
		case unread == nil && (outcome.NothingDone() || !isNotFound): // else it need not be about the method
			methods, untried = known.nextMethod(methods, untried, failure.allowedMethods), untried-1
		}
		if isNotFound {
			notFound = cmp.Or(notFound, &failure)
		}
		notAllowed = notAllowed || failure.Kind == KindMethodNotAllowed
		if unread == nil && outcome.NothingDone() && untried > 0 && len(forms) > 0 {
			continue
		}
		switch {
		case notFound != nil && !refusedForm:
			notFound.Outcome = outcome
			notFound.explainNotFound(unread, notAllowed)
			return nil, notFound
		case !refusedForm:
			failure.detail = anotherMethod
		case outcome == Unknown:
			failure.detail = anotherForm
		}
		return nil, &failure
	}
}

// explainNotFound says what a 404 to a transition is about, after a read of the application with the given result. If
// the service says of other methods that they are not allowed, it has this one.
func (e *Error) explainNotFound(read error, hasMethod bool) {
	switch {
	case read == nil && hasMethod:
		e.Kind, e.detail = KindRejected, "the application exists, so the service refuses this for another reason"
	case read == nil:
		e.Kind, e.detail = KindMethodNotAllowed, anotherMethod
	case IsNotFound(read):
		e.Kind = KindNotFound
	default:
		e.Kind, e.detail = KindUnproven, "the application could not be read to find out whether it exists"
	}
}

// transitionMethods are the methods that complete and reject could have, the likeliest first.
var transitionMethods = []string{http.MethodPatch, http.MethodPost, http.MethodPut}

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

// AllowedMethods asks with OPTIONS, which changes nothing, what methods complete or reject has; nil: it does not say.
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
	methods  atomic.Pointer[[]string] // of complete and reject: those that they could have, the next one to send first
}

// undocumentedForms are for operations whose payload is not documented: an empty object, or no body, with the
// Content-Type that the interface lists for every request or without it. Some frameworks refuse one without a body.
var undocumentedForms = []*form{{encode(struct{}{}), true}, {nil, true}, {nil, false}}

func (c *Config) forms() map[Operation]*forms {
	of := map[Operation]*forms{ // a deletion has no body
		OpDeleteApplication: {readings: undocumentedForms[1:], alike: new(atomic.Pointer[form])},
	}
	alike := new(atomic.Pointer[form])
	for _, op := range []Operation{OpCompleteApplication, OpRejectApplication, OpResendInvites, OpResetIndividual} {
		of[op] = &forms{readings: undocumentedForms, alike: alike}
	}
	for op, configured := range map[Operation]TransitionMethod{
		OpCompleteApplication: c.CompleteMethod, OpRejectApplication: c.RejectMethod,
	} {
		methods := transitionMethods
		if configured != TransitionAuto {
			methods = []string{string(configured)}
		}
		of[op].methods.Store(&methods)
	}
	return of
}

// nextMethod are the methods without the first, which the service has refused: that is the last one now. Of those that
// were not tried yet, the ones that the service allows come first.
func (f *forms) nextMethod(methods *[]string, untried int, allowed []string) *[]string {
	next := slices.Concat(moveToFront((*methods)[1:untried], allowed), (*methods)[untried:], (*methods)[:1])
	f.methods.CompareAndSwap(methods, &next) // if another request has found out more in between, that counts
	return &next
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
