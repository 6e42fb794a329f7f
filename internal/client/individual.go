package client

import (
	"context"
	"slices"

	"github.com/mandate-io/idv/internal/client/wire"
)

// Individual as the service returns it (interface: Individual). Details reads the person's details from Raw.
type Individual struct {
	ID                                          int64  // 0 if the service gave none, or several
	Reference, Email                            Secret // "" if the service gave none, or several
	State                                       State
	Personal                                    []Secret // names and the date of birth, as far as the service shows them
	ChecksInReview, ChecksPending, ChecksPassed int32    // as the service counts, which can differ from Checks
	TermsAccepted                               bool
	CompletedActions                            []Action
	Checks                                      []Check
	Raw                                         Raw // of RetrieveIndividual, with personal data
}

// RetrieveIndividual reads an individual: GET /ext/individuals/{id}. The shape of the response is not documented: our
// reading is an individual as in an application, alone or wrapped in data or individual. Transient faults are retried.
// Errors: IsNotFound if the service does not know the id; KindUnreadable if the response shows no such individual.
func (c *Client) RetrieveIndividual(ctx context.Context, id int64) (*Individual, error) {
	return do(ctx, c, newRequest(OpRetrieveIndividual, id), func(a *answer) (*Individual, error) {
		o := a.value.Unwrap("individual")
		if o == nil {
			return nil, a.unreadable("the response is not a JSON object")
		}
		individual := parseIndividual(o)
		if individual.ID != 0 && individual.ID != id {
			return nil, a.unreadable("the response describes another individual")
		}
		individual.Raw = a.raw()
		return &individual, nil
	})
}

// ResendInvites e-mails an individual a new invitation with a new code: POST /ext/individuals/{id}/invites/resend with
// an empty object (payload and response are not documented: our reading). It sends one request, and the end of ctx does
// not cancel a request that was sent. If the service refuses the form of the body, the next call sends another one.
//
// Errors: NotSent, Refused and Forbidden: no e-mail was sent. Unknown: one may have been. A repetition may send one.
func (c *Client) ResendInvites(ctx context.Context, individualID int64) (*Change, error) {
	return c.invite(ctx, OpResendInvites, individualID)
}

// ResetIndividual deletes what an individual has entered, resets the checks, and e-mails a new code: POST
// /ext/individuals/{id}/reset with an empty object. The ids of checks may change. Otherwise as ResendInvites.
func (c *Client) ResetIndividual(ctx context.Context, individualID int64) (*Change, error) {
	return c.invite(ctx, OpResetIndividual, individualID)
}

func (c *Client) invite(ctx context.Context, op Operation, individualID int64) (*Change, error) {
	known := c.forms[op]
	form := known.toTry()[0]
	change, err := c.change(ctx, form.apply(newRequest(op, individualID)))
	if known.learn(form, err) {
		failure := *failureOf(err)
		failure.detail = anotherForm
		return nil, &failure
	}
	return change, err
}

// Details are who the individual is, as RetrieveIndividual has read it (interface: Individual, Address).
func (i *Individual) Details() Sensitive[wire.Object] {
	value, _ := wire.Parse(i.Raw.Reveal())
	return Hide(value.Unwrap("individual"))
}

func parseIndividuals(o wire.Object) []Individual {
	var individuals []Individual
	for _, item := range o.Get("individuals").List() {
		if individual := item.Unwrap("individual"); individual != nil {
			individuals = append(individuals, parseIndividual(individual))
		}
	}
	return individuals
}

func parseIndividual(o wire.Object) Individual {
	individual := Individual{
		ID: o.ID("id"), State: parseState(o.Get("status", "state")), TermsAccepted: o.Get("terms_accepted").Bool(),
		Reference: Hide(o.Identifier("reference")), Email: Hide(o.Identifier("email")),
		ChecksInReview: o.Get("checks_in_review").Count(), ChecksPending: o.Get("checks_in_pending").Count(),
		ChecksPassed: o.Get("checks_passed").Count(), CompletedActions: parseActions(o.Get("completed_actions")),
	}
	for _, m := range o {
		if slices.Contains([]string{"firstname", "middlename", "lastname", "dateofbirth"}, wire.FoldName(m.Name)) {
			individual.Personal = append(individual.Personal, Hide(m.Value.Text()))
		}
	}
	for _, check := range o.Get("checks").Objects() {
		individual.Checks = append(individual.Checks, parseCheck(check))
	}
	for _, kind := range o.Get("checks").Object() { // a list for each kind of check; not documented: our reading
		for _, o := range kind.Value.Objects() {
			if check := parseCheck(o); check.State != (State{}) {
				individual.Checks = append(individual.Checks, check)
			}
		}
	}
	return individual
}
