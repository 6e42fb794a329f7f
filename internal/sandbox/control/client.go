// Package control is the sandbox's control API: its JSON types and a client.
//
// With the control API, a test or a demo acts for everything but the client under
// test: the individuals in the mobile app, the clock, the network, and the readings
// of the interface. GET /sandbox/v1/ and the documentation of package sandbox list
// the routes.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Prefix is the path prefix of the control API, and AccountParameter the query parameter that names an account.
const (
	Prefix           = "/sandbox/v1"
	AccountParameter = "account"
)

// Client is a client of the control API of one sandbox. It is safe for concurrent use.
type Client struct {
	base  string
	query url.Values
	http  *http.Client
}

// New returns a client of the sandbox at baseURL, for example
// "http://127.0.0.1:8480", the same URL that clients of the service get.
func New(baseURL string) *Client {
	return &Client{
		base: strings.TrimRight(baseURL, "/") + Prefix,
		// No idle connections: nothing to close.
		http: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
	}
}

// Account returns a client that controls the account of this name. Without it, a client controls the first account.
func (c *Client) Account(name string) *Client {
	other := *c
	other.query = url.Values{AccountParameter: {name}}
	return &other
}

// Error is a response of the control API that is not 2xx.
type Error struct {
	Method, Path string
	Status       int
	Message      string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("sandbox control: %s %s: %d: %s", e.Method, e.Path, e.Status, e.Message)
}

// Overview returns all that the page shows.
func (c *Client) Overview(ctx context.Context) (Overview, error) {
	return get[Overview](ctx, c, "/overview")
}

// Outbox returns every e-mail sent so far, oldest first.
func (c *Client) Outbox(ctx context.Context) ([]Email, error) {
	return get[[]Email](ctx, c, "/outbox")
}

// OutboxAfter returns the e-mails sent after the one with this sequence number.
func (c *Client) OutboxAfter(ctx context.Context, sequence int64) ([]Email, error) {
	query := url.Values{"after": {strconv.FormatInt(sequence, 10)}}
	return get[[]Email](ctx, c, "/outbox?"+query.Encode())
}

// Journal returns the requests to the service, of all accounts, oldest first. It has the newest 10,000.
func (c *Client) Journal(ctx context.Context) ([]Request, error) {
	return get[[]Request](ctx, c, "/journal")
}

// ClearJournal empties the journal.
func (c *Client) ClearJournal(ctx context.Context) error {
	return c.do(ctx, http.MethodDelete, "/journal", nil, nil)
}

// VerifyRequests returns the requests that a query selects, or an error that lists them if there are not exactly as
// many as count.
func (c *Client) VerifyRequests(ctx context.Context, query RequestQuery, count int) ([]Request, error) {
	return send[[]Request](ctx, c, http.MethodPost, "/verify/requests", RequestVerification{query, &count})
}

// VerifyEmails is VerifyRequests for the e-mails of the account.
func (c *Client) VerifyEmails(ctx context.Context, query EmailQuery, count int) ([]Email, error) {
	return send[[]Email](ctx, c, http.MethodPost, "/verify/emails", EmailVerification{query, &count})
}

// Applications returns every application that exists, oldest first.
func (c *Client) Applications(ctx context.Context) ([]Application, error) {
	return get[[]Application](ctx, c, "/applications")
}

// Play plays individuals, and returns their application afterwards.
func (c *Client) Play(ctx context.Context, play Play) (Application, error) {
	return send[Application](ctx, c, http.MethodPost, "/play", play)
}

// SetState moves an application to any state, and returns it afterwards.
func (c *Client) SetState(ctx context.Context, wanted StateChange) (Application, error) {
	return send[Application](ctx, c, http.MethodPost, "/state", wanted)
}

// Now returns the sandbox's time.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	clock, err := get[Clock](ctx, c, "/clock")
	return clock.Now, err
}

// Advance moves the sandbox's clock by whole seconds and returns its new time. It
// removes the applications that have then expired.
func (c *Client) Advance(ctx context.Context, by time.Duration) (time.Time, error) {
	clock, err := send[Clock](ctx, c, http.MethodPost, "/clock/advance", ClockStep{Seconds: int64(by / time.Second)})
	return clock.Now, err
}

