package notification

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandates,verbs=get;list;watch;patch

const (
	// maxQueued and maxQueuedBytes bound the deliveries that are answered and not read yet.
	maxQueued, maxQueuedBytes = 1024, 8 << 20
	// readers read deliveries, and writers annotate Mandates.
	readers, writers = 2, 4
	// interval is how long the last annotation of a Mandate is remembered: the cache has it then.
	interval = 10 * time.Second
	// maxWrites is how many Mandates of a connection are annotated each second, on average.
	maxWrites = 50
	// maxRetryDelay is the longest pause before an annotation that failed is tried again, and loggedTries after how many
	// tries the log says so, again and again.
	maxRetryDelay, loggedTries = time.Minute, 10
	// writeTimeout of one try, and drainTimeout of all that are left at a shutdown.
	writeTimeout, drainTimeout = 5 * time.Second, time.Second
)

// Notifier has the applications read that deliveries are about: it annotates their Mandates, which the leader sees.
type Notifier struct {
	index  *Index
	recent recentDeliveries
	cache  client.Reader // of Mandates
	live   *engine.LiveMetadata
	// metadata patches the annotations of Mandates.
	metadata client.Writer
	clock    clock.WithTicker
	observe  func(result string)
	received func(connection.Key)
	// capture limits how often the shape of a delivery is logged; nil: never.
	capture *rate.Limiter

	deliveries chan delivery
	bytes      *semaphore.Weighted
	queue      workqueue.TypedRateLimitingInterface[types.NamespacedName]

	draining atomic.Bool // nothing waits any more

	mu       sync.Mutex
	pending  map[types.NamespacedName]*hint
	assigned map[types.NamespacedName][]int64 // ids, to Mandates that wait for one
	limiters *lru.Cache                       // *rate.Limiter by connection.Key
}

// hint is what a Mandate is to be annotated with. It stays for an interval after that, so that the next one waits.
type hint struct {
	service     connection.Key
	last        engine.NotificationRequest // with which this process has annotated it
	assignments assignments
	read        bool // its application is to be read
	// candidates are ids that may be that of its application, and referenced those that came with its reference.
	candidates, referenced []int64
	deferred               string // the request of a person that it has waited for
}

func (h *hint) empty() bool { return !h.read && len(h.candidates)+len(h.referenced) == 0 }

// addReferenced adds ids that came with the reference of the Mandate.
func (h *hint) addReferenced(ids []int64) { h.read, h.referenced = true, latest(h.referenced, ids) }

func newNotifier(
	index *Index, cache, live client.Reader, metadata client.Writer, clock clock.WithTicker,
) *Notifier {
	n := &Notifier{
		index: index, cache: cache, live: engine.NewLiveMetadata(live), metadata: metadata, clock: clock,
		recent:  recentDeliveries{clock: clock},
		observe: func(string) {}, received: func(connection.Key) {},
		deliveries: make(chan delivery, maxQueued), bytes: semaphore.NewWeighted(maxQueuedBytes),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](200*time.Millisecond, maxRetryDelay),
			workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: "notification", Clock: clock},
		),
		pending: map[types.NamespacedName]*hint{}, assigned: map[types.NamespacedName][]int64{},
		limiters: lru.New(maxCachedConnections),
	}
	index.changed = n.mandateChanged
	return n
}

// accept takes a delivery for later.
func (n *Notifier) accept(d delivery) bool {
	size := int64(len(d.body))
	if n.draining.Load() || !n.bytes.TryAcquire(size) {
		return false
	}
	select {
	case n.deliveries <- d:
		return true
	default:
		n.bytes.Release(size)
		return false
	}
}

// run reads deliveries and annotates Mandates until ctx ends. What is left then is annotated at once: its sender has an
// answer.
func (n *Notifier) run(ctx context.Context) {
	writes, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var reading, writing sync.WaitGroup
	for range readers {
		reading.Go(func() {
			for d, ok := n.next(ctx); ok; d, ok = n.next(ctx) {
				n.bytes.Release(int64(len(d.body)))
				n.process(ctx, d)
			}
		})
	}
	for range writers {
		writing.Go(func() {
			for n.writeNext(writes) {
			}
		})
	}
	<-ctx.Done()
	timer := time.AfterFunc(drainTimeout, cancel)
	defer timer.Stop()
	n.draining.Store(true)
	reading.Wait()
	n.drain()
	writing.Wait()
}

// next gives the next delivery, or after the end of ctx those that are left.
func (n *Notifier) next(ctx context.Context) (delivery, bool) {
	select {
	case d := <-n.deliveries:
		return d, true
	default:
	}
	select {
	case d := <-n.deliveries:
		return d, true
	case <-ctx.Done():
		return delivery{}, false
	}
}

// drain has the writers annotate what is left, and end.
func (n *Notifier) drain() {
	n.mu.Lock()
	for name := range n.pending {
		n.queue.Add(name)
	}
	n.mu.Unlock()
	n.queue.ShutDown()
}

