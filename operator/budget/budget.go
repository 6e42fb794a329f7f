// Package budget keeps what spec.creation of a service allows: how many requests that e-mail people the operator sends
// in an hour and in a day.
//
// The operator reserves a few requests at a time in the status of the service, by an update that fails if anybody else
// has written it. So two operators never share what is left, and what a process did not use when it was killed counts
// as used.
package budget

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
)

const (
	// maxReserved is how many requests are reserved at a time, and partReserved the part of maxPerHour, at most.
	maxReserved, partReserved = 20, 25
	// partUsable is the part of an hour for which a reservation can be used.
	partUsable = 6
	// clockError is how much the time of a reservation can be wrong: the clocks of API servers differ, and a status has
	// full seconds.
	clockError = 5 * time.Second
	// conflictDelay is how soon a request tries again, if others keep writing the status of the service.
	conflictDelay = 2 * time.Second
	maxConflicts  = 5
)

// Config is what Budgets work with.
type Config struct {
	// Cache has Mandates and MandateActions. It may be stale.
	Cache client.Reader
	// Live reads services from the API server, and Status writes them.
	Live   client.Reader
	Status client.SubResourceWriter
	// Ledger tells what was sent, where the status of a service may have been lost.
	Ledger ledger.Ledger
	// Connections wake up what waits.
	Connections *connection.Registry
	// Now is the time of the API server.
	Now func() time.Time
	// Hour is the time that spec.creation.maxPerHour is about.
	Hour time.Duration
	// SettleDelay is longer than it takes from a request's Take to its arrival at the service.
	SettleDelay time.Duration
}

// Budgets are those of all services. Nil Budgets limit nothing.
type Budgets struct {
	config  Config
	windows windows
	use     time.Duration // for how long a reservation can be used

	mu       sync.Mutex
	services map[connection.Key]*service
}

// New makes Budgets.
func New(config Config) *Budgets {
	use := config.Hour / partUsable
	return &Budgets{
		config: config, use: use, services: map[connection.Key]*service{},
		windows: windows{config.Hour, 24 * config.Hour, use + config.SettleDelay + clockError},
	}
}

// service is one service, with what this process has of its budget. It is locked while it is used.
type service struct {
	share

	mu         sync.Mutex
	uid        types.UID
	generation int64
	written    time.Time    // the newest reservation of the status that this process wrote last; zero: it wrote none
	begun      reservations // as the ledger has them; nil: it was not asked for this reservation
}

func (b *Budgets) service(key connection.Key, used *connection.Connection) *service {
	b.mu.Lock()
	s := b.services[key]
	if s == nil {
		s = &service{}
		b.services[key] = s
	}
	b.mu.Unlock()
	s.mu.Lock()
	if s.uid != used.UID {
		s.uid, s.generation = used.UID, used.Generation
		s.share, s.written = newShare(), time.Time{}
	}
	if s.generation != used.Generation { // spec.creation may be another one: what is not used is reserved again
		s.generation, s.nothing = used.Generation, false
		s.until = time.Time{}
	}
	return s
}

// Forget is for a service that is gone, or has no connection any more. What is reserved counts as used.
func (b *Budgets) Forget(key connection.Key) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.services, key)
}

// Wait says how long a request has to wait, as far as this process knows. 0: Take will tell.
func (b *Budgets) Wait(key connection.Key, used *connection.Connection, waiter Waiter) time.Duration {
	if b == nil {
		return 0
	}
	s := b.service(key, used)
	defer s.mu.Unlock()
	return s.wait(waiter, time.Now())
}

// Take takes one request of the budget of a service, or says how long to wait. Those that have waited come first, the
// oldest first.
func (b *Budgets) Take(
	ctx context.Context, key connection.Key, used *connection.Connection, waiter Waiter,
) (time.Duration, error) {
	if b == nil {
		return 0, nil
	}
	s := b.service(key, used)
	defer s.mu.Unlock()
	delete(s.served, waiter)
	if wait := s.wait(waiter, time.Now()); wait > 0 || s.take(waiter) {
		b.next(s)
		return wait, nil
	}
	err := b.reserve(ctx, key, s, waiter)
	switch {
	case apierrors.IsConflict(err):
		return conflictDelay, nil
	case err != nil:
		return 0, err
	case s.take(waiter):
		b.next(s)
		return 0, nil
	}
	return max(s.wait(waiter, time.Now()), time.Second), nil
}

