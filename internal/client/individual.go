package client

import (
	"context"
	"encoding/json"
)

// Individual is what the service says of an individual (interface: Resources, Individual). Who the person is stays in
// Raw; only what tells of the progress is read.
type Individual struct {
	ID        int64 // 0 if the service gave none, or several
	Reference Secret
	State     State
	// Counters as the service gives them, whatever Checks says.
	ChecksInReview, ChecksPending, ChecksPassed int32
	TermsAccepted                               bool
	CompletedActions                            []Action
	Checks                                      []Check
	// Raw is the whole answer of RetrieveIndividual, personal data included; in an Application it is empty.
	Raw Sensitive[json.RawMessage]
}

// RetrieveIndividual reads an individual: GET /ext/individuals/{id}. The shape of the answer is not documented: our
// reading is an individual as in an application, alone or wrapped in data or individual. Passing faults are retried.
// Errors: IsNotFound if the service does not know the id; KindUnreadable if the answer is no JSON object, or is about
// another individual.
func (c *Client) RetrieveIndividual(ctx context.Context, id int64) (*Individual, error) {
	answer, err := c.do(ctx, call{op: OpRetrieveIndividual, id: id})
	if err != nil {
		return nil, err
	}
	o, err := parseObject(answer.body)
	if err != nil {
		return nil, unreadable(answer, "the answer is not a JSON object")
	}
	individual := parseIndividual(o.unwrap("individual"))
	if individual.ID != 0 && individual.ID != id {
		return nil, unreadable(answer, "the answer is about another individual than was asked for")
	}
	individual.Raw = Hide(json.RawMessage(answer.body))
	return &individual, nil
}

// ResendInvites e-mails an individual a new invitation with a new code: POST /ext/individuals/{id}/invites/resend with
// an empty object (payload and answer are not documented: our reading; any 2xx is success). It sends one request, and
// is not cut short when ctx ends. Only if the service refuses the empty object, and provably did nothing, one without a
// body follows; which of them it takes is remembered.
//
// Errors: NotSent and Refused (KindNotFound, KindInvalid, ...): no mail went out. Unknown: one may have; to call again
// may send another.
func (c *Client) ResendInvites(ctx context.Context, individualID int64) error {
	_, err := c.doWithReadings(ctx, call{op: OpResendInvites, id: individualID}, &c.resend)
	return err
}

// ResetIndividual resets what an individual has entered and the checks, and e-mails a new code to begin again: POST
// /ext/individuals/{id}/reset with an empty object. Ids of checks may change. Otherwise as ResendInvites.
func (c *Client) ResetIndividual(ctx context.Context, individualID int64) error {
	_, err := c.doWithReadings(ctx, call{op: OpResetIndividual, id: individualID}, &c.reset)
	return err
}

func parseIndividual(o object) Individual {
	individual := Individual{
		ID: o.id("id"), State: parseState(o.get("status", "state")), TermsAccepted: o.boolean("terms_accepted"),
		ChecksInReview: o.count("checks_in_review"), ChecksPending: o.count("checks_in_pending"), ChecksPassed: o.count("checks_passed"),
		CompletedActions: parseActions(o.objects("completed_actions")),
	}
	if reference, err := o.unambiguous("reference"); err == nil {
		text, _ := parseString(reference)
		individual.Reference = Hide(text)
	}
	for _, check := range o.objects("checks") {
		individual.Checks = append(individual.Checks, parseCheck(check))
	}
	return individual
}
