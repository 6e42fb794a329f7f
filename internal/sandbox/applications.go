package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

func (a *account) createApplication(r *request) (response, error) {
	input, err := decodeApplication(r.body)
	if err != nil {
		return response{}, err
	}
	if err := a.mayCreate(r, input.MandateType); err != nil {
		return response{}, err
	}
	app, err := a.data.Create(input, a.uniquenessPause(r))
	if err != nil {
		return response{}, err
	}
	resp := a.createReply(r, app.Overview)
	resp.status = cmp.Or(statusIn(r.dialect.CreateStatus), resp.status)
	return resp, nil
}

// mayCreate refuses a create as the dialect says, whatever the input.
func (a *account) mayCreate(r *request, mandateType int64) error {
	if status := statusIn(r.dialect.CreateRefusal); status != 0 {
		return &statusError{status: status, title: "The account cannot create applications now"}
	}
	types := a.data.References.MandateTypes
	last := types[len(types)-1].ID
	if mandateType == last && r.dialect.ForbiddenMandateType == dialect.ForbiddenMandateTypeLast {
		return r.forbidden()
	}
	return nil
}

// createReply says where the id of a new application is.
func (a *account) createReply(r *request, app state.Overview) response {
	location := http.Header{"Location": {apiPrefix + "/ext/applications/" + strconv.FormatInt(app.ID, 10)}}
	withReference := func(change func(map[string]any)) response {
		tree, _ := decodeTree(mustMarshal(app)).(map[string]any)
		change(tree)
		return ok(tree)
	}
	switch r.dialect.CreateBody {
	case dialect.CreateBodyEmpty:
		return response{status: http.StatusOK}
	case dialect.CreateBodyLocation:
		return response{status: http.StatusCreated, header: location}
	case dialect.CreateBodyLocation303:
		return response{status: http.StatusSeeOther, header: location}
	case dialect.CreateBodyList:
		return ok([]state.Overview{app})
	case dialect.CreateBodyJob:
		return response{
			status: http.StatusAccepted, json: map[string]any{"id": a.data.JobID(), "status": "queued"},
		}
	case dialect.CreateBodyEnvelope:
		return ok(map[string]any{"id": 1, "result": app})
	case dialect.CreateBodyNoReference:
		return withReference(func(tree map[string]any) { delete(tree, "reference") })
	case dialect.CreateBodyNullReference:
		return withReference(func(tree map[string]any) { tree["reference"] = nil })
	default:
		return ok(app)
	}
}

// uniquenessPause waits between a create's check for duplicates and its insert. Nil makes them one step.
func (a *account) uniquenessPause(r *request) func() error {
	if r.dialect.UniquenessGap == 0 {
		return nil
	}
	return func() error {
		if !a.pause(int64(r.dialect.UniquenessGap)) {
			return &statusError{status: http.StatusServiceUnavailable, title: "The sandbox is shutting down"}
		}
		return nil
	}
}

func (a *account) retrieveApplication(r *request) (response, error) {
	app, err := a.data.Retrieve(r.id)
	return ok(app), err
}

func (a *account) deleteApplication(r *request) (response, error) {
	resp := response{status: http.StatusNoContent, json: messageBody{"The application was deleted"}}
	return resp.withSuccessDialect(r.dialect), a.data.Delete(r.id)
}

func (a *account) archiveApplication(r *request) (response, error) {
	app, err := a.data.Archive(r.id)
	return ok(app).withSuccessDialect(r.dialect), err
}

func (a *account) completeApplication(r *request) (response, error) {
	app, err := a.data.Complete(r.id)
	return transitionReply(r, app, "The application was completed"), err
}

func (a *account) rejectApplication(r *request) (response, error) {
	app, err := a.data.Reject(r.id)
	return transitionReply(r, app, "The application was rejected"), err
}

func transitionReply(r *request, app state.Application, text string) response {
	if status := statusIn(r.dialect.TransitionAnswer); status != 0 {
		return response{status: status}
	}
	if r.dialect.TransitionAnswer == dialect.TransitionMessage {
		return ok(messageBody{text})
	}
	return ok(app)
}

func decodeApplication(body []byte) (state.NewApplication, error) {
	m, _ := newMembers(body)
	input := state.NewApplication{
		Name:        m.text("name"),
		Reference:   m.text("reference"),
		MandateType: m.integer("mandate_type"),
		Suppress:    member[bool](m, "suppress_email_notification", "true or false"),
	}
	invalid := &state.InvalidError{Fields: m.problems}
	input.Individuals = decodeIndividuals(m, invalid)
	m.rejectUnknown()
	if !invalid.Empty() {
		return input, invalid
	}
	return input, nil
}

func decodeIndividuals(m members, invalid *state.InvalidError) []state.Person {
	raw := m.rest["individuals"]
	delete(m.rest, "individuals")
	var list []json.RawMessage
	if raw != nil && json.Unmarshal(raw, &list) != nil {
		invalid.Individuals = []state.FieldErrors{}
		return nil
	}
	people := make([]state.Person, len(list))
	for i, entry := range list {
		one, isObject := newMembers(entry)
		if !isObject {
			invalid.AddIndividual(i, len(list), "non_field_errors", "must be an object")
			continue
		}
		people[i].Individual = config.Individual{
			Email: one.text("email"), Title: one.text("title"), FirstName: one.text("first_name"),
			MiddleName: one.text("middle_name"), LastName: one.text("last_name"),
			DateOfBirth: one.text("date_of_birth"), Gender: one.text("gender"), Reference: one.text("reference"),
		}
		_, people[i].MiddleNameSent = one.sent["middle_name"]
		one.rejectUnknown()
		for field, messages := range one.problems {
			invalid.AddIndividual(i, len(list), field, messages[0])
		}
	}
	return people
}
