// Package readings finds out which reading of its interface a service follows where the interface leaves it open. It
// sends logins, GETs and OPTIONS only, so it creates and changes nothing and e-mails nobody. What it returns holds no
// secret and no personal data: of a response it keeps the form, the names of members and of states.
package readings

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// Options say which service to look at, and how far.
type Options struct {
	// Settings are those that the service has now. BaseURL is required.
	Settings    v1alpha1.ServiceSettings
	Credentials client.Credentials
	UserAgent   string
	// Applications exist at the service, and are read. With a meaning, their state shows a name of it.
	Applications []Application
	// Report has the report on the first individual read as well.
	Report bool
}

// Application is an application of the account.
type Application struct {
	ID      int64
	Meaning Meaning // "" if nobody says
}

// Meaning is what the state of an application means, as a person knows it.
type Meaning string

// The meanings that a spec can give names to.
const (
	InReview  Meaning = "inReview"
	Completed Meaning = "completed"
	Rejected  Meaning = "rejected"
)

// A Finding is the reading of one open point.
type Finding struct {
	// Point is the name of the open point, such as references.
	Point string `json:"point"`
	// Reading is a word for the reading; "" if the reads did not show it.
	Reading string `json:"reading,omitempty"`
	// Text says what was seen, or why nothing could be.
	Text string `json:"text"`
}

// Result is what was found out.
type Result struct {
	Findings   []Finding  `json:"findings"`
	Suggestion Suggestion `json:"suggestion"`
	// Sent counts the requests by kind, such as GET.
	Sent map[string]int `json:"sent"`
	// Problem says why the service cannot be used as it is; "" if it can.
	Problem string `json:"problem,omitempty"`
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
	c := &check{options: options, result: &Result{}}
	c.result.Suggestion.Settings = *options.Settings.DeepCopy()
	valid, err := c.client()
	if err != nil {
		return nil, err
	}
	valid.Close()
	if c.httpClient, err = newHTTPClient(&options); err != nil {
		return nil, err
	}
	defer c.close()
	c.result.Sent = c.sent
	if err := c.run(ctx); err != nil {
		c.result.Problem = err.Error()
	}
	c.rateLimit()
	return c.result, nil
}

// A check is one look at a service.
type check struct {
	*httpClient

	options Options
	result  *Result
	token   client.Secret
	// names of members that responses have.
	names map[string]bool
}

func (c *check) run(ctx context.Context) error {
	c.names = map[string]bool{}
	for _, step := range []func(context.Context) error{
		c.logins, c.references, c.contentType, c.missing, c.methods, c.applications,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	c.memberCase()
	return c.confirm(ctx)
}

// found records a reading.
func (c *check) found(point, reading, format string, arguments ...any) {
	text := client.Printable(fmt.Sprintf(format, arguments...))
	c.result.Findings = append(c.result.Findings, Finding{Point: point, Reading: reading, Text: text})
}

// unknown records that the reads did not show a reading.
func (c *check) unknown(point, format string, arguments ...any) {
	c.found(point, "", format, arguments...)
}

// client is the one that the operator and the provider use, with the settings as far as they are known.
func (c *check) client() (*client.Client, error) {
	s := &c.result.Suggestion.Settings
	return client.New(client.Config{
		BaseURL: s.BaseURL, CABundle: []byte(s.CABundle), Credentials: c.options.Credentials,
		UserAgent: c.options.UserAgent, TokenAuthorization: client.TokenAuthorization(s.TokenAuthorization),
		RequestsPerSecond: float64(s.RequestsPerSecond),
	})
}

// confirm has the client log in, and read the reference data, as suggested.
func (c *check) confirm(ctx context.Context) error {
	confirming, err := c.client()
	if err != nil {
		return err
	}
	defer confirming.Close()
	references, err := confirming.RetrieveReferences(ctx)
	if err != nil {
		return fmt.Errorf("the suggested settings do not work: %w", err)
	}
	c.sent["login"]++
	c.sent["GET"]++
	if len(references.MandateTypes) == 0 {
		return fmt.Errorf("no mandate type was found in the reference data: the operator cannot select one by code " +
			"or name; use spec.mandateType.id, and ask the service's support for the id")
	}
	var codes []string
	for _, t := range references.MandateTypes {
		codes = append(codes, client.Printable(t.Code))
	}
	c.found("mandateTypes", "found", "mandate types: %s", strings.Join(codes, ", "))
	return nil
}
