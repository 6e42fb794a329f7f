package state

import (
	"maps"
	"strconv"

	"github.com/mandate-io/idv/internal/sandbox/control"
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

func (a *Account) newCheck(person *individual, kind checkKind) *check {
	c := &check{
		Check: Check{ID: a.nextID(&a.ids.check), Name: kind.name, Title: kind.title},
		kind:  kind, individual: person,
	}
	c.reset()
	return c
}

// AcceptCheck accepts a check, as a decision of the client.
func (a *Account) AcceptCheck(id int64, comment Comment) error {
	return a.decide(control.AcceptCheck, id, checkManuallyAccepted, comment)
}

// RejectCheck rejects a check, as a decision of the client.
func (a *Account) RejectCheck(id int64, comment Comment) error {
	return a.decide(control.RejectCheck, id, checkManuallyRejected, comment)
}

func (a *Account) decide(op control.Operation, id int64, decision Status, comment Comment) error {
	decide := func(c *check) (func(), error) {
		d := a.dialect.Get()
		return func() {
			app := c.individual.application
			c.Status = decision
			c.addComment(comment)
			a.touch(app)
			a.publish(app, "check."+decision.event(), c.individual.ID)
			if decision == checkManuallyRejected && d.CheckRejection == dialect.CheckRejectionEmails {
				a.send(control.Notice, c.individual)
			}
			a.updateStatus(app)
		}, c.decidable(comment, d)
	}
	_, err := change(a, op, &a.checks, id, decide, (*check).view)
	return err
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
