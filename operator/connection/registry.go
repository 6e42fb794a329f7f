// Package connection holds the clients of the IdentityServices and ClusterIdentityServices. The service controller puts
// them in; whoever calls the service takes them out, and never sees credentials.
package connection

import (
	"context"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/mandate-io/idv/internal/client"
)

// Connection is a service that has been looked at since its last change.
type Connection struct {
	Client *client.Client
	// URL is the base URL in its normal form.
	URL string
	// UID, Created and Generation of the object that this was made from.
	UID        types.UID
	Created    metav1.Time
	Generation int64
	// ReferencePrefix goes before default references.
	ReferencePrefix string
	// MinPoll and MaxPoll bound the time between two reads of an application.
	MinPoll, MaxPoll time.Duration
	States           client.StateNames
	References       *client.References
	// Ready tells whether the last look at the service went well, and no calls have failed in a row since.
	Ready bool
	// Looked is when the last look at the service ended.
	Looked time.Time
	// Mandates and Actions bound who uses it at a time. The Registry sets them.
	Mandates, Actions *Line
}

// Registry has the Connections.
type Registry struct {
	// Changes tells of the connections that changed in a way that Mandates may wait for. One reader.
	Changes chan event.TypedGenericEvent[Key]
	// Mandates and Actions are the Lines of the two kinds of objects that use connections.
	Mandates, Actions *Lines
	// Tripped, if set, is told of a connection that is not Ready any more because calls have failed in a row. It stays
	// so until it is Put with a later look at the service.
	Tripped func(Key)

	fresh *fresh

	mu          sync.RWMutex
	connections map[Key]Connection
	tripped     map[Key]time.Time
}

// NewRegistry makes an empty Registry.
func NewRegistry() *Registry {
	return &Registry{
		Changes: make(chan event.TypedGenericEvent[Key]), Mandates: newLines(), Actions: newLines(), fresh: newFresh(),
		connections: map[Key]Connection{}, tripped: map[Key]time.Time{},
	}
}

// Get gives a connection; false if there is none (yet).
func (r *Registry) Get(key Key) (Connection, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	connection, ok := r.connections[key]
	return connection, ok
}

// Put sets a connection and tells of a change, or gives up telling when ctx ends.
func (r *Registry) Put(ctx context.Context, key Key, connection Connection) {
	if !r.swap(key, &connection) {
		r.tell(ctx, key)
	}
}

func (r *Registry) tell(ctx context.Context, key Key) {
	select {
	case r.Changes <- event.TypedGenericEvent[Key]{Object: key}:
	case <-ctx.Done():
	}
}

// swap tells whether the connection before was as good.
func (r *Registry) swap(key Key, connection *Connection) (alike bool) {
	ahead := func() time.Duration { return 0 }
	if connection.Client != nil {
		ahead = connection.Client.RateLimitDelay
	}
	trip := func() { r.trip(key) }
	connection.Mandates, connection.Actions = r.Mandates.line(key, trip, ahead), r.Actions.line(key, trip, ahead)
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, tripped := r.tripped[key]; tripped && connection.Looked.After(at) {
		delete(r.tripped, key)
	} else if tripped {
		connection.Ready = false
	}
	before, known := r.connections[key]
	r.connections[key] = *connection
	return known && before.alike(connection)
}

// trip keeps everybody from using a connection until it has been looked at.
func (r *Registry) trip(key Key) {
	r.mu.Lock()
	connection, known := r.connections[key]
	if known {
		connection.Ready = false
		r.connections[key], r.tripped[key] = connection, time.Now()
	}
	r.mu.Unlock()
	if known && r.Tripped != nil {
		r.Tripped(key)
	}
}

// alike tells that nobody waits for the difference. Reference data is read again and again: what it says counts, not that
// it was read.
func (c *Connection) alike(other *Connection) bool {
	return c.Ready == other.Ready && c.UID == other.UID && c.Generation == other.Generation &&
		slices.Equal(c.mandateTypes(), other.mandateTypes())
}

func (c *Connection) mandateTypes() []client.Reference {
	if c.References == nil {
		return nil
	}
	return c.References.MandateTypes
}

// Remove forgets a connection, and tells of it, or gives up telling when ctx ends.
func (r *Registry) Remove(ctx context.Context, key Key) {
	r.Mandates.remove(key)
	r.Actions.remove(key)
	r.mu.Lock()
	delete(r.connections, key)
	delete(r.tripped, key)
	r.mu.Unlock()
	r.tell(ctx, key)
}
