package client

import (
	"context"

	"github.com/mandate-io/idv/internal/client/wire"
)

// Application as the service returns it (interface: Application). What the service left out has the zero value.
type Application struct {
	ID          int64
	Name        Secret // the user's own text, which may hold a person's name
	Reference   string
	State       State
	MandateType Reference // interface: Application, mandate_type in responses
	Archived    bool
	Actions     []Action
	Individuals []Individual // empty in the response to create
	// Accepted, in the response to create: the service creates it later (202). Until then, a read may not find it.
	Accepted bool
	Raw      Raw // the whole response, with personal data
}

// NoSuchID is above every plausible id, and can be held exactly by every program. To read it shows how a service
// answers about what does not exist. Ids near one that exists are never tried.
const NoSuchID = 9007199254740990

// Action of an application or an individual, available or completed (interface: Application, available_actions).
type Action struct {
	ID          int64
	Name, Title string
}

// NewApplication is what CreateApplication sends (interface: Create application). Empty fields are left out.
type NewApplication struct {
	Name                      Secret
	Reference                 string // unique in the account, at most 150 characters (interface: Limits)
	MandateTypeID             int64
	SuppressEmailNotification bool
	Individuals               []NewIndividual
}

// NewIndividual is an individual of a NewApplication (interface: Individual). All of it is personal data.
type NewIndividual struct {
	Email, Title, FirstName, LastName Secret
	MiddleName                        *Secret // may be an empty string (interface: Individual); nil leaves it out
	DateOfBirth                       Secret  // YYYY-MM-DD
	Gender, Reference                 Secret
}

// CreateApplication creates an application and e-mails each individual, unless suppressed: POST /ext/applications. It
// sends one request, on its own connection, and never again. The end of ctx does not cancel a request that was sent.
//
// Errors: NotSent: nothing left this process. Refused and Forbidden: nothing was created. Candidate: the response shows
// an id, and not whose. Accepted: the service creates it later, and the response shows no id. Unknown: the application
// may exist. Do not create it again with another reference.
func (c *Client) CreateApplication(ctx context.Context, application NewApplication) (*Application, error) {
	q := newRequest(OpCreateApplication, 0).sending(application.body())
	q.reference = application.Reference
	return do(ctx, c, q, func(a *answer) (*Application, error) {
		created := parseIdentity(a.shown())
		created.Accepted, created.Raw = a.accepted(), a.raw()
		return created, nil
	})
}

// RetrieveApplication reads an application: GET /ext/applications/{id}. Transient faults are retried.
// Errors: IsNotFound if the service does not know the id: it never existed, is deleted, expired after eight weeks, or
// belongs to another account. The interface does not tell them apart, and a read may lag behind a create.
func (c *Client) RetrieveApplication(ctx context.Context, id int64) (*Application, error) {
	return do(ctx, c, newRequest(OpRetrieveApplication, id), func(a *answer) (*Application, error) {
		application, err := parseApplication(a)
		if err == nil && application.ID != id {
			return nil, a.unreadable("the response describes another application")
		}
		return application, err
	})
}

// DeleteApplication deletes an application with its individuals and their check data: DELETE /ext/applications/{id}. It
// cannot be undone. If the service refuses the form of the request, it is sent without a Content-Type.
// Errors: IsNotFound if it no longer exists.
func (c *Client) DeleteApplication(ctx context.Context, id int64) (change *Change, err error) {
	known := c.forms[OpDeleteApplication]
	for _, form := range known.toTry() {
		change, err = c.change(ctx, form.apply(newRequest(OpDeleteApplication, id)))
		if !known.learn(form, err) {
			break
		}
	}
	return change, err
}

// ArchiveApplication archives an application and keeps its data: PATCH /ext/applications/{id}/archive with an empty
// object. Errors: Refused: nothing was changed. Unknown: read it.
func (c *Client) ArchiveApplication(ctx context.Context, id int64) (*Change, error) {
	return c.change(ctx, newRequest(OpArchiveApplication, id).sending(struct{}{}))
}

func (a *NewApplication) body() map[string]any {
	individuals := []map[string]any{}
	for i := range a.Individuals {
		individuals = append(individuals, a.Individuals[i].body())
	}
	body := withoutEmpty(map[string]any{"reference": a.Reference, "mandate_type": a.MandateTypeID})
	body["name"], body["suppress_email_notification"] = a.Name.Reveal(), a.SuppressEmailNotification
	body["individuals"] = individuals
	return body
}

func (i *NewIndividual) body() map[string]any {
	body := withoutEmpty(map[string]any{
		"email": i.Email.Reveal(), "reference": i.Reference.Reveal(), "title": i.Title.Reveal(),
		"first_name": i.FirstName.Reveal(), "last_name": i.LastName.Reveal(),
		"date_of_birth": i.DateOfBirth.Reveal(), "gender": i.Gender.Reveal(),
	})
	if i.MiddleName != nil {
		body["middle_name"] = i.MiddleName.Reveal()
	}
	return body
}

// parseApplication reads an application, alone or wrapped. Its id and reference must be unambiguous.
func parseApplication(a *answer) (*Application, error) {
	o := a.value.Unwrap("application", "mandate")
	if _, ok := o.Unambiguous("reference"); !ok {
		return nil, a.unreadable("the response holds several references")
	}
	application := parseIdentity(o)
	if application.ID == 0 {
		return nil, a.unreadable("the response holds no id, or several")
	}
	application.Actions, application.Individuals = parseActions(o.Get("available_actions")), parseIndividuals(o)
	application.Raw = a.raw()
	return application, nil
}

func parseIdentity(o wire.Object) *Application {
	return &Application{
		ID: o.ID("id"), Name: Hide(o.Text("name")), Reference: o.Identifier("reference"),
		State: parseState(o.Get("status", "state")), Archived: o.Get("archived").Bool(),
		MandateType: parseReference(o.Get("mandate_type", "application_type")),
	}
}

func parseActions(value wire.Value) []Action {
	var actions []Action
	for _, o := range value.Objects() {
		actions = append(actions, Action{ID: o.ID("id"), Name: o.Text("name"), Title: o.Text("title")})
	}
	return actions
}
