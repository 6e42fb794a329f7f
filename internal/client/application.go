package client

import (
	"context"
	"encoding/json"
)

// Application is what the service says of an application (interface: Resources, Application). What the service did not
// say has the zero value.
type Application struct {
	ID          int64
	Name        Secret // the user's own text: it may hold a person's name
	Reference   string
	State       State
	MandateType MandateType
	Archived    bool
	Actions     []Action
	// Individuals is empty in the answer of create; Retrieve and Archive fill it.
	Individuals []Individual
	// Raw is the whole answer, personal data included.
	Raw Sensitive[json.RawMessage]
}

// MandateType of an application (interface: Application, mandate_type in responses).
type MandateType struct {
	ID                      int64
	Name, Code, Description string
}

// Action that is available or completed (interface: Application, available_actions).
type Action struct {
	ID          int64
	Name, Title string
}

// CreateApplication creates an application and e-mails each individual, unless suppressed: POST /ext/applications. It
// sends one request, over a connection of its own, never again by itself, and is not cut short when ctx ends.
//
// Errors: NotSent (nothing left this process), Refused (KindInvalid, KindDuplicateReference, KindCredentials, ...:
// nothing was created), Unknown: it may exist, and an answer without a readable id is one of these. A call with an
// Unknown outcome must not be repeated with another reference.
func (c *Client) CreateApplication(ctx context.Context, application NewApplication) (*Application, error) {
	answer, err := c.do(ctx, call{op: OpCreateApplication, body: application.encode()})
	if err != nil {
		return nil, err
	}
	return parseApplication(answer)
}

// RetrieveApplication reads an application with its individuals and checks: GET /ext/applications/{id}. Passing faults
// are retried. Errors: IsNotFound if the service does not know the id (never existed, deleted, expired after eight
// weeks, another account's: the interface does not tell them apart, and a read may lag behind a create).
func (c *Client) RetrieveApplication(ctx context.Context, id int64) (*Application, error) {
	answer, err := c.do(ctx, call{op: OpRetrieveApplication, id: id})
	if err != nil {
		return nil, err
	}
	application, err := parseApplication(answer)
	if err == nil && application.ID != id {
		return nil, unreadable(answer, "the answer is about another application than was asked for")
	}
	return application, err
}

// DeleteApplication deletes an application with its individuals and their check data for good: DELETE
// /ext/applications/{id}. Any 2xx is success. Errors: IsNotFound if it is gone already.
func (c *Client) DeleteApplication(ctx context.Context, id int64) error {
	_, err := c.doWithReadings(ctx, call{op: OpDeleteApplication, id: id}, &c.deletion)
	return err
}

// ArchiveApplication archives an application: PATCH /ext/applications/{id}/archive with an empty object. Its data is
// kept. The result is nil if a 2xx answer holds no application (not documented: our reading).
func (c *Client) ArchiveApplication(ctx context.Context, id int64) (*Application, error) {
	answer, err := c.do(ctx, call{op: OpArchiveApplication, id: id, body: emptyObject()})
	if err != nil {
		return nil, err
	}
	return applicationIfAny(answer, id), nil
}

func emptyObject() []byte { return []byte("{}") }

// applicationIfAny reads answers whose shape is open: the application, a message with or without an id, or nothing.
func applicationIfAny(answer *answer, id int64) *Application {
	application, err := parseApplication(answer)
	if err != nil || application.ID != id || application.State == (State{}) {
		return nil
	}
	return application
}

// parseApplication reads an application, alone or wrapped. id and reference decide which application this is, so they
// are read strictly; everything else is taken as far as it can be understood.
func parseApplication(answer *answer) (*Application, error) {
	o, err := parseObject(answer.body)
	if err != nil {
		return nil, unreadable(answer, "the answer is not a JSON object")
	}
	o = o.unwrap("application", "mandate")
	id := o.id("id")
	if id == 0 {
		return nil, unreadable(answer, "the answer holds no id, or more than one")
	}
	reference, err := o.unambiguous("reference")
	if err != nil {
		return nil, unreadable(answer, "the answer holds more than one reference")
	}
	application := &Application{
		ID: id, Name: Hide(o.text("name")), State: parseState(o.get("status", "state")),
		MandateType: parseMandateType(o.get("mandate_type", "application_type")), Archived: o.boolean("archived"),
		Actions: parseActions(o.objects("available_actions")), Raw: Hide(json.RawMessage(answer.body)),
	}
	application.Reference, _ = parseString(reference)
	for _, individual := range o.objects("individuals") {
		application.Individuals = append(application.Individuals, parseIndividual(individual))
	}
	return application, nil
}

func parseMandateType(raw json.RawMessage) MandateType {
	if o, ok := asObject(raw); ok {
		return MandateType{ID: o.id("id"), Name: o.text("name"), Code: o.text("code"), Description: o.text("description")}
	}
	id, _ := parseID(raw)
	return MandateType{ID: id}
}

func parseActions(objects []object) []Action {
	var actions []Action
	for _, o := range objects {
		actions = append(actions, Action{ID: o.id("id"), Name: o.text("name"), Title: o.text("title")})
	}
	return actions
}
