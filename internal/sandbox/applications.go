package sandbox

import (
	"encoding/json"
	"net/http"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

func (s *Service) createApplication(c *call) (reply, error) {
	input, err := decodeApplication(c.body)
	if err != nil {
		return reply{}, err
	}
	app, err := s.account.Create(input, s.uniquenessPause(c))
	if err != nil {
		return reply{}, err
	}
	answer := ok(app.Overview)
	switch c.dialect.CreateStatus {
	case dialect.CreateStatus201:
		answer.status = http.StatusCreated
	case dialect.CreateStatus202:
		answer.status = http.StatusAccepted
	case dialect.CreateStatus204:
		answer.status = http.StatusNoContent
	}
	if c.dialect.CreateBody == dialect.CreateBodyEmpty {
		answer.json = nil
	}
	return answer, nil
}

// uniquenessPause is what a create waits between looking for duplicates and
// inserting; nil is no pause at all.
func (s *Service) uniquenessPause(c *call) func() error {
	if c.dialect.UniquenessGap == 0 {
		return nil
	}
	return func() error {
		if !s.pause(int64(c.dialect.UniquenessGap)) {
			return &statusError{status: http.StatusServiceUnavailable, title: "The sandbox ends"}
		}
		return nil
	}
}

func (s *Service) retrieveApplication(c *call) (reply, error) {
	app, err := s.account.Retrieve(c.id)
	return ok(app), err
}

func (s *Service) deleteApplication(c *call) (reply, error) {
	answer := reply{status: http.StatusNoContent, json: message{"The application was deleted"}}
	return answer.undocumented(c.dialect), s.account.Delete(c.id)
}

func (s *Service) archiveApplication(c *call) (reply, error) {
	app, err := s.account.Archive(c.id)
	return ok(app).undocumented(c.dialect), err
}

func (s *Service) completeApplication(c *call) (reply, error) {
	app, err := s.account.Complete(c.id)
	return transitionReply(c, app, "The application was completed"), err
}

func (s *Service) rejectApplication(c *call) (reply, error) {
	app, err := s.account.Reject(c.id)
	return transitionReply(c, app, "The application was rejected"), err
}

func transitionReply(c *call, app state.Application, text string) reply {
	switch c.dialect.TransitionAnswer {
	case dialect.TransitionMessage:
		return ok(message{text})
	case dialect.Transition202:
		return reply{status: http.StatusAccepted}
	case dialect.Transition204:
		return reply{status: http.StatusNoContent}
	default:
		return ok(app)
	}
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
	m.end()
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
		people[i] = state.Person{
			Email: one.text("email"), Title: one.text("title"), FirstName: one.text("first_name"),
			MiddleName: one.text("middle_name"), LastName: one.text("last_name"),
			DateOfBirth: one.text("date_of_birth"), Gender: one.text("gender"), Reference: one.text("reference"),
		}
		one.end()
		for field, messages := range one.problems {
			invalid.AddIndividual(i, len(list), field, messages[0])
		}
	}
	return people
}
