// Package connection holds the clients of the IdentityServices. The service controller puts them in; whoever calls the
// service takes them out, and never sees credentials.
package connection

import (
	"context"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// Connection is an IdentityService that has been reached at least once since its last change.
type Connection struct {
	Client *client.Client
	// URL is the base URL in its normal form.
	URL string
	// UID, Created and Generation of the IdentityService that this was made from.
	UID        types.UID
	Created    metav1.Time
	Generation int64
	// ReferencePrefix goes before default references.
	ReferencePrefix string
	// MinPoll and MaxPoll bound the time between two reads of an application.
	MinPoll, MaxPoll time.Duration
	States           client.StateNames
	References       *client.References
	// Ready tells whether the last look at the service went well.
	Ready bool
	// Leaving tells that the IdentityService is being deleted: the connection serves the deletion of Mandates, and nothing
	// else.
	Leaving bool
}

// Registry has the Connections by the name of their IdentityService.
type Registry struct {
	// Changes tells of the IdentityServices whose connection changed in a way that Mandates may wait for. One reader.
	Changes chan event.GenericEvent

	mu          sync.RWMutex
	connections map[types.NamespacedName]Connection
}

// NewRegistry makes an empty Registry.
func NewRegistry() *Registry {
	return &Registry{Changes: make(chan event.GenericEvent), connections: map[types.NamespacedName]Connection{}}
}

// Get gives a connection; false if there is none (yet).
func (r *Registry) Get(name types.NamespacedName) (Connection, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	connection, ok := r.connections[name]
	return connection, ok
}

// Put sets a connection and tells of a change, or gives up telling when ctx ends.
func (r *Registry) Put(ctx context.Context, name types.NamespacedName, connection Connection) {
	r.mu.Lock()
	before, known := r.connections[name]
	r.connections[name] = connection
	r.mu.Unlock()
	if known && before.alike(&connection) {
		return
	}
	service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	select {
	case r.Changes <- event.GenericEvent{Object: service}:
	case <-ctx.Done():
	}
}

// alike tells that nobody waits for the difference. Reference data is read again and again: what it says counts, not that
// it was read.
func (c *Connection) alike(other *Connection) bool {
	return c.Ready == other.Ready && c.Leaving == other.Leaving && c.UID == other.UID && c.Generation == other.Generation &&
		slices.Equal(c.mandateTypes(), other.mandateTypes())
}

func (c *Connection) mandateTypes() []client.Reference {
	if c.References == nil {
		return nil
	}
	return c.References.MandateTypes
}

// Remove forgets a connection.
func (r *Registry) Remove(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.connections, name)
}