// Return gives back the request that a waiter has taken last, and for which nothing was sent: a namespace in which no
// call can be recorded must not use up what it shares with others.
func (b *Budgets) Return(key connection.Key, used *connection.Connection, waiter Waiter) {
	if b == nil {
		return
	}
	b.mu.Lock()
	s := b.services[key]
	b.mu.Unlock()
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uid == used.UID && s.giveBack(waiter) && len(s.queue) > 0 {
		b.wakeUp(s.queue[0])
		s.queue = s.queue[1:]
	}
}

// next has the oldest of those that still wait reserve more, once all that was reserved for others is used.
func (b *Budgets) next(s *service) {
	if len(s.admitted) > 0 || s.unused > 0 || s.nothing || len(s.queue) == 0 {
		return
	}
	oldest := s.queue[0]
	s.queue = s.queue[1:]
	b.wakeUp(oldest)
}

func (b *Budgets) wakeUp(w Waiter) {
	limiters := b.config.Connections.Mandates
	if w.Action {
		limiters = b.config.Connections.Actions
	}
	limiters.WakeUp(w.NamespacedName)
}

// reserve reserves a part of what is left for those that wait, and the rest of the part for everybody.
func (b *Budgets) reserve(ctx context.Context, key connection.Key, s *service, waiter Waiter) error {
	s.begun = nil
	waiting, err := b.waiting(ctx, key, s)
	if err != nil {
		return err
	}
	for range maxConflicts {
		if err = b.tryReserve(ctx, key, s, waiting, waiter); !apierrors.IsConflict(err) {
			return err
		}
	}
	return err
}

func (b *Budgets) tryReserve(
	ctx context.Context, key connection.Key, s *service, waiting []Waiter, waiter Waiter,
) error {
	began := time.Now()
	live := key.NewService()
	if err := b.config.Live.Get(ctx, key.ObjectKey(), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	if live.GetUID() != s.uid || live.GetGeneration() != s.generation {
		return nil // the connection is not that of the service as it is now
	}
	now, limits := b.config.Now(), LimitsOf(live)
	all, err := b.reservations(ctx, key, s, live, now)
	if err != nil {
		return err
	}
	size := min(max(int(limits.MaxPerHour)/partReserved, 1), maxReserved, all.free(limits, b.windows, now))
	if size > 0 {
		all = append(all, v1alpha1.CreationReservation{Time: metav1.NewTime(now.Truncate(time.Second)), Count: count(size)})
	}
	all = all.merge(b.windows, now)
	next := all.nextFree(limits, b.windows, now)
	if err := b.write(ctx, live, all, now, len(waiting)); err != nil {
		if !apierrors.IsConflict(err) { // it may have been written all the same
			s.unused, s.admitted = 0, map[Waiter]bool{}
		}
		return err
	}
	s.written = all.newest().Truncate(time.Second) // as the status has it
	s.nothing, s.nothingFor = next.After(now), began.Add(next.Sub(now))
	s.reserved, s.until = now.Truncate(time.Second), began.Add(b.use)
	s.admit(waiting, size)
	s.admittedUntil = began.Add(min(admittedFor, b.use))
	for admitted := range s.admitted {
		if admitted != waiter {
			b.wakeUp(admitted)
		}
	}
	return nil
}

// write writes what is reserved, unless anybody else has written the service since it was read.
func (b *Budgets) write(
	ctx context.Context, live connection.Service, all reservations, now time.Time, waiting int,
) error {
	updated, _ := live.DeepCopyObject().(connection.Service)
	status := &v1alpha1.CreationStatus{Waiting: count(waiting), Reserved: all}
	updated.ServiceStatus().Creation = status
	b.show(status, LimitsOf(live), now)
	return b.config.Status.Patch(ctx, updated, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{}))
}

// Show brings the numbers of a status up to date.
func (b *Budgets) Show(status *v1alpha1.CreationStatus, limits v1alpha1.Creation, waiting int) {
	if b == nil {
		return
	}
	status.Waiting = count(waiting)
	b.show(status, limits, b.config.Now())
}

func (b *Budgets) show(status *v1alpha1.CreationStatus, limits v1alpha1.Creation, now time.Time) {
	all := reservations(status.Reserved)
	status.LastHour = count(all.since(now.Add(-b.windows.hour)))
	status.LastDay = count(all.since(now.Add(-b.windows.day)))
	status.NextTime = nil
	if next := all.nextFree(limits, b.windows, now); next.After(now) {
		status.NextTime = &metav1.Time{Time: next}
	}
}

// LimitsOf is spec.creation of a service, with the CRD's defaults for objects that are older than they.
func LimitsOf(s connection.Service) v1alpha1.Creation {
	limits := s.Settings().Creation
	if limits.MaxPerHour == 0 {
		limits.MaxPerHour = 500
	}
	if limits.MaxPerDay == 0 {
		limits.MaxPerDay = 5000
	}
	return limits
}
