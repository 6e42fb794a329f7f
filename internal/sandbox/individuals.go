package sandbox

import (
	"net/http"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

func (s *Service) retrieveIndividual(c *call) (reply, error) {
	person, err := s.account.Individual(c.id)
	switch c.dialect.RetrieveIndividual {
	case dialect.IndividualInData:
		return ok(map[string]any{"data": person}), err
	case dialect.IndividualInIndividual:
		return ok(map[string]any{"individual": person}), err
	default:
		return ok(person), err
	}
}

func (s *Service) resendInvites(c *call) (reply, error) {
	person, err := s.account.ResendInvite(c.id)
	return resendResetReply(c, person, "The invite was sent again"), err
}

func (s *Service) resetIndividual(c *call) (reply, error) {
	person, err := s.account.ResetIndividual(c.id)
	return resendResetReply(c, person, "The individual was reset"), err
}

func resendResetReply(c *call, person state.Individual, text string) reply {
	switch c.dialect.ResendResetAnswer {
	case dialect.ResendResetEmpty:
		return reply{status: http.StatusOK}
	case dialect.ResendReset202:
		return reply{status: http.StatusAccepted}
	case dialect.ResendReset204:
		return reply{status: http.StatusNoContent}
	case dialect.ResendResetIndividual:
		return ok(person)
	default:
		return ok(message{text})
	}
}
