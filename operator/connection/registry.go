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
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
)

// Connection is a service that has been probed since its last change.
type Connection struct {
	Client *client.Client
	// URL is the base URL in its normal form.
	URL string
	// Credentials is a digest of those that Client has.
	Credentials [32]byte
	// Account is whom the service sees. Vouched: a person says that applications of other accounts are its own, too.
	// SameAccounts are those that have shown to be the same.
	Account      Account
	Vouched      bool
	SameAccounts []Account
	// AccountState says whether the account has shown that it is the one of the applications. LookWithin is within how
	// long all of them are read to find out.
	AccountState AccountState
	LookWithin   time.Duration
	// UID and Generation of the object that this was made from.
	UID        types.UID
	Generation int64
	// ReferencePrefix goes before default references.
	ReferencePrefix string
	// AfterOutcome is what becomes of inline personal data, for Mandates that do not say so.
	AfterOutcome v1alpha1.RetentionPolicy
	// NamespacedReferences: references must begin with ReferencePrefix, the namespace and a dot.
	NamespacedReferences bool
	// MinPoll and MaxPoll bound the time between two reads of an application.
	MinPoll, MaxPoll time.Duration
	// Notified is when a notification was last about an application of a Mandate; zero: never.
	Notified time.Time
	// Subscriptions is set if the operator subscribes each application.
	Subscriptions *Subscriptions
	States        lifecycle.Names
	// StatesUnknown is how many Mandates wait while nobody has explained the name of their application's state.
	StatesUnknown int
	// References are those that Mandates can select, in order and each once; nil if they are not known.
	References *client.References
	// Ready: there is a client whose first probe succeeded. From Get, also: its circuit breaker admits calls.
	Ready bool
	// OnlyWritesFail: from Get, it is not Ready, and may be used for Recovery.
	OnlyWritesFail bool
	// Mandates and Actions bound how many reconciliations use it at a time. The Registry sets them.
	Mandates, Actions *ConcurrencyLimiter
}

// Of is what the spec of a service says of its connection, with credentials of an account.
func Of(service Service, account Account) Connection {
	spec := service.Settings()
	return Connection{
		URL:                  client.NormalBaseURL(spec.BaseURL),
		Account:              account,
		Vouched:              IsVouchedFor(service, account),
		UID:                  service.GetUID(),
		Generation:           service.GetGeneration(),
		ReferencePrefix:      spec.ReferencePrefix,
		NamespacedReferences: service.NamespacedReferences(),
		AfterOutcome:         spec.Retention.AfterOutcome,
		MinPoll:              seconds(spec.Polling.MinIntervalSeconds, 30),
		MaxPoll:              seconds(spec.Polling.MaxIntervalSeconds, 3600),
		States:               lifecycle.Names(spec.States),
	}
}

// seconds with the CRD's default, for objects that are older than it.
func seconds(n, fallback int32) time.Duration {
	return time.Duration(cmp.Or(max(n, 0), fallback)) * time.Second
}

// Registry has the Connections.
type Registry struct {
	// Changes has the connections that changed in a way that Mandates may wait for. It has one reader.
	Changes chan event.TypedGenericEvent[Key]
	// ServiceChanged is called when the status of a service may have to show something else: its circuit breaker changes,
	// there is a new proof or name of a state, or the first create begins. It must not block. Set it before use.
	ServiceChanged func(Key)
	// Mandates and Actions are the limiters for the two kinds of objects that use connections.
	Mandates, Actions *Limiters

	mu      sync.RWMutex
	entries map[Key]*entry
	proofs  map[Key][]v1alpha1.SameAccount
	states  map[Key]map[string]time.Time // names of states, and when they were last seen
	begun   map[Key]sets.Set[types.NamespacedName]
}

// entry is what the Registry has of one service.
type entry struct {
	breaker           *CircuitBreaker
	mandates, actions *ConcurrencyLimiter
	connection        *Connection // nil: there is none yet
}

