package sandbox

import "github.com/mandate-io/idv/internal/sandbox/state"

func (s *Service) acceptCheck(c *call) (reply, error) {
	comment, err := decodeComment(c.body)
	if err != nil {
		return reply{}, err
	}
	return ok(message{"The check was accepted"}), s.account.AcceptCheck(c.id, comment)
}

func (s *Service) rejectCheck(c *call) (reply, error) {
	comment, err := decodeComment(c.body)
	if err != nil {
		return reply{}, err
	}
	return ok(message{"The check was rejected"}), s.account.RejectCheck(c.id, comment)
}

func decodeComment(body []byte) (state.Comment, error) {
	m, _ := newMembers(body)
	comment := state.Comment{
		Text: m.text("comment"), For: m.text("comment_for"),
		Reference: member[*int64](m, "reference", "an integer"),
	}
	m.end()
	if len(m.problems) > 0 {
		return comment, &state.InvalidError{Fields: m.problems}
	}
	return comment, nil
}
