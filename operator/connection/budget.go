package connection

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mandate-io/idv/internal/client"
)

// A Budget bounds the memory that all connections use at one time for large responses to reads, and for reports. A
// response of up to client.SmallBody bytes takes nothing of it. One that does not get what it needs in time fails with
// client.KindRateLimited.
//
// What changes something at the service takes nothing of it, either: the response to a create has to be read, whatever
// others do. How many of those there are at a time is up to the callers.
type Budget struct {
	all   *semaphore.Weighted
	share int64
}

// NewBudget makes a Budget of so many bytes. One connection gets a quarter of it at most, and waits for that apart from
// the others: connections wait for the rest in the order in which they came.
func NewBudget(bytes int64) *Budget {
	return &Budget{all: semaphore.NewWeighted(bytes), share: bytes / 4}
}

const (
	// bodyCost is what a large body takes of a Budget: the body, what it is decoded to, and what that leaves behind.
	bodyCost = 4 << 20
	// reportCost is what a large report takes: the report, the file in it, and the request that stores it.
	reportCost = 8 << 20
	// maxBudgetWait is how long a response waits for its part of a Budget.
	maxBudgetWait = 10 * time.Second
	// largeBodyTime is how long the rest of a large response may take: others wait for what it takes of a Budget.
	largeBodyTime = 15 * time.Second
)

// Wrap is for client.Config of one connection.
func (b *Budget) Wrap() func(http.RoundTripper) http.RoundTripper {
	share := b.newShare()
	return func(next http.RoundTripper) http.RoundTripper { return &budgetTransport{share, next} }
}

// budgetShare is what one connection may take of a Budget.
type budgetShare struct {
	own, all *semaphore.Weighted
	size     int64
}

func (b *Budget) newShare() *budgetShare {
	return &budgetShare{own: semaphore.NewWeighted(b.share), all: b.all, size: b.share}
}

// acquire takes bytes, and reports whether there were enough in time. release gives them back.
func (s *budgetShare) acquire(ctx context.Context, bytes int64) (release func(), ok bool) {
	bytes = min(bytes, s.size)
	ctx, cancel := context.WithTimeout(ctx, maxBudgetWait)
	defer cancel()
	if s.own.Acquire(ctx, bytes) != nil {
		return nil, false
	}
	if s.all.Acquire(ctx, bytes) != nil {
		s.own.Release(bytes)
		return nil, false
	}
	return func() {
		s.all.Release(bytes)
		s.own.Release(bytes)
	}, true
}

type budgetTransport struct {
	share *budgetShare
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *budgetTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet || response.StatusCode/100 != 2 {
		return response, err
	}
	cost := int64(bodyCost)
	if strings.HasSuffix(r.URL.Path, "/report") { // interface: Get individual report
		cost = reportCost
	}
	response.Body = &budgetBody{ReadCloser: response.Body, ctx: r.Context(), share: t.share, cost: cost}
	return response, nil
}

// budgetBody is a body that takes of a Budget from its first byte above client.SmallBody on, until it is closed.
type budgetBody struct {
	io.ReadCloser

	ctx   context.Context //nolint:containedctx // of the request, which ends the wait
	share *budgetShare
	cost  int64
	read  int

	timer   *time.Timer // closes a body that takes too long
	release func()
	closed  sync.Once
}

// Read implements io.Reader.
func (b *budgetBody) Read(p []byte) (int, error) {
	if b.read >= client.SmallBody && b.release == nil {
		release, ok := b.share.acquire(b.ctx, b.cost)
		if !ok {
			return 0, client.ErrBusy
		}
		b.release = release
		b.timer = time.AfterFunc(largeBodyTime, func() { _ = b.ReadCloser.Close() })
	}
	if b.release == nil {
		p = p[:min(len(p), client.SmallBody-b.read)]
	}
	n, err := b.ReadCloser.Read(p)
	b.read += n
	if err != nil && b.timer != nil {
		b.timer.Stop()
	}
	return n, err
}

// Close implements io.Closer. What the body was decoded to is not needed any more.
func (b *budgetBody) Close() error {
	b.closed.Do(func() {
		if b.timer != nil {
			b.timer.Stop()
		}
		if b.release != nil {
			b.release()
		}
	})
	return b.ReadCloser.Close()
}
