package readings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mandate-io/idv/internal/client"
)

const (
	requestTimeout = 20 * time.Second
	// maxBody of a response is that of the client.
	maxBody = 1 << 20
	// maxPause is how long a Retry-After is waited for, and pause how long without one.
	maxPause, defaultPause = 30 * time.Second, time.Second
	maxAttempts            = 4
)

// An httpClient sends requests and keeps the responses as they are. The client cannot: it hides what it has understood.
type httpClient struct {
	http      *http.Client
	base      string
	userAgent string
	sent      map[string]int
	// rateLimited says whether a 429 came, and hasRetryAfter whether it had that header.
	rateLimited, hasRetryAfter bool
}

// An answer is a response: its status, header and body.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) ok() bool { return a.status >= 200 && a.status < 300 }

// newHTTPClient takes options that the client has checked. It connects as the client does.
func newHTTPClient(options *Options) (*httpClient, error) {
	transport, err := client.Config{CABundle: []byte(options.Settings.CABundle)}.Transport()
	if err != nil {
		return nil, err
	}
	return &httpClient{
		http: &http.Client{
			Timeout:       requestTimeout,
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		base: strings.TrimRight(options.Settings.BaseURL, "/") + "/api/v1", userAgent: options.UserAgent,
		sent: map[string]int{},
	}, nil
}

func (w *httpClient) close() { w.http.CloseIdleConnections() }

// get reads a path with a token, with the headers that the interface lists.
func (w *httpClient) get(ctx context.Context, path string, token client.Secret) (answer, error) {
	return w.read(ctx, http.MethodGet, path, token, "application/json")
}

// read sends a request that is safe by the definition of its method: GET or OPTIONS.
func (w *httpClient) read(
	ctx context.Context, method, path string, token client.Secret, contentType string,
) (answer, error) {
	header := http.Header{"Authorization": {"Bearer " + token.Reveal()}, "Accept": {"application/json"}}
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	w.sent[method]++
	return w.send(ctx, method, path, header, nil)
}

// login sends a token request.
func (w *httpClient) login(ctx context.Context, form url.Values, basic client.Secret) (answer, error) {
	header := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/x-www-form-urlencoded"}}
	if basic.Reveal() != "" {
		header.Set("Authorization", "Basic "+basic.Reveal())
	}
	w.sent["login"]++
	return w.send(ctx, http.MethodPost, "/ext/authentications/token", header, []byte(form.Encode()))
}

// send sends a request, again only after a 429, which says that nothing was done.
func (w *httpClient) send(ctx context.Context, method, path string, header http.Header, body []byte) (answer, error) {
	for attempt := 1; ; attempt++ {
		received, err := w.sendOnce(ctx, method, path, header, body)
		if err != nil || received.status != http.StatusTooManyRequests || attempt == maxAttempts {
			return received, err
		}
		w.rateLimited = true
		timer := time.NewTimer(w.pause(received.header.Get("Retry-After")))
		select {
		case <-ctx.Done():
			timer.Stop()
			return answer{}, ctx.Err()
		case <-timer.C:
		}
	}
}

func (w *httpClient) pause(retryAfter string) time.Duration {
	w.hasRetryAfter = w.hasRetryAfter || retryAfter != ""
	return min(max(client.ParseRetryAfter(retryAfter, time.Now()), defaultPause), maxPause)
}

func (w *httpClient) sendOnce(
	ctx context.Context, method, path string, header http.Header, body []byte,
) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, w.base+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if len(body) == 0 {
		request.Body = http.NoBody
	}
	request.Header = header
	request.Header.Set("User-Agent", w.userAgent)
	response, err := w.http.Do(request)
	if err != nil {
		return answer{}, noResponse(ctx, err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	switch {
	case err != nil:
		return answer{}, noResponse(ctx, err)
	case len(content) > maxBody:
		return answer{}, errors.New("the response is larger than 1 MiB, more than the client reads")
	}
	return answer{response.StatusCode, response.Header, content}, nil
}

// noResponse says why there is none. Errors of net/http quote what the service sent, which may be personal data.
func noResponse(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("no response of the service can be read: %s", client.DescribeDialError(err))
}

// rateLimit says whether the service limits requests.
func (c *check) rateLimit() {
	if !c.rateLimited {
		c.unknown("rateLimit", "the service limited no request; so few requests do not show its limit")
		return
	}
	c.result.Suggestion.Settings.RequestsPerSecond = 1
	reading := "without Retry-After"
	if c.hasRetryAfter {
		reading = "with Retry-After"
	}
	c.found("rateLimit", reading, "the service limits requests (429 %s); ask for the limit, and raise requestsPerSecond "+
		"to it", reading)
}
