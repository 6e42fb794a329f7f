package state

import (
	"sync"
	"time"
)

// Clock is the time of this machine plus an offset. It is safe for concurrent use.
type Clock struct {
	start time.Time

	mu     sync.Mutex
	offset time.Duration
}

// NewClock returns a clock that shows start now, or the machine's time if start is zero.
func NewClock(start time.Time) *Clock {
	c := &Clock{start: start}
	c.Reset()
	return c
}

// Now returns the time in UTC.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return machineTime().Add(c.offset)
}

// Set makes the clock show now; it runs on from there.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = now.Sub(machineTime())
}

// Advance moves the clock and returns its new time.
func (c *Clock) Advance(by time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += by
	return machineTime().Add(c.offset)
}

// Reset sets the clock to its start time.
func (c *Clock) Reset() {
	if c.start.IsZero() {
		c.Advance(-c.Now().Sub(machineTime()))
		return
	}
	c.Set(c.start)
}

// machineTime has no monotonic part, which would not follow the offset.
func machineTime() time.Time { return time.Now().UTC().Round(0) }
