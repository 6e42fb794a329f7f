package connection

import (
	"slices"
	"sync"
)

const (
	// saturatedConnections is how many connections, all slots of which are in use, have room in a pool at the same time.
	saturatedConnections = 10
	// poolWeight lets the reads, or the writes, of a namespace use about a sixth of a pool.
	poolWeight = 4
)

// pool is the slots of all connections, for one kind of object. There are as many workers, and some more: no connection
// and no namespace takes them all.
type pool struct {
	mu      sync.Mutex
	shares  shares
	blocked []*ConcurrencyLimiter // those that wait for it
	wakes   int
}

func newPool(capacity int) *pool {
	slots := saturatedConnections * capacity
	return &pool{shares: shares{capacity: slots, weight: poolWeight, writes: slots / writesPart}}
}

// tryAcquire takes a slot for a waiter, which has to be given back with release. If it reports false, the limiter is
// told by wake.
func (p *pool) tryAcquire(w *waiter, limiter *ConcurrencyLimiter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shares.admits(w) {
		p.shares.count(w, 1)
		return true
	}
	if !slices.Contains(p.blocked, limiter) {
		p.blocked = append(p.blocked, limiter)
	}
	return false
}

func (p *pool) release(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shares.count(w, -1)
}

// wake has the limiters that wait offer slots, each time another one first.
func (p *pool) wake() {
	p.mu.Lock()
	blocked := p.blocked
	p.blocked = nil
	if len(blocked) > 0 {
		p.wakes++
		first := p.wakes % len(blocked)
		blocked = slices.Concat(blocked[first:], blocked[:first])
	}
	p.mu.Unlock()
	for _, limiter := range blocked {
		limiter.next()
	}
}
