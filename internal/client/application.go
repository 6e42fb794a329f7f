package client

import (
	"context"
	"encoding/json"
)

// Application as the service returns it (interface: Application). What the service left out has the zero value.
type Application struct {
	ID          int64
	Name        Secret // the user's own text, which may hold a person's name
	Reference   string
	State       State
	MandateType MandateType
	Archived    bool
	Actions     []Action
	// Individuals is empty in the response to create.
	Individuals []Individual
	// Raw is the whole response, with personal data.
	Raw Sensitive[json.RawMessage]
}

// MandateType of an application (interface: Application, mandate_type in responses).
type MandateType struct {
	ID                      int64
	Name, Code, Description string
}

// Action of an application or an individual, available or completed (interface: Application, available_actions).
type Action struct {
	ID          int64
	Name, Title string
}

// NewApplication is what CreateApplication sends (interface: Create application). Empty fields are left out.
type NewApplication struct {
	Name Secret
	// Reference is unique in the account, at most 150 characters (interface: Limits).
	Reference                 string
	MandateTypeID             int64
	SuppressEmailNotification bool
	Individuals               []NewIndividual
}

// NewIndividual is an individual of a NewApplication (interface: Individual). All of it is personal data.
type NewIndividual struct {
	Email, Title, FirstName, MiddleName, LastName Secret
	DateOfBirth                                   Secret // YYYY-MM-DD
	Gender, Reference                             Secret
}

// CreateApplication creates an application and e-mails each individual, unless suppressed: POST /ext/applications. It
// sends one request, over a connection of its own, and never retries it. The end of ctx does not cancel a request that
// was sent.
//
// Errors: NotSent: nothing left this process. Refused (KindInvalid, KindDuplicateReference, KindCredentials, ...):
// nothing was created. Unknown: the application may exist; a response without a readable id is one of these. Do not
// create it again with another reference.
func (c *Client) CreateApplication(ctx context.Context, application NewApplication) (*Application, error) {
	var created *Application
	parse := func(r *response) (err error) {
		created, err = parseCreated(r)
		return err
	}
	_, err := c.do(ctx, request{op: OpCreateApplication, body: application.encode(), parse: parse})
	return created, err
}

// RetrieveApplication reads an application with its individuals and checks: GET /ext/applications/{id}. Transient
// faults are retried.
// Errors: IsNotFound if the service does not know the id: it never existed, is deleted, expired after eight weeks, or
// belongs to another account. The interface does not tell them apart, and a read may lag behind a create.
func (c *Client) RetrieveApplication(ctx context.Context, id int64) (*Application, error) {
	var application *Application
	parse := func(r *response) error {
		parsed, err := parseApplication(r)
		if err == nil && parsed.ID != id {
			return unreadable(r, "the response describes another application")
		}
		application = parsed
		return err
	}
	_, err := c.do(ctx, request{op: OpRetrieveApplication, id: id, parse: parse})
	return application, err
}

// DeleteApplication deletes an application with its individuals and their check data: DELETE /ext/applications/{id}. It
// cannot be undone. Any 2xx is success.
// Errors: IsNotFound if it no longer exists.
func (c *Client) DeleteApplication(ctx context.Context, id int64) error {
	_, err := c.doWithReadings(ctx, request{op: OpDeleteApplication, id: id}, &c.deletion)
	return err
}

// ArchiveApplication archives an application and keeps its data: PATCH /ext/applications/{id}/archive with an empty
// object. It returns nil if a 2xx response holds no application (not documented: our reading).
func (c *Client) ArchiveApplication(ctx context.Context, id int64) (*Application, error) {
	response, err := c.do(ctx, request{op: OpArchiveApplication, id: id, body: emptyObject()})
	if err != nil {
		return nil, err
	}
	return applicationIfAny(response, id), nil
}

// applicationIfAny reads a response whose shape is not documented: the application, a message, or nothing.
func applicationIfAny(response *response, id int64) *Application {
	application, err := parseApplication(response)
	if err != nil || application.ID != id || application.State == (State{}) {
		return nil
	}
	return application
}

