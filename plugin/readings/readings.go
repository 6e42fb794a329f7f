// Package readings finds out which reading of its interface a service follows where the interface leaves it open. It
// uses the client of the operator and the provider, and sends logins, GETs and OPTIONS only, so it creates and changes
// nothing and e-mails nobody. What it returns holds no secret and no personal data: of a response it keeps the form,
// the names of members, of states and of actions, and the reference data.
package readings

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
	"github.com/mandate-io/idv/internal/printable"
)

// Options say which service to look at, and how far.
type Options struct {
	// Settings are those that the service has now. BaseURL is required.
	Settings    v1alpha1.ServiceSettings
	Credentials client.Credentials
	UserAgent   string
	// Applications exist at the service, and are read.
	Applications []Application
	// Report has the report on the first individual read as well.
	Report bool
	// States are those that the status of the service object shows.
	States []v1alpha1.StateStatus
}

// Application is an application of the account.
type Application struct {
	ID      int64
	Meaning Meaning // "" if nobody says
	// Reference and Individuals are what the status of its Mandate has: the reference, and the ids of the individuals in
	// the order of the spec. Empty: no Mandate.
	Reference   string
	Individuals []int64
}

// Meaning is what the state of an application means, as a person knows it.
type Meaning string

// The meanings. To all but Deleted, a spec can give names.
const (
	InReview  Meaning = "inReview"
	Completed Meaning = "completed"
	Rejected  Meaning = "rejected"
	Closed    Meaning = "closed"
	Deleted   Meaning = "deleted"
)

// Meanings lists them.
var Meanings = []Meaning{InReview, Completed, Rejected, Closed, Deleted}

// A Finding is the reading of one open point.
type Finding struct {
	// Point is the name of the open point. Where the sandbox has a switch for it, that has the same name.
	Point string `json:"point"`
	// Reading is a word for the reading, that of the switch if there is one; "" if the reads did not show it.
	Reading string `json:"reading,omitempty"`
	// Text says what follows from the reading, or why it is not known; "" if nothing follows.
	Text string `json:"text,omitempty"`
}

// Result is what was found out.
type Result struct {
	Findings   []Finding  `json:"findings"`
	Suggestion Suggestion `json:"suggestion"`
	// States are those of Options and of the applications that were read, by name, with what the suggested settings make
	// of them.
	States []v1alpha1.StateStatus `json:"states,omitempty"`
	// Sent counts the requests by kind, such as login.
	Sent map[string]int `json:"sent"`
	// Problem says why the service cannot be used as it is; "" if it can.
	Problem string `json:"problem,omitempty"`
	// References is the reference data, nil if it could not be read.
	References *client.References `json:"-"`
}

// Find returns the finding of a point.
func (r *Result) Find(point string) Finding {
	i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Point == point })
	if i < 0 {
		return Finding{}
	}
	return r.Findings[i]
}

// Check looks at a service. The error is one of the options; a service that does not work is in Result.Problem.
func Check(ctx context.Context, options Options) (*Result, error) {
	c := &check{options: options, result: &Result{Sent: map[string]int{}, States: slices.Clone(options.States)}}
	c.result.Suggestion.Settings = *options.Settings.DeepCopy()
	defer func() {
		for _, one := range c.clients {
			one.Close()
		}
	}()
	if _, err := c.connect(c.candidates()[0]); err != nil {
		return nil, err
	}
	err := c.logins(ctx)
	if err == nil {
		err = c.reads(ctx)
	}
	if err != nil {
		c.result.Problem = err.Error()
	}
	c.headers()
	c.explainStates()
	for _, l := range Laters {
		by := "before real use, nothing shows it"
		if l.Step > 0 {
			by = fmt.Sprintf("step %d of docs/first-contact.md shows it", l.Step)
		}
		c.unknown(l.Point, "%s: %s", l.Text, by)
	}
	return c.result, nil
}

// A check is one look at a service.
type check struct {
	options Options
	result  *Result
	// client has the login that the service takes, and newest the newest token.
	client, newest *client.Client
	clients        []*client.Client
	refusals       int // of logins
	// failed are the reads that failed, and usable says that one did not.
	failed []answer
	usable bool
	// references is the response with the reference data, and first the first application.
	references wire.Value
	first      *client.Application

	mu        sync.Mutex
	exchanges []client.Exchange
}

// reads looks at one thing after another. One that fails does not keep the others from being seen.
func (c *check) reads(ctx context.Context) error {
	c.referenceData(ctx)
	c.applications(ctx)
	c.shape()
	c.missing(ctx)
	c.methods(ctx)
	var bodies []string
	for _, e := range c.since(0) {
		if e.Operation != client.OpToken {
			bodies = append(bodies, string(e.Body.Reveal()))
		}
	}
	c.see("memberCase", bodies...)
	switch first := append(c.failed, answer{})[0]; {
	case ctx.Err() != nil:
		return ctx.Err()
	case c.usable:
		c.permissions()
		if c.result.References == nil && !client.IsForbidden(first.err) {
			return fmt.Errorf("the login works, and the reference data cannot be read: %w", first.err)
		}
		return nil
	case client.IsForbidden(first.err):
		c.saw("apiPermission", fmt.Sprint(first.Status))
		return fmt.Errorf("the user has no API permission: the login works, but requests get %d; ask the operator of the "+
			"service for it", first.Status)
	default:
		return fmt.Errorf("the login works, and nothing can be read: %w", first.err)
	}
}

// found records a reading from which something follows.
func (c *check) found(point, reading, format string, arguments ...any) {
	text := printable.Text(fmt.Sprintf(format, arguments...))
	c.result.Findings = append(c.result.Findings, Finding{Point: point, Reading: reading, Text: text})
}

// saw records a reading, with what always follows from it.
func (c *check) saw(point, reading string) { c.found(point, reading, "%s", follows[point+"="+reading]) }

// unknown records that the reads did not show a reading.
func (c *check) unknown(point, format string, arguments ...any) {
	c.found(point, "", format, arguments...)
}

func (c *check) isFound(point, reading string) bool { return c.result.Find(point).Reading == reading }
