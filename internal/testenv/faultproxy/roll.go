package faultproxy

import (
	"errors"
	"sync"
)

// acceptedConnections lists connections that were accepted, while somebody waits for one. They are accepted in the order in which they
// were made.
type acceptedConnections struct {
	mu      sync.Mutex
	waiting int
	seen    map[string]bool // by the client's address
	added   sync.Cond
	closed  bool
}

func (r *acceptedConnections) add(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting > 0 {
		r.seen[address] = true
		r.added.Broadcast()
	}
}

// await waits until the connection that it makes has been accepted.
func (r *acceptedConnections) await(connect func() (address string, err error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == 0 {
		r.seen, r.added.L = map[string]bool{}, &r.mu
	}
	r.waiting++
	defer func() { r.waiting-- }()
	r.mu.Unlock()
	address, err := connect()
	r.mu.Lock()
	for err == nil && !r.seen[address] {
		if r.closed {
			return errors.New("the proxy was closed")
		}
		r.added.Wait()
	}
	return err
}

func (r *acceptedConnections) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.waiting > 0 {
		r.added.Broadcast()
	}
}