type applicationBody struct {
	Name                      string           `json:"name"`
	Reference                 string           `json:"reference,omitempty"`
	MandateType               int64            `json:"mandate_type,omitempty"`
	SuppressEmailNotification bool             `json:"suppress_email_notification"`
	Individuals               []individualBody `json:"individuals"`
}

type individualBody struct {
	Email       string `json:"email,omitempty"`
	Title       string `json:"title,omitempty"`
	FirstName   string `json:"first_name,omitempty"`
	MiddleName  string `json:"middle_name,omitempty"`
	LastName    string `json:"last_name,omitempty"`
	DateOfBirth string `json:"date_of_birth,omitempty"`
	Gender      string `json:"gender,omitempty"`
	Reference   string `json:"reference,omitempty"`
}

func (a NewApplication) encode() []byte {
	body := applicationBody{
		Name: a.Name.Reveal(), Reference: a.Reference, MandateType: a.MandateTypeID,
		SuppressEmailNotification: a.SuppressEmailNotification, Individuals: []individualBody{},
	}
	for _, i := range a.Individuals {
		body.Individuals = append(body.Individuals, individualBody{
			Email:       i.Email.Reveal(),
			Title:       i.Title.Reveal(),
			FirstName:   i.FirstName.Reveal(),
			MiddleName:  i.MiddleName.Reveal(),
			LastName:    i.LastName.Reveal(),
			DateOfBirth: i.DateOfBirth.Reveal(),
			Gender:      i.Gender.Reveal(),
			Reference:   i.Reference.Reveal(),
		})
	}
	return encode(body)
}

// parseApplication reads an application, alone or wrapped. id and reference identify it, so they must be unambiguous;
// everything else is read as far as possible.
func parseApplication(response *response) (*Application, error) {
	application, o, err := parseIdentity(response)
	if err != nil {
		return nil, err
	}
	var d decoder
	d.application(application, o)
	if err := d.err(); err != nil {
		return nil, unusable(response, err, "")
	}
	return application, nil
}

// parseCreated reads the answer to a create. If it holds too much of an application, that is left out: the id must not
// be lost.
func parseCreated(response *response) (*Application, error) {
	application, o, err := parseIdentity(response)
	if err != nil {
		return nil, err
	}
	var d decoder
	d.application(application, o)
	if d.exceeded() {
		return &Application{ID: application.ID, Reference: application.Reference, Raw: application.Raw}, nil
	}
	return application, nil
}

// parseIdentity reads what tells which application it is.
func parseIdentity(response *response) (*Application, object, error) {
	o, err := response.object()
	if err != nil {
		return nil, nil, unusable(response, err, "the response is not a JSON object")
	}
	o = o.unwrap("application", "mandate")
	id := o.id("id")
	if id == 0 {
		return nil, nil, unreadable(response, "the response holds no id, or several")
	}
	raw, err := o.unambiguous("reference")
	if err != nil {
		return nil, nil, unreadable(response, "the response holds several references")
	}
	reference, _ := parseString(raw)
	return &Application{ID: id, Reference: reference, Raw: response.raw()}, o, nil
}

// application reads the rest of an application.
func (d *decoder) application(a *Application, o object) {
	d.texts += len(a.Reference)
	a.Name = Hide(d.text(o, "name"))
	a.State = d.state(o.get("status", "state"))
	a.MandateType = d.mandateType(o.get("mandate_type", "application_type"))
	a.Archived = o.boolean("archived")
	a.Actions = d.actions(o, "available_actions")
	for individual := range o.objects("individuals") {
		d.individuals++
		if d.individuals > maxIndividuals || !d.take() {
			break
		}
		a.Individuals = append(a.Individuals, d.individual(individual))
	}
}

func (d *decoder) mandateType(raw json.RawMessage) MandateType {
	if o, ok := asObject(raw); ok {
		return MandateType{
			ID: o.id("id"), Name: d.text(o, "name"), Code: d.text(o, "code"), Description: d.text(o, "description"),
		}
	}
	id, _ := parseID(raw)
	return MandateType{ID: id}
}

func (d *decoder) actions(o object, name string) []Action {
	var actions []Action
	for action := range o.objects(name) {
		if !d.take() {
			break
		}
		actions = append(actions, Action{
			ID: action.id("id"), Name: d.text(action, "name"), Title: d.text(action, "title"),
		})
	}
	return actions
}