// process finds out what a delivery is about.
func (n *Notifier) process(ctx context.Context, d delivery) {
	if n.capture != nil && n.capture.AllowN(n.clock.Now(), 1) {
		log.FromContext(ctx).Info("Captured the shape of a notification", "kind", d.service.Kind,
			"namespace", d.service.Namespace, "name", d.service.Name, "shape", shapeOf(d.contentType, d.body))
	}
	found := n.index.match(d.service, Candidates(d.contentType, d.body))
	for _, name := range found.mandates {
		n.add(d.service, name, func(h *hint) { h.read = true })
	}
	for _, name := range found.referenced {
		n.add(d.service, name, func(h *hint) { h.addReferenced(found.unknownIDs) })
	}
	if len(found.mandates) == 0 || len(found.unknownIDs) > 0 {
		n.recent.remember(d.service, found.unknownIDs, found.references, len(found.referenced) > 0)
	}
	n.distribute(d.service)
	if len(found.mandates)+len(found.referenced) == 0 {
		n.observe(resultUnmatched)
		return
	}
	n.observe(resultMatched)
	n.received(d.service)
}

// mandateChanged looks for deliveries that came before what they are about. It must not wait: it is an event of the
// cache.
func (n *Notifier) mandateChanged(key connection.Key, name types.NamespacedName, t terms) {
	if t.awaitsID {
		ids := n.recent.idsWithReference(key, t.reference)
		ids = slices.DeleteFunc(ids, func(id int64) bool { return n.index.known(key, id) })
		n.mu.Lock() // once, so that one write has all ids
		defer n.mu.Unlock()
		if len(ids) > 0 {
			n.hint(key, name).addReferenced(ids)
		}
		n.assignRecent(key)
		return
	}
	n.reassign(key, name)
	if t.application != 0 && n.recent.contains(key, t) {
		n.add(key, name, func(h *hint) { h.read = true })
	}
}

// add adds to the hint of a Mandate.
func (n *Notifier) add(key connection.Key, name types.NamespacedName, change func(*hint)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(n.hint(key, name))
}

// hint gives that of a Mandate, to be added to with the lock. The Mandates of one connection come one after another, so
// that one whose service floods the operator does not keep those of others waiting.
func (n *Notifier) hint(key connection.Key, name types.NamespacedName) *hint {
	h := n.pending[name]
	if h == nil {
		h = &hint{}
		n.pending[name] = h
	}
	h.service = key
	if h.empty() {
		now := n.clock.Now()
		n.queue.AddAfter(name, max(n.limiter(key).ReserveN(now, 1).DelayFrom(now), h.last.Wait(now)))
	}
	return h
}

// limiter is called with the lock.
func (n *Notifier) limiter(key connection.Key) *rate.Limiter {
	if found, ok := n.limiters.Get(key); ok {
		return found.(*rate.Limiter) //nolint:forcetypeassert // it holds no other type
	}
	limiter := rate.NewLimiter(maxWrites, 2*maxWrites)
	n.limiters.Add(key, limiter)
	return limiter
}

// writeNext annotates the next Mandate. It reports false after the shutdown.
func (n *Notifier) writeNext(ctx context.Context) bool {
	name, stopped := n.queue.Get()
	if stopped {
		return false
	}
	defer n.queue.Done(name)
	n.mu.Lock()
	h := n.pending[name]
	if h == nil || h.empty() {
		delete(n.pending, name) // nothing has come since
		n.mu.Unlock()
		if h != nil {
			n.distribute(h.service) // it may have capacity again
		}
		return true
	}
	due := *h
	*h = hint{service: h.service, last: h.last, assignments: h.assignments}
	n.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	after, err := n.annotate(ctx, name, &due)
	switch {
	case apierrors.IsNotFound(err), apierror.IsUnreadable(err):
		n.queue.Forget(name)
		n.queue.AddAfter(name, interval)
	case err != nil: // it is tried until it works: its sender has an answer, and may not deliver again
		n.restore(name, &due)
		n.queue.AddRateLimited(name)
		if n.queue.NumRequeues(name)%loggedTries == 0 {
			log.FromContext(ctx).Error(apierror.Redact(err), "Failed to ask for a read after a notification, trying again",
				"namespace", name.Namespace, "name", name.Name)
		}
	default:
		n.restore(name, &due)
		n.queue.Forget(name)
		n.queue.AddAfter(name, after)
	}
	return true
}

// restore puts back what was not written, and what is to be known when the next one comes.
func (n *Notifier) restore(name types.NamespacedName, h *hint) {
	n.mu.Lock()
	defer n.mu.Unlock()
	current := n.pending[name]
	if current == nil {
		current = &hint{service: h.service, assignments: h.assignments}
		n.pending[name] = current
	}
	current.read = current.read || h.read
	current.candidates = latest(h.candidates, current.candidates)
	current.referenced = latest(h.referenced, current.referenced)
	current.deferred, current.last = h.deferred, h.last
}