// SetClock sets the sandbox's clock; it runs on from there.
func (c *Client) SetClock(ctx context.Context, now time.Time) error {
	_, err := send[Clock](ctx, c, http.MethodPut, "/clock", Clock{Now: now})
	return err
}

// Stats returns the counts of requests, responses and logins.
func (c *Client) Stats(ctx context.Context) (Statistics, error) {
	return get[Statistics](ctx, c, "/stats")
}

// ResetStats sets the counts to zero.
func (c *Client) ResetStats(ctx context.Context) error {
	return c.do(ctx, http.MethodDelete, "/stats", nil, nil)
}

// RevokeTokens revokes every token and returns how many there were.
func (c *Client) RevokeTokens(ctx context.Context) (int, error) {
	revoked, err := send[Revoked](ctx, c, http.MethodPost, "/tokens/revoke", nil)
	return revoked.Revoked, err
}

// Fault adds a fault. If several match a request, the sandbox injects the oldest.
func (c *Client) Fault(ctx context.Context, fault Fault) error {
	return c.do(ctx, http.MethodPost, "/faults", fault, nil)
}

// Faults returns the pending faults, oldest first.
func (c *Client) Faults(ctx context.Context) ([]Fault, error) {
	return get[[]Fault](ctx, c, "/faults")
}

// ClearFaults removes every fault.
func (c *Client) ClearFaults(ctx context.Context) error {
	return c.do(ctx, http.MethodDelete, "/faults", nil, nil)
}

// Deliveries returns the webhook deliveries, oldest first.
func (c *Client) Deliveries(ctx context.Context) ([]Delivery, error) {
	return get[[]Delivery](ctx, c, "/deliveries")
}

// Autoplay returns the autoplay mode.
func (c *Client) Autoplay(ctx context.Context) (Autoplay, error) {
	return get[Autoplay](ctx, c, "/autoplay")
}

// SetAutoplay changes the autoplay mode. A DelayMillis of 0 keeps the delay.
func (c *Client) SetAutoplay(ctx context.Context, mode Autoplay) error {
	return c.do(ctx, http.MethodPut, "/autoplay", mode, nil)
}

// Dialects returns every switch with its value.
func (c *Client) Dialects(ctx context.Context) ([]Switch, error) {
	return get[[]Switch](ctx, c, "/dialects")
}

// SetDialect sets one switch.
func (c *Client) SetDialect(ctx context.Context, name, value string) error {
	return c.SetDialects(ctx, map[string]string{name: value})
}

// SetDialects sets several switches, or none if one is invalid.
func (c *Client) SetDialects(ctx context.Context, values map[string]string) error {
	return c.do(ctx, http.MethodPut, "/dialects", values, nil)
}

// ResetDialects sets every switch to its default.
func (c *Client) ResetDialects(ctx context.Context) error {
	return c.do(ctx, http.MethodDelete, "/dialects", nil, nil)
}

// Reset restores the state at the start. Ids are never reused.
func (c *Client) Reset(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, "/reset", nil, nil)
}

func get[T any](ctx context.Context, c *Client, path string) (T, error) {
	return send[T](ctx, c, http.MethodGet, path, nil)
}

func send[T any](ctx context.Context, c *Client, method, path string, in any) (T, error) {
	var out T
	err := c.do(ctx, method, path, in, &out)
	return out, err
}

func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("sandbox control: encode %s %s: %w", method, path, err)
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return fmt.Errorf("sandbox control: %w", err)
	}
	if len(c.query) > 0 {
		query := request.URL.Query()
		maps.Copy(query, c.query)
		request.URL.RawQuery = query.Encode()
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("sandbox control: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return responseError(method, path, response)
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		return fmt.Errorf("sandbox control: decode the response of %s %s: %w", method, path, err)
	}
	return nil
}

func responseError(method, path string, response *http.Response) error {
	var body Failure
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		body.Error = "the response is not from the control API"
	}
	return &Error{Method: method, Path: path, Status: response.StatusCode, Message: body.Error}
}
