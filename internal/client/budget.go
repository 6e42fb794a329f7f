package client

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

// A Budget bounds the memory that the clients of a process use at one time for large responses to reads, and for
// reports. A response of up to smallBody bytes takes nothing of it. One that does not get what it needs in time fails
// with KindRateLimited.
//
// What changes something at the service takes nothing of it, either: the response to a create has to be read, whatever
// others do. How many of those there are at a time is up to the callers.
type Budget struct {
	all   *semaphore.Weighted
	share int64
}

// NewBudget makes a Budget of so many bytes. One client gets a quarter of it at most, and waits for that apart from the
// others: clients wait for the rest in the order in which they came.
func NewBudget(bytes int64) *Budget {
	return &Budget{all: semaphore.NewWeighted(bytes), share: bytes / 4}
}

const (
	// smallBody is more than a usual response, and takes nothing of a Budget.
	smallBody = 64 << 10
	// bodyCost is what a large body takes of a Budget: the body, what it is decoded to, and what that leaves behind.
	bodyCost = 4 * maxJSON
	// reportCost is what a large report takes: the report, the file in it, and the request that stores it.
	reportCost = 8 << 20
	// maxBudgetWait is how long a response waits for its part of a Budget.
	maxBudgetWait = 10 * time.Second
	// largeBodyTime is how long the rest of a large response may take: others wait for what it takes of a Budget.
	largeBodyTime = 15 * time.Second
)

// budgetShare is what one client may take of a Budget.
type budgetShare struct {
	own, all *semaphore.Weighted
	size     int64
}

func (b *Budget) newShare() *budgetShare {
	if b == nil {
		return nil
	}
	return &budgetShare{own: semaphore.NewWeighted(b.share), all: b.all, size: b.share}
}

// acquire takes bytes, and reports whether there were enough in time. Without a Budget, there always are. release gives
// them back.
func (s *budgetShare) acquire(ctx context.Context, bytes int64) (release func(), ok bool) {
	if s == nil {
		return func() {}, true
	}
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
