package operator

import (
	"net/http"
	"sync"
	"time"
)

// serverClock shows the time of the API server, by the Date of its answers and the time that has passed since the last
// one. The zero value is ready, and shows the zero time until there was an answer.
type serverClock struct {
	mu   sync.Mutex
	date time.Time
	at   time.Time // when date was read, with a monotonic part: a change of this machine's clock is not seen
}

// wrap has a transport to the API server set the clock.
func (c *serverClock) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil {
			c.set(response.Header.Get("Date"))
		}
		return response, err
	})
}

func (c *serverClock) set(header string) {
	date, err := http.ParseTime(header)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.date, c.at = date, time.Now()
}

func (c *serverClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.date.IsZero() {
		return time.Time{}
	}
	return c.date.Add(time.Since(c.at))
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip sends a request.
func (t roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }
