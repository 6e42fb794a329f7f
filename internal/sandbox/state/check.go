package state

import (
	"maps"
	"slices"
	"strconv"
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

// FieldResult is what a check found out about one field.
type FieldResult struct {
	ID         int64  `json:"id"`
	Individual int64  `json:"individual"`
	CheckField int64  `json:"check_field"`
	Result     string `json:"result"`
	Status     int64  `json:"status"`
}

// Comment is what a person says when deciding a check. All of it is optional.
type Comment struct {
	Text, For string
	Reference *int64
}

type check struct {
	Check
	kind       checkKind
	individual *individual
}

func (a *Account) addCheck(person *individual, kind checkKind) {
	c := &check{
		Check: Check{ID: a.ids.check.next(), Name: kind.name, Title: kind.title},
		kind:  kind, individual: person,
	}
	c.restart()
	person.checks = append(person.checks, c)
	a.checks[c.ID] = c
}

// AcceptCheck accepts a check by hand, whatever its state: our reading.
func (a *Account) AcceptCheck(id int64, comment Comment) error {
	return a.decide(id, checkManuallyAccepted, comment)
}

// RejectCheck rejects a check by hand, whatever its state: our reading.
func (a *Account) RejectCheck(id int64, comment Comment) error {
	return a.decide(id, checkManuallyRejected, comment)
}

func (a *Account) decide(id int64, decision Status, comment Comment) error {
	defer a.begin()()
	c, ok := a.checks[id]
	if !ok {
		return ErrNotFound
	}
	app := c.individual.application
	if app.Status.final() {
		return &RefusedError{"the application is concluded"}
	}
	c.Status = decision
	c.note(comment)
	a.publish(app, "check."+decision.event(), c.individual.ID)
	a.settle(app)
	return nil
}

// note persists a comment where the interface has room for it: among the
// arbitrary members of instance.
func (c *check) note(comment Comment) {
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

func (c *check) restart() {
	c.Status, c.Results, c.Instance = checkPending, nil, map[string]string{}
}

// undecided is true if a check of the application keeps it from being completed.
func (a *Account) undecided(app *application) bool {
	if a.dialect.Get().UndecidedChecks != "" {
		return false
	}
	return slices.ContainsFunc(app.people, func(i *individual) bool { return i.count(checkInReview) > 0 })
}

func (c *check) view() Check {
	view := c.Check
	view.Results = append([]FieldResult{}, c.Results...)
	view.Instance = maps.Clone(c.Instance)
	return view
}
