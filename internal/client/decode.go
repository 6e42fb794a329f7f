package client

import "github.com/mandate-io/idv/internal/client/wire"

// unreadable is the error of a 2xx response that differs from the interface. The request was probably carried out.
func (a *answer) unreadable(detail string) *Error {
	return &Error{Operation: a.op, Kind: KindUnreadable, Status: a.status, detail: detail}
}

// parseApplication reads an application, alone or wrapped. id and reference identify it, so they must be unambiguous;
// everything else is read as far as possible.
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
		ID:          o.ID("id"),
		Name:        Hide(o.Text("name")),
		Reference:   o.Identifier("reference"),
		State:       parseState(o.Get("status", "state")),
		MandateType: parseMandateType(o.Get("mandate_type", "application_type")),
		Archived:    o.Get("archived").Bool(),
	}
}

func parseMandateType(value wire.Value) MandateType {
	if !value.IsObject() {
		id, _ := value.ID()
		return MandateType{ID: id}
	}
	o := value.Object()
	return MandateType{ID: o.ID("id"), Name: o.Text("name"), Code: o.Text("code"), Description: o.Text("description")}
}

func parseActions(value wire.Value) []Action {
	var actions []Action
	for o := range value.Objects() {
		actions = append(actions, Action{ID: o.ID("id"), Name: o.Text("name"), Title: o.Text("title")})
	}
	return actions
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
		ID:               o.ID("id"),
		Reference:        Hide(o.Identifier("reference")),
		Email:            Hide(o.Identifier("email")),
		State:            parseState(o.Get("status", "state")),
		TermsAccepted:    o.Get("terms_accepted").Bool(),
		ChecksInReview:   o.Get("checks_in_review").Count(),
		ChecksPending:    o.Get("checks_in_pending").Count(),
		ChecksPassed:     o.Get("checks_passed").Count(),
		CompletedActions: parseActions(o.Get("completed_actions")),
	}
	checks := o.Get("checks")
	for check := range checks.Objects() {
		individual.Checks = append(individual.Checks, parseCheck(check))
	}
	for _, kind := range checks.Object() { // a list for each kind of check; not documented: our reading
		for o := range kind.Value.Objects() {
			if check := parseCheck(o); check.State != (State{}) {
				individual.Checks = append(individual.Checks, check)
			}
		}
	}
	return individual
}

func parseCheck(o wire.Object) Check {
	check := Check{
		ID: o.ID("id"), Name: o.Text("name"), Title: o.Text("title"), State: parseState(o.Get("status", "state")),
	}
	for result := range o.Get("individual_checkfield_result").Objects() {
		if name, failed := parseFieldResult(result); failed {
			check.FailedFields = append(check.FailedFields, name)
		}
	}
	return check
}
