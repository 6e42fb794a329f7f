package sandbox

import (
	"cmp"
	"net/http"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

func (a *account) retrieveIndividual(r *request) (response, error) {
	person, err := a.data.Individual(r.id)
	switch r.dialect.RetrieveIndividual {
	case dialect.IndividualInData:
		return ok(map[string]any{"data": person}), err
	case dialect.IndividualInIndividual:
		return ok(map[string]any{"individual": person}), err
	default:
		return ok(person), err
	}
}

func (a *account) resendInvites(r *request) (response, error) {
	person, err := a.data.ResendInvite(r.id)
	return resendResetReply(r, person, "The invite was sent again"), err
}

func (a *account) resetIndividual(r *request) (response, error) {
	person, err := a.data.ResetIndividual(r.id)
	return resendResetReply(r, person, "The individual was reset"), err
}

func resendResetReply(r *request, person state.Individual, text string) response {
	switch answer := r.dialect.ResendResetAnswer; answer {
	case "":
		return ok(messageBody{text})
	case dialect.ResendResetIndividual:
		return ok(person)
	default:
		return response{status: cmp.Or(statusIn(answer), http.StatusOK)}
	}
}

func (a *account) acceptCheck(r *request) (response, error) {
	return decideCheck(r, a.data.AcceptCheck, "The check was accepted")
}

func (a *account) rejectCheck(r *request) (response, error) {
	return decideCheck(r, a.data.RejectCheck, "The check was rejected")
}

func decideCheck(r *request, decide func(int64, state.Comment) error, text string) (response, error) {
	m, _ := newMembers(r.body)
	comment := state.Comment{
		Text: m.text("comment"), For: m.text("comment_for"),
		Reference: member[*int64](m, "reference", "an integer"),
	}
	m.rejectUnknown()
	if len(m.problems) > 0 {
		return response{}, &state.InvalidError{Fields: m.problems}
	}
	return ok(messageBody{text}).withSuccessDialect(r.dialect), decide(r.id, comment)
}
