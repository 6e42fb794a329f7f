// Package connection holds the clients of the IdentityServices and ClusterIdentityServices. The controller of services
// puts them into the Registry. The controllers that use a service get them from it, and never see credentials. Each
// connection has a concurrency limiter with a circuit breaker.
package connection

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/mandate-io/idv/internal/client"
)

// Connection is a service that has been probed since its last change.
type Connection struct {
	Client *client.Client
	// URL is the base URL in its normal form.
	URL string
	// UID and Generation of the object that this was made from.
	UID        types.UID
	Generation int64
	// ReferencePrefix goes before default references.
	ReferencePrefix string
	// MinPoll and MaxPoll bound the time between two reads of an application.
	MinPoll, MaxPoll time.Duration
	States           client.StateNames
	References       *client.References
	// Ready: the last probe of the service succeeded, and its circuit has not opened since.
	Ready bool
	// Probed is when the last probe of the service ended.
	Probed time.Time
	// Mandates and Actions bound how many reconciliations use it at a time. The Registry sets them.
	Mandates, Actions *ConcurrencyLimiter
}

// Registry has the Connections.
type Registry struct {
	// Changes has the connections that changed in a way that Mandates may wait for. It has one reader.
	Changes chan event.TypedGenericEvent[Key]
	// Mandates and Actions are the limiters for the two kinds of objects that use connections.
	Mandates, Actions *Limiters

	mu          sync.RWMutex
	connections map[Key]Connection
	opened      map[Key]time.Time // when a circuit opened
	onOpen      func(Key)
}

// NewRegistry makes an empty Registry. Of each kind of object, so many may use one connection at a time; 0 is
// unlimited.
func NewRegistry(concurrency int) *Registry {
	return &Registry{
		Changes:  make(chan event.TypedGenericEvent[Key]),
		Mandates: newLimiters(concurrency), Actions: newLimiters(concurrency),
		connections: map[Key]Connection{}, opened: map[Key]time.Time{}, onOpen: func(Key) {},
	}
}

// OnOpen sets what is called when the circuit of a connection opens. Call it before use. The connection is not Ready
// until it is Put with a later probe.
func (r *Registry) OnOpen(hook func(Key)) { r.onOpen = hook }

// Get gives a connection; false if there is none (yet).
func (r *Registry) Get(key Key) (Connection, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	connection, ok := r.connections[key]
	return connection, ok
}

// Put sets a connection, and publishes the change unless ctx ends first.
func (r *Registry) Put(ctx context.Context, key Key, connection Connection) {
	if r.replace(key, &connection) {
		r.publish(ctx, key)
	}
}

func (r *Registry) publish(ctx context.Context, key Key) {
	select {
	case r.Changes <- event.TypedGenericEvent[Key]{Object: key}:
	case <-ctx.Done():
	}
}

// replace reports whether Mandates may have waited for the difference.
func (r *Registry) replace(key Key, connection *Connection) (changed bool) {
	rateLimitDelay := func() time.Duration { return 0 }
	if connection.Client != nil {
		rateLimitDelay = connection.Client.RateLimitDelay
	}
	onOpen := func() { r.open(key) }
	connection.Mandates = r.Mandates.of(key, onOpen, rateLimitDelay)
	connection.Actions = r.Actions.of(key, onOpen, rateLimitDelay)
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, open := r.opened[key]; open && connection.Probed.After(at) {
		delete(r.opened, key)
	} else if open {
		connection.Ready = false
	}
	before, known := r.connections[key]
	r.connections[key] = *connection
	return !known || !before.equivalent(connection)
}

// open keeps everybody from using a connection until it has been probed.
func (r *Registry) open(key Key) {
	r.mu.Lock()
	connection, known := r.connections[key]
	if known {
		connection.Ready = false
		r.connections[key] = connection
		r.opened[key] = time.Now()
	}
	r.mu.Unlock()
	if known {
		r.onOpen(key)
	}
}

// equivalent reports that nobody waits for the difference. Reference data is read again and again: what it says counts,
// not that it was read.
func (c *Connection) equivalent(other *Connection) bool {
	return c.Ready == other.Ready && c.UID == other.UID && c.Generation == other.Generation &&
		slices.Equal(c.mandateTypes(), other.mandateTypes())
}

// mandateTypes are those that Mandates can select, as a set.
func (c *Connection) mandateTypes() []client.Reference {
	if c.References == nil {
		return nil
	}
	types := slices.Clone(c.References.MandateTypes)
	for i := range types {
		types[i].Description = ""
	}
	return SortReferences(types)
}

// SortReferences orders reference data by id and drops what is repeated: a service may list it in any order.
func SortReferences(references []client.Reference) []client.Reference {
	return slices.Compact(slices.SortedFunc(slices.Values(references), func(a, b client.Reference) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Name, b.Name))
	}))
}

// Remove removes a connection, and publishes that unless ctx ends first.
func (r *Registry) Remove(ctx context.Context, key Key) {
	r.Mandates.remove(key)
	r.Actions.remove(key)
	r.mu.Lock()
	delete(r.connections, key)
	delete(r.opened, key)
	r.mu.Unlock()
	r.publish(ctx, key)
}
