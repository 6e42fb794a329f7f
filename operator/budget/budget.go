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
	// maxReserved is how many requests are reserved at a time, at most.
	maxReserved = 20
	// maxUse is for how long a reservation can be used, at most.
	maxUse = time.Minute
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
	// Ledger tells what was sent, where the status of a service has been lost.
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
	use := min(maxUse, config.Hour/10)
	return &Budgets{
		config: config, use: use, services: map[connection.Key]*service{},
		windows: windows{config.Hour, 24 * config.Hour, use + config.SettleDelay + clockError},
	}
}

// service is what this process has reserved of the budget of one service.
type service struct {
	mu         sync.Mutex
	uid        types.UID
	generation int64

	reserved   time.Time // as in the status
	until      time.Time // it can be used; by the clock of this process
	unused     int32     // what everybody may take
	admitted   map[Waiter]bool
	queue      []Waiter // those that wait after them, the oldest first
	taken      map[Waiter]bool
	lastSize   int32
	nothing    bool      // there was nothing left
	nothingFor time.Time // until when, by the clock of this process
}

// A Waiter is a Mandate or a MandateAction.
type Waiter struct {
	Action bool
	types.NamespacedName
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
		s.reset(used)
	}
	if s.generation != used.Generation { // spec.creation may be another one
		s.generation, s.nothing = used.Generation, false
	}
	return s
}

func (s *service) reset(used *connection.Connection) {
	s.uid, s.generation = used.UID, used.Generation
	s.until, s.unused, s.nothing, s.lastSize = time.Time{}, 0, false, 0
	s.admitted, s.taken, s.queue = map[Waiter]bool{}, map[Waiter]bool{}, nil
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

// wait is for a request that comes after others, or for which nothing is left.
func (s *service) wait(waiter Waiter, now time.Time) time.Duration {
	usable := now.Before(s.until)
	switch {
	case usable && (s.admitted[waiter] || s.unused > 0):
		return 0
	case usable && len(s.admitted) > 0:
		return s.until.Sub(now)
	case s.nothing && now.Before(s.nothingFor):
		return s.nothingFor.Sub(now)
	default:
		return 0
	}
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
	delete(s.taken, waiter)
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

// take uses a part of what is reserved.
func (s *service) take(waiter Waiter) bool {
	usable := time.Now().Before(s.until)
	switch {
	case usable && s.admitted[waiter]:
		delete(s.admitted, waiter)
	case usable && s.unused > 0:
		s.unused--
	default:
		return false
	}
	s.taken[waiter] = true
	return true
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
	all, err := b.reservations(ctx, key, live, now)
	if err != nil {
		return err
	}
	all.giveBack(s.reserved, s.unused+int32(len(s.admitted)))
	size := min(max(2*s.lastSize, int32(len(waiting)), 1), maxReserved, max(all.free(limits, b.windows, now), 0))
	if size > 0 {
		all = append(all, v1alpha1.CreationReservation{Time: metav1.NewTime(now.Truncate(time.Second)), Count: size})
	}
	all = all.compact(b.windows, now)
	next := all.nextFree(limits, b.windows, now)
	if err := b.write(ctx, live, all, now, int32(len(waiting))); err != nil {
		if !apierrors.IsConflict(err) { // it may have been written all the same
			s.unused, s.admitted = 0, map[Waiter]bool{}
		}
		return err
	}
	s.nothing, s.nothingFor = next.After(now), began.Add(next.Sub(now))
	s.reserved, s.until, s.lastSize = now.Truncate(time.Second), began.Add(b.use), size
	s.admit(waiting, size, waiter)
	for admitted := range s.admitted {
		if admitted != waiter {
			b.wakeUp(admitted)
		}
	}
	return nil
}

// admit gives what was reserved to the oldest of those that wait.
func (s *service) admit(waiting []Waiter, size int32, waiter Waiter) {
	first := min(int(size), len(waiting))
	s.unused, s.queue = size-int32(first), waiting[first:]
	s.admitted = make(map[Waiter]bool, first)
	for _, w := range waiting[:first] {
		s.admitted[w] = true
	}
}

// write writes what is reserved, unless anybody else has written the service since it was read.
func (b *Budgets) write(
	ctx context.Context, live connection.Service, all reservations, now time.Time, waiting int32,
) error {
	updated, _ := live.DeepCopyObject().(connection.Service)
	status := &v1alpha1.CreationStatus{Waiting: waiting, Reserved: all}
	updated.ServiceStatus().Creation = status
	b.show(status, LimitsOf(live), now)
	return b.config.Status.Patch(ctx, updated, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{}))
}

// Show brings the numbers of a status up to date.
func (b *Budgets) Show(status *v1alpha1.CreationStatus, limits v1alpha1.Creation) {
	if b == nil {
		return
	}
	b.show(status, limits, b.config.Now())
}

func (b *Budgets) show(status *v1alpha1.CreationStatus, limits v1alpha1.Creation, now time.Time) {
	all := reservations(status.Reserved)
	status.LastHour = all.since(now.Add(-b.windows.hour))
	status.LastDay = all.since(now.Add(-b.windows.day))
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
