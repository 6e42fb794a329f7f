package notification

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

const (
	// maxFinderRate is how many ids are read each second by way of one connection, and maxFinderBurst how many at once: a
	// sender that names ids that are none must not take the rate that others need.
	maxFinderRate, maxFinderBurst = 1, 10
	// maxFinders is how many connections are read from at a time, and readTimeout how long one may take.
	maxFinders, readTimeout = 100, 10 * time.Second
	// lagAllowance is after how long an id is read for the second time that was not found, or without a reference: a read
	// may lag behind the create. maxAgain are those of a connection that wait for that.
	lagAllowance, maxAgain = 30 * time.Second, 100
	// An id that failed is read maxFailures times, after retryInterval and twice as long each time.
	retryInterval, maxFailures = 5 * time.Second, 4
	// maxRememberedReads is how many ids of a connection are remembered that were read. What is forgotten is read again.
	maxRememberedReads = 1000
)

// Finder reads the applications whose ids are on services, each once, and names each to the Mandate whose reference it
// shows. That Mandate reads it as well, before it binds it. Only the leader runs it.
type Finder struct {
	accounts
	connections *connection.Registry
	metadata    client.Writer // patches annotations
	clock       clock.PassiveClock

	mu       sync.Mutex
	searches *lru.Cache // *search by connection.Key
}

// search is what was read by way of one connection, as it was then.
type search struct {
	credentials [32]byte
	generation  int64 // of the service
	limiter     *rate.Limiter
	ids         *lru.Cache // *idRead by id
	again       []int64    // those that are not on the service any more, and are read for the second time
}

// idRead is what is known of one id.
type idRead struct {
	next    time.Time // when it may be read again
	later   looked    // until then
	reads   int       // in vain
	foreign bool      // it shows the reference of no Mandate that has no application
	shows   string    // the reference of one that has none
}

// NewFinder makes a Finder. The cache has services and Mandates, with the index connection.MandateField.
func NewFinder(
	cache client.Reader, clusterServices bool, connections *connection.Registry, metadata client.Writer,
) *Finder {
	return &Finder{
		accounts: accounts{cache, clusterServices}, connections: connections, metadata: metadata,
		clock: clock.RealClock{}, searches: lru.New(maxCachedConnections),
	}
}

// SetupWithManager registers the controller.
func (f *Finder) SetupWithManager(manager ctrl.Manager) error {
	enqueue := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, service client.Object) []connection.Key {
		return []connection.Key{connection.KeyOfService(service)}
	})
	named := builder.WithPredicates(predicate.NewPredicateFuncs(func(service client.Object) bool {
		return len(engine.UnknownIDs(service)) > 0
	}))
	controlled := builder.TypedControllerManagedBy[connection.Key](manager).Named("unknown-ids").
		Watches(&v1alpha1.IdentityService{}, enqueue, named)
	if f.clusterServices {
		controlled.Watches(&v1alpha1.ClusterIdentityService{}, enqueue, named)
	}
	return controlled.
		WithOptions(controller.TypedOptions[connection.Key]{MaxConcurrentReconciles: maxFinders}).
		Complete(f)
}

// Reconcile reads the ids on one service that are due, one after the other, and takes those off that have an answer.
func (f *Finder) Reconcile(ctx context.Context, key connection.Key) (reconcile.Result, error) {
	after, err := f.reconcile(ctx, key)
	return reconcile.Result{RequeueAfter: after}, apierror.Redact(err)
}

func (f *Finder) reconcile(ctx context.Context, key connection.Key) (after time.Duration, err error) {
	service, err := f.service(ctx, key)
	if err != nil || service == nil {
		return 0, err
	}
	used, ok := f.connections.Get(key)
	if !ok || used.UID != service.GetUID() || used.Generation != service.GetGeneration() ||
		!used.Ready && !used.OnlyWritesFail {
		return time.Duration(min(len(engine.UnknownIDs(service)), 1)) * retryInterval, nil
	}
	left, s := engine.UnknownIDs(service), f.search(key, &used)
	for _, id := range append(slices.Clone(left), s.again...) {
		result, wait, failed := f.look(ctx, service, &used, s, id)
		isIt := func(other int64) bool { return other == id }
		if result == lookedDone || result == lookedAgain {
			left, s.again = slices.DeleteFunc(left, isIt), slices.DeleteFunc(s.again, isIt)
		}
		if result == lookedAgain {
			s.again = append(s.again, id)
		}
		if result != lookedDone {
			after = cmp.Or(min(after, wait), wait)
		}
		if err = failed; result == lookedStop {
			break
		}
	}
	s.again = s.again[max(len(s.again)-maxAgain, 0):]
	if len(left) == len(engine.UnknownIDs(service)) {
		return after, err
	}
	named := any(engine.FormatCandidates(left))
	if len(left) == 0 {
		named = nil
	}
	return after, cmp.Or(err, client.IgnoreNotFound(annotate(
		ctx, f.metadata, string(key.Kind), service, map[string]any{v1alpha1.UnknownIDsAnnotation: named})))
}

