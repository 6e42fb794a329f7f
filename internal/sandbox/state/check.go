package state

import (
	"maps"
	"strconv"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// Check is one part of an individual's verification (interface: Check).
type Check struct {
	ID       int64             `json:"id"`
	Status   Status            `json:"status"`
	Name     string            `json:"name"`
	Title    string            `json:"title"`
	Results  []FieldResult     `json:"individual_checkfield_result"`
	Instance map[string]string `json:"instance"`
}

// FieldResult is the result of a check for one field.
type FieldResult struct {
	ID         int64  `json:"id"`
	Individual int64  `json:"individual"`
	CheckField int64  `json:"check_field"`
	Result     string `json:"result"`
	Status     int64  `json:"status"`
}

// Comment is the comment on the decision of a check. Every field is optional.
type Comment struct {
	Text, For string
	Reference *int64
}

type check struct {
	Check
	automaticStatus Status // before a decision of the client
	kind            checkKind
	individual      *individual
}

func (a *Account) addCheck(person *individual, kind checkKind) {
	c := &check{
		Check: Check{ID: a.nextID(&a.ids.check), Name: kind.name, Title: kind.title},
		kind:  kind, individual: person,
	}
	c.reset()
	person.checks = append(person.checks, c)
	a.checks[c.ID] = c
}

// AcceptCheck accepts a check, as a decision of the client.
func (a *Account) AcceptCheck(id int64, comment Comment) error {
	return a.decide(id, checkManuallyAccepted, comment)
}

// RejectCheck rejects a check, as a decision of the client.
func (a *Account) RejectCheck(id int64, comment Comment) error {
	return a.decide(id, checkManuallyRejected, comment)
}

func (a *Account) decide(id int64, decision Status, comment Comment) error {
	defer a.lock()()
	c, ok := a.checks[id]
	if !ok {
		return ErrNotFound
	}
	if err := c.decidable(comment, a.dialect.Get()); err != nil {
		return err
	}
	app := c.individual.application
	c.Status = decision
	c.addComment(comment)
	a.touch(app)
	a.publish(app, "check."+decision.event(), c.individual.ID)
	a.updateStatus(app)
	return nil
}

func (c *check) decidable(comment Comment, d dialect.Dialect) error {
	reference := comment.Reference
	required := d.CheckReference == dialect.CheckReferenceRequired
	switch {
	case required && reference == nil,
		reference != nil && d.CheckReference != "" && *reference != c.ID:
		return InvalidField("reference", "must be the id of the check")
	case c.individual.application.Status.final():
		return &RefusedError{Reason: "the application is concluded"}
	case c.decided() && d.RepeatedDecision == dialect.RepeatedDecisionRefused:
		return &RefusedError{Reason: "the check is already decided"}
	case c.Status != checkInReview && !c.decided() && d.DecidableChecks == dialect.DecidableInReview:
		return &RefusedError{Reason: "the check is not in review"}
	}
	return nil
}

func (c *check) decided() bool {
	return c.Status == checkManuallyAccepted || c.Status == checkManuallyRejected
}

// addComment stores a comment in the instance, which can have arbitrary members.
func (c *check) addComment(comment Comment) {
	if comment.Text != "" {
		c.Instance["comment"] = comment.Text
	}
	if comment.For != "" {
		c.Instance["comment_for"] = comment.For
	}
	if comment.Reference != nil {
		c.Instance["reference"] = strconv.FormatInt(*comment.Reference, 10)
	}
}

func (c *check) reset() {
	c.Status, c.automaticStatus = checkPending, checkPending
	c.Results, c.Instance = nil, map[string]string{}
}

func (c *check) view() Check {
	view := c.Check
	view.Results = append([]FieldResult{}, c.Results...)
	view.Instance = maps.Clone(c.Instance)
	return view
}
