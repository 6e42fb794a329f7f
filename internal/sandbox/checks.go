package sandbox

import "github.com/mandate-io/idv/internal/sandbox/state"

func (s *Service) acceptCheck(c *call) (reply, error) {
	return decideCheck(c, s.account.AcceptCheck, "The check was accepted")
}

func (s *Service) rejectCheck(c *call) (reply, error) {
	return decideCheck(c, s.account.RejectCheck, "The check was rejected")
}

func decideCheck(c *call, decide func(int64, state.Comment) error, text string) (reply, error) {
	m, _ := newMembers(c.body)
	comment := state.Comment{
		Text: m.text("comment"), For: m.text("comment_for"),
		Reference: member[*int64](m, "reference", "an integer"),
	}
	m.end()
	if len(m.problems) > 0 {
		return reply{}, &state.InvalidError{Fields: m.problems}
	}
	return ok(message{text}).undocumented(c.dialect), decide(c.id, comment)
}