// NewRegistry makes an empty Registry. Of each kind of object, so many may use one connection at a time; 0 is
// unlimited.
func NewRegistry(concurrency int) *Registry {
	return &Registry{
		Changes:  make(chan event.TypedGenericEvent[Key]),
		Mandates: newLimiters(concurrency), Actions: newLimiters(concurrency),
		entries: map[Key]*entry{}, proofs: map[Key][]v1alpha1.SameAccount{}, states: map[Key]map[string]time.Time{},
		begun:          map[Key]sets.Set[types.NamespacedName]{},
		ServiceChanged: func(Key) {},
	}
}

// Breaker gives the circuit breaker of a connection, which lasts until Remove.
func (r *Registry) Breaker(key Key) *CircuitBreaker { return r.entry(key).breaker }

func (r *Registry) entry(key Key) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries[key] == nil {
		r.entries[key] = r.newEntry(key)
	}
	return r.entries[key]
}

// newEntry makes a circuit breaker with its limiters. Several namespaces share a service that has none.
func (r *Registry) newEntry(key Key) *entry {
	e := &entry{}
	e.breaker = newCircuitBreaker(func(changed bool) {
		e.mandates.followBreaker()
		e.actions.followBreaker()
		if changed {
			r.ServiceChanged(key)
		}
	})
	e.breaker.shared = key.Namespace == ""
	e.mandates = r.Mandates.newLimiter(e.breaker, e.breaker.shared)
	e.actions = r.Actions.newLimiter(e.breaker, e.breaker.shared)
	return e
}

// Get gives a connection; false if there is none (yet).
func (r *Registry) Get(key Key) (Connection, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e := r.entries[key]
	if e == nil || e.connection == nil {
		return Connection{}, false
	}
	connection := *e.connection
	connection.Ready = e.breaker.ready()
	connection.OnlyWritesFail = !connection.Ready && e.breaker.OnlyWritesFail()
	return connection, true
}

func (r *Registry) publish(ctx context.Context, key Key) {
	select {
	case r.Changes <- event.TypedGenericEvent[Key]{Object: key}:
	case <-ctx.Done():
	}
}

// Put sets a connection, and publishes the change, unless ctx ends first, if Mandates may have waited for it.
func (r *Registry) Put(ctx context.Context, key Key, connection Connection) {
	rateLimitDelay := func() time.Duration { return 0 }
	if connection.Client != nil {
		rateLimitDelay = connection.Client.RateLimitDelay
	}
	e := r.entry(key)
	connection.Mandates, connection.Actions = e.mandates, e.actions
	r.mu.Lock()
	before := e.connection
	e.connection = &connection
	r.mu.Unlock()
	e.breaker.setUsable(connection.Ready)
	connection.Mandates.follow(rateLimitDelay)
	connection.Actions.follow(rateLimitDelay)
	if before == nil || !before.equivalent(&connection) {
		r.publish(ctx, key)
	}
}

// IsOf reports whether a connection was made from a service as it is.
func (c *Connection) IsOf(service Service) bool {
	return service.GetUID() == c.UID && service.GetGeneration() == c.Generation
}

// equivalent reports that nobody waits for the difference. Reference data is read again and again: what it says counts,
// not that it was read.
func (c *Connection) equivalent(other *Connection) bool {
	return c.Ready == other.Ready && c.UID == other.UID && c.Generation == other.Generation &&
		c.Credentials == other.Credentials && c.Account == other.Account && c.Vouched == other.Vouched &&
		c.AccountState == other.AccountState && slices.Equal(c.SameAccounts, other.SameAccounts) &&
		slices.Equal(c.mandateTypes(), other.mandateTypes())
}

func (c *Connection) mandateTypes() []client.Reference {
	if c.References == nil {
		return nil
	}
	return c.References.MandateTypes
}

// Remove removes a connection, and publishes that unless ctx ends first.
func (r *Registry) Remove(ctx context.Context, key Key) {
	r.mu.Lock()
	e := r.entries[key]
	delete(r.entries, key)
	delete(r.proofs, key)
	delete(r.states, key)
	delete(r.begun, key)
	r.mu.Unlock()
	if e != nil {
		e.breaker.stop()
	}
	r.publish(ctx, key)
}
