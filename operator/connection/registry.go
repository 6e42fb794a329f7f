// Package connection holds the clients of the IdentityServices. The service controller puts them in; whoever calls the
// service takes them out, and never sees credentials.
package connection

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/internal/client"
)

// Connection is an IdentityService that has been reached at least once since its last change.
type Connection struct {
	Client *client.Client
	// URL is the base URL in its normal form.
	URL string
	// Generation of the IdentityService that this was made from.
	Generation int64
	// ReferencePrefix goes before default references.
	ReferencePrefix string
	// MinPoll and MaxPoll bound the time between two reads of an application.
	MinPoll, MaxPoll time.Duration
	States           client.StateNames
	References       *client.References
	// Ready tells whether the last look at the service went well.
	Ready bool
}

// Registry has the Connections by the name of their IdentityService. The zero value is empty and ready to use.
type Registry struct {
	mu          sync.RWMutex
	connections map[types.NamespacedName]Connection
}

// Get gives a connection; false if there is none (yet).
func (r *Registry) Get(name types.NamespacedName) (Connection, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	connection, ok := r.connections[name]
	return connection, ok
}

// Put sets a connection.
func (r *Registry) Put(name types.NamespacedName, connection Connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.connections == nil {
		r.connections = map[types.NamespacedName]Connection{}
	}
	r.connections[name] = connection
}

// Remove forgets a connection.
func (r *Registry) Remove(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.connections, name)
}
