package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"
)

// BenchmarkCreate and BenchmarkRetrieve compare the client with a plain net/http loop that does the same work against
// the same server. ns/op, B/op and allocs/op are the client's; plain-* are the loop's; ratio is how many requests the
// client makes in the time in which the loop makes one.
func BenchmarkCreate(b *testing.B) {
	overBoth(b, func(b *testing.B, server benchServer) {
		c, loop := server.client(b), server.plain(b, true)
		compare(b, func(ctx context.Context) error {
			application, err := c.CreateApplication(ctx, someNewApplication())
			if err != nil {
				return err
			}
			return is4711(application.ID)
		}, func(ctx context.Context) error {
			body, err := json.Marshal(plainNewApplication{
				Name: "Acme", Reference: "A-1", MandateType: 3,
				Individuals: []plainNewIndividual{{Email: "jane@example.com", Reference: "A-1.jane"}},
			})
			if err != nil {
				return err
			}
			return loop.send(ctx, http.MethodPost, "/ext/applications", body)
		})
	})
}

func BenchmarkRetrieve(b *testing.B) {
	overBoth(b, func(b *testing.B, server benchServer) {
		c, loop := server.client(b), server.plain(b, false)
		compare(b, func(ctx context.Context) error {
			application, err := c.RetrieveApplication(ctx, 4711)
			if err != nil {
				return err
			}
			return is4711(application.ID)
		}, func(ctx context.Context) error {
			return loop.send(ctx, http.MethodGet, "/ext/applications/4711", nil)
		})
	})
}

func overBoth(b *testing.B, run func(*testing.B, benchServer)) {
	for _, scheme := range []string{"http", "https"} {
		b.Run(scheme, func(b *testing.B) { run(b, startBenchServer(b, scheme)) })
	}
}

func is4711(id int64) error {
	if id != 4711 {
		return fmt.Errorf("read %d", id)
	}
	return nil
}

// cost of some rounds of requests.
type cost struct {
	rounds         []time.Duration
	mallocs, bytes uint64
}

const requestsPerRound = 10

func (c *cost) add(b *testing.B, send func(context.Context) error) time.Duration {
	b.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for range requestsPerRound {
		if err := send(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	c.rounds = append(c.rounds, took)
	c.mallocs, c.bytes = c.mallocs+after.Mallocs-before.Mallocs, c.bytes+after.TotalAlloc-before.TotalAlloc
	return took
}

func (c *cost) perRequest(total uint64) float64 {
	return float64(total) / float64(requestsPerRound*len(c.rounds))
}

// perRequestTime is how long one request takes, in the median of the rounds.
func (c *cost) perRequestTime() time.Duration { return median(c.rounds) / requestsPerRound }

func median[T cmp.Ordered](of []T) T { return slices.Sorted(slices.Values(of))[len(of)/2] }

const (
	minRatio = 0.8
	enough   = 10 // pairs, below which a median is chance
)

// compare runs both in short rounds, one after the other and each first every second time, so that what else the
// machine does slows down both. The median of the pairs is the ratio: a single slow round does not move it.
func compare(b *testing.B, client, plain func(context.Context) error) {
	var ours, loops cost
	ours.add(b, client) // logs in, and connects what stays connected
	loops.add(b, plain)
	ours, loops = cost{}, cost{}
	var ratios []float64
	for b.Loop() {
		var our, loop time.Duration
		if len(ratios)%2 == 0 {
			our, loop = ours.add(b, client), loops.add(b, plain)
		} else {
			loop, our = loops.add(b, plain), ours.add(b, client)
		}
		ratios = append(ratios, loop.Seconds()/our.Seconds())
	}
	ratio := median(ratios)
	if len(ratios) >= enough && ratio < minRatio {
		b.Errorf("%.2f requests in the time in which a plain loop makes one; it should be %.2f at least", ratio, minRatio)
	}
	b.ReportMetric(float64(ours.perRequestTime()), "ns/op")
	b.ReportMetric(ours.perRequest(ours.bytes), "B/op")
	b.ReportMetric(ours.perRequest(ours.mallocs), "allocs/op")
	b.ReportMetric(loops.perRequest(loops.bytes), "plain-B/op")
	b.ReportMetric(loops.perRequest(loops.mallocs), "plain-allocs/op")
	b.ReportMetric(1/ours.perRequestTime().Seconds(), "req/s")
	b.ReportMetric(1/loops.perRequestTime().Seconds(), "plain-req/s")
	b.ReportMetric(ratio, "ratio")
}

// plainLoop is what somebody would write who needs an application and nothing of what the client promises.
type plainLoop struct {
	http *http.Client
	base string
}

type plainNewApplication struct {
	Name        string               `json:"name"`
	Reference   string               `json:"reference"`
	MandateType int64                `json:"mandate_type"`
	Individuals []plainNewIndividual `json:"individuals"`
}

type plainNewIndividual struct {
	Email     string `json:"email"`
	Reference string `json:"reference"`
}

type plainApplication struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	Reference   string            `json:"reference"`
	Status      plainState        `json:"status"`
	MandateType Reference         `json:"mandate_type"`
	Archived    bool              `json:"archived"`
	Actions     []Action          `json:"available_actions"`
	Individuals []plainIndividual `json:"individuals"`
	Raw         json.RawMessage   `json:"-"`
}

type plainIndividual struct {
	ID             int64        `json:"id"`
	Reference      string       `json:"reference"`
	Status         plainState   `json:"status"`
	TermsAccepted  bool         `json:"terms_accepted"`
	ChecksInReview int32        `json:"checks_in_review"`
	ChecksPending  int32        `json:"checks_in_pending"`
	ChecksPassed   int32        `json:"checks_passed"`
	Completed      []Action     `json:"completed_actions"`
	Checks         []plainCheck `json:"checks"`
}

type plainCheck struct {
	ID          int64 `json:"id"`
	Name, Title string
	Status      plainState `json:"status"`
}

type plainState struct {
	ID     int64  `json:"id"`
	Status string `json:"status"`
}

func (l *plainLoop) send(ctx context.Context, method, path string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, method, l.base+apiPrefix+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "plain")
	request.Header.Set("Authorization", "Bearer token")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := l.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	application := &plainApplication{Raw: answer}
	if err := json.Unmarshal(answer, application); err != nil {
		return err
	}
	return is4711(application.ID)
}

func (s benchServer) plain(b *testing.B, reconnect bool) *plainLoop {
	b.Helper()
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool(), ClientSessionCache: tls.NewLRUClientSessionCache(8),
	}
	config.RootCAs.AppendCertsFromPEM(s.ca)
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, DisableKeepAlives: reconnect}
	b.Cleanup(transport.CloseIdleConnections)
	return &plainLoop{&http.Client{Transport: transport}, s.url}
}
