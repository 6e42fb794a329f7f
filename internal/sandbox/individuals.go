package sandbox

func (s *Service) retrieveIndividual(c *call) (reply, error) {
	person, err := s.account.Individual(c.id)
	return ok(person), err
}

func (s *Service) resendInvites(c *call) (reply, error) {
	return ok(message{"The invite was sent again"}), s.account.ResendInvite(c.id)
}

func (s *Service) resetIndividual(c *call) (reply, error) {
	return ok(message{"The individual was reset"}), s.account.ResetIndividual(c.id)
}