// search is what was read by way of a connection. With other credentials or another service, the ids may be others'.
func (f *Finder) search(key connection.Key, used *connection.Connection) *search {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.searches.Get(key); ok {
		s := known.(*search) //nolint:forcetypeassert // it holds no other type
		if s.credentials == used.Credentials && s.generation == used.Generation {
			return s
		}
	}
	s := &search{
		credentials: used.Credentials, generation: used.Generation,
		limiter: rate.NewLimiter(maxFinderRate, maxFinderBurst), ids: lru.New(maxRememberedReads),
	}
	f.searches.Add(key, s)
	return s
}

// looked is what has become of an id.
type looked int

const (
	lookedDone  looked = iota // there is an answer
	lookedAgain               // there is one, and it is read for the second time later
	lookedLater               // there is none, so it stays on the service
	lookedStop                // nor is there one for the others
)

// look reads the application with an id, if it is due, and names it to its Mandate.
func (f *Finder) look(
	ctx context.Context, service connection.Service, used *connection.Connection, s *search, id int64,
) (result looked, wait time.Duration, err error) {
	now, read := f.clock.Now(), &idRead{}
	if known, ok := s.ids.Get(id); ok {
		read = known.(*idRead) //nolint:forcetypeassert // it holds no other type
	} else {
		s.ids.Add(id, read)
	}
	switch {
	case read.foreign:
		return lookedDone, 0, nil
	case read.shows != "": // the API server did not take its name
	case now.Before(read.next):
		return read.later, read.next.Sub(now), nil
	case !s.limiter.AllowN(now, 1):
		return lookedStop, time.Second / maxFinderRate, nil
	default:
		if result, wait := read.read(ctx, used, now, id); read.shows == "" {
			return result, wait, nil
		}
	}
	mandate, err := f.mandateOf(ctx, service, read.shows)
	if err == nil && mandate != nil {
		err = f.name(ctx, mandate, id)
	}
	if err != nil {
		return lookedStop, retryInterval, err
	}
	*read = idRead{foreign: mandate == nil, next: now.Add(interval), later: lookedAgain}
	return lookedDone, 0, nil
}

// read retrieves the application with an id.
func (r *idRead) read(
	ctx context.Context, used *connection.Connection, now time.Time, id int64,
) (result looked, wait time.Duration) {
	bounded, cancel := context.WithTimeout(idv.WithUntrustedID(ctx), readTimeout)
	defer cancel()
	application, err := used.Client.RetrieveApplication(bounded, id)
	most, result := 2, lookedAgain
	wait = lagAllowance
	switch {
	case err == nil && application.Reference != "":
		r.shows = application.Reference
		return lookedDone, 0
	case err == nil:
	case engine.IsConnectionError(ctx, err), idv.OutcomeOf(err) == idv.NotSent:
		return lookedStop, retryInterval // that says nothing about the id
	case !idv.OutcomeOf(err).NothingDone():
		most, result = maxFailures, lookedLater
		wait = retryInterval << r.reads
	}
	r.next, r.later = now.Add(wait), result
	r.reads++
	if r.reads >= most {
		r.reads = 0 // it is read again if it is named again
		return lookedDone, 0
	}
	if idv.KindOf(err) == idv.KindTimeout {
		return lookedStop, wait // the next one may take as long
	}
	return result, wait
}

// mandateOf gives the Mandate without an application that has a reference at the account of a service; nil if there is
// none.
func (f *Finder) mandateOf(
	ctx context.Context, service connection.Service, shown string,
) (*v1alpha1.Mandate, error) {
	keys, err := f.peers(ctx, service)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		of, err := f.service(ctx, key)
		if err != nil {
			return nil, err
		}
		var mandates v1alpha1.MandateList
		err = f.cache.List(ctx, &mandates, client.UnsafeDisableDeepCopy, client.InNamespace(key.Namespace),
			client.MatchingFields{connection.MandateField: key.String()})
		if err != nil {
			return nil, err
		}
		for i := range mandates.Items {
			m := &mandates.Items[i]
			if of != nil && m.Status.ApplicationID == nil && shown == cmp.Or(m.Status.Reference, m.Spec.Reference,
				reference.Mandate(of.Settings().ReferencePrefix, m.Namespace, m.Name)) {
				return m, nil
			}
		}
	}
	return nil, nil
}

// name names an application to its Mandate, which reads it now, however often it was named before.
func (f *Finder) name(ctx context.Context, m *v1alpha1.Mandate, id int64) error {
	ids := slices.DeleteFunc(engine.Candidates(m), func(other int64) bool { return other == id })
	annotations := map[string]any{v1alpha1.CandidateAnnotation: engine.FormatCandidates(append(ids, id))}
	if isAcknowledged(m) {
		last := engine.ParseNotificationRequest(engine.ReconcileRequest(m))
		annotations[v1alpha1.ReconcileRequestAnnotation] = last.Next(f.clock.Now()).String()
	}
	return client.IgnoreNotFound(annotate(ctx, f.metadata, kindMandate, m, annotations))
}
