package readings

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
)

// connect makes a client for one form of the token request. It logs in when it is used.
func (c *check) connect(l login) (*client.Client, error) {
	s, credentials := &c.options.Settings, c.options.Credentials
	if !l.user {
		credentials.Username, credentials.Password = "", client.Secret{}
	}
	if !l.client {
		credentials.ClientID, credentials.ClientSecret = "", client.Secret{}
	}
	made, err := client.New(client.Config{
		BaseURL: s.BaseURL, CABundle: []byte(s.CABundle), Credentials: credentials,
		TokenAuthorization: l.authorization, GrantType: l.grant, UserAgent: c.options.UserAgent,
		RequestsPerSecond: -1, // one request after another
		Inspect: func(e client.Exchange) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.exchanges = append(c.exchanges, e)
		},
		Observe: func(r client.RequestResult) {
			c.mu.Lock()
			defer c.mu.Unlock()
			kind := map[bool]string{true: "login", false: r.Method + " request"}[r.Operation == client.OpToken]
			c.result.Sent[kind]++
		},
	})
	if err == nil {
		c.clients = append(c.clients, made)
	}
	return made, err
}

// since returns the exchanges after the first n.
func (c *check) since(n int) []client.Exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.exchanges[n:])
}

// An answer is what came of a request: the last response as it came, its JSON, and what the client says about it.
type answer struct {
	client.Exchange

	json wire.Value
	err  error
	all  []client.Exchange // with those of a login that was needed
}

const (
	maxAttempts = 4
	maxPause    = 30 * time.Second
)

// send sends a request, again only after a 429, which says that nothing was done.
func send[T any](ctx context.Context, c *check, request func() (T, error)) (T, answer) {
	before := len(c.since(0))
	result, err := request()
	for attempt := 1; attempt < maxAttempts && client.KindOf(err) == client.KindRateLimited; attempt++ {
		if !client.Sleep(ctx, min(max(client.RetryAfterOf(err), time.Second), maxPause)) {
			break
		}
		result, err = request()
	}
	a := answer{err: err, all: c.since(before)}
	if len(a.all) > 0 {
		a.Exchange = lastOf(a.all, err)
		a.json, _ = wire.Parse(a.Body.Reveal())
	}
	return result, a
}

// lastOf is the response that an error is about. A read that finds out whether the token was the reason may follow it.
func lastOf(all []client.Exchange, err error) client.Exchange {
	last := all[len(all)-1]
	if failure, ok := errors.AsType[*client.Error](err); ok {
		for _, e := range all {
			if e.Operation == failure.Operation {
				last = e
			}
		}
	}
	return last
}

// read is send for a GET, which shows whether anything can be read.
func read[T any](ctx context.Context, c *check, request func() (T, error)) (T, answer) {
	result, a := send(ctx, c, request)
	c.usable = c.usable || a.err == nil || client.IsNotFound(a.err)
	if a.err != nil {
		c.failed = append(c.failed, a)
	}
	return result, a
}

// kind is that of the body, in the words of the sandbox's switch errorBody.
func kind(e client.Exchange) string {
	return formOf("errorBody", e.Header.Get("Content-Type")+" "+string(e.Body.Reveal()))
}

// notRead says why something cannot be read, and what a 2xx holds that is no answer.
func (c *check) notRead(point string, a answer) {
	c.unknown(point, "%s", a.err)
	if a.Status/100 == 2 {
		c.see("readAnswer", string(a.Body.Reveal()))
	}
}

// noticed matches the names of headers that say something about the service and nothing about a person. Long values are
// not shown.
var noticed = regexp.MustCompile("(?i)ratelimit|^(deprecation|sunset|content-language|content-type)$")

// headers says what the responses showed without a question, and whether the service limits requests.
func (c *check) headers() {
	var shown []string
	for _, e := range c.since(0) {
		for name := range e.Header {
			// A parameter may name a person, or a file after one.
			value, _, _ := strings.Cut(e.Header.Get(name), ";")
			if noticed.MatchString(name) && len(value) < 100 {
				shown = append(shown, name+": "+value)
			}
		}
		if e.Status == http.StatusTooManyRequests && c.isFound("rateLimitAnswer", "") {
			c.result.Suggestion.Settings.RequestsPerSecond = 1
			c.see("rateLimitAnswer", e.Header.Get("Retry-After"))
			c.unknown("rateLimit", "the service limits requests (429): ask for the limit, and raise requestsPerSecond to it")
		}
	}
	slices.Sort(shown)
	if shown = slices.Compact(shown); len(shown) > 0 {
		c.found("headers", "shown", "%s", strings.Join(shown, "; "))
	}
}
