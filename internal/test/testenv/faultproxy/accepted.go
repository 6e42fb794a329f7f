package faultproxy

import (
	"errors"
	"sync"
)

// acceptedConnections lists the connections accepted while wait runs. A listener accepts connections in the sequence in
// which they were made.
type acceptedConnections struct {
	mu      sync.Mutex
	waiters int
	seen    map[string]bool // by the client's address
	added   sync.Cond
	closed  bool
}

func (c *acceptedConnections) add(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiters > 0 {
		c.seen[address] = true
		c.added.Broadcast()
	}
}

// wait returns when the connection that connect makes has been accepted.
func (c *acceptedConnections) wait(connect func() (address string, err error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiters == 0 {
		c.seen = map[string]bool{}
		c.added.L = &c.mu
	}
	c.waiters++
	defer func() { c.waiters-- }()
	c.mu.Unlock()
	address, err := connect()
	c.mu.Lock()
	for err == nil && !c.seen[address] {
		if c.closed {
			return errors.New("the proxy was closed")
		}
		c.added.Wait()
	}
	return err
}

func (c *acceptedConnections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.waiters > 0 {
		c.added.Broadcast()
	}
}
