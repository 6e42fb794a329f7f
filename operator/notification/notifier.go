package notification

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandates,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices;clusteridentityservices,verbs=get;list;watch;patch

const (
	// writers annotate objects.
	writers = 4
	// interval is how long the last annotation of a Mandate is remembered: the cache has it then.
	interval = 10 * time.Second
	// roomInterval is how soon it is looked whether the leader has read some of the ids that a service names.
	roomInterval = time.Second
	// maxWrites is how many Mandates of a connection are annotated each second, on average.
	maxWrites = 50
	// maxRetryDelay is the longest pause before an annotation that failed is tried again, and loggedTries after how many
	// tries the log says so, again and again.
	maxRetryDelay, loggedTries = time.Minute, 10
	// writeTimeout of one try, and drainTimeout of all that are left at a shutdown.
	writeTimeout, drainTimeout = 5 * time.Second, time.Second
	// kindMandate is the kind of the objects in the queue that are no services.
	kindMandate = "Mandate"
)

// Notifier has the applications read that deliveries are about: it annotates their Mandates, or the service with ids
// that are not known, which the leader sees.
type Notifier struct {
	accounts
	index    *Index
	recent   recentDeliveries
	live     *engine.LiveMetadata
	metadata client.Writer // patches annotations
	clock    clock.WithTicker
	observe  func(result string)
	// queue has Mandates, and services that have ids to write.
	queue    workqueue.TypedRateLimitingInterface[connection.Key]
	draining atomic.Bool // nothing waits any more

	mu       sync.Mutex
	pending  map[types.NamespacedName]*hint
	limiters *lru.Cache // *rate.Limiter by connection.Key
}

// hint is that a Mandate is to be annotated. It stays for an interval after that, so that the next one waits.
type hint struct {
	last     engine.NotificationRequest // with which this process has annotated it
	read     bool                       // its application is to be read
	deferred string                     // the request of a person that it has waited for
}

func newNotifier(
	index *Index, of accounts, live client.Reader, metadata client.Writer, clock clock.WithTicker,
) *Notifier {
	n := &Notifier{
		accounts: of, index: index, live: engine.NewLiveMetadata(live), metadata: metadata, clock: clock,
		recent: recentDeliveries{clock: clock}, observe: func(string) {},
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[connection.Key](200*time.Millisecond, maxRetryDelay),
			workqueue.TypedRateLimitingQueueConfig[connection.Key]{Name: "notification", Clock: clock},
		),
		pending: map[types.NamespacedName]*hint{}, limiters: lru.New(maxCachedConnections),
	}
	index.changed = n.mandateChanged
	return n
}

// deliver finds out what a delivery is about. It does not wait.
func (n *Notifier) deliver(key connection.Key, contentType string, body []byte) {
	found := n.index.match(key, Candidates(contentType, body))
	for _, name := range found.mandates {
		n.ask(key, name)
	}
	if len(found.unknown) > 0 || len(found.mandates) == 0 && len(found.references) > 0 {
		n.recent.remember(key, found.unknown, found.references)
	}
	if len(found.unknown) > 0 {
		n.queue.Add(key)
	}
	if len(found.mandates) == 0 {
		n.observe(resultUnmatched)
		return
	}
	n.observe(resultMatched)
}

// mandateChanged looks for deliveries that came before what they are about. It must not wait: it is an event of the
// cache.
func (n *Notifier) mandateChanged(key connection.Key, name types.NamespacedName, t terms) {
	if t.application != 0 && n.recent.contains(key, t) {
		n.ask(key, name)
	}
	if t.waits {
		for _, key := range n.recent.keys() {
			n.queue.Add(key)
		}
	}
}

// ask has the application of a Mandate read. The Mandates of one connection come one after another, so that one whose
// service floods the operator does not keep those of others waiting.
func (n *Notifier) ask(key connection.Key, name types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.pending[name]
	if h == nil {
		h = &hint{}
		n.pending[name] = h
	}
	if h.read {
		return
	}
	limiter, known := n.limiters.Get(key)
	if !known {
		limiter = rate.NewLimiter(maxWrites, 2*maxWrites)
		n.limiters.Add(key, limiter)
	}
	now := n.clock.Now()
	delay := limiter.(*rate.Limiter).ReserveN(now, 1).DelayFrom(now) //nolint:forcetypeassert // it holds no other type
	h.read = true
	n.queue.AddAfter(mandateKey(name), max(delay, h.last.Wait(now)))
}

func mandateKey(name types.NamespacedName) connection.Key {
	return connection.Key{Kind: kindMandate, Namespace: name.Namespace, Name: name.Name}
}

// run annotates objects until ctx ends. What is left then is annotated at once: its sender has an answer.
func (n *Notifier) run(ctx context.Context) {
	writes, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for n.writeNext(writes) {
			}
		})
	}
	<-ctx.Done()
	defer time.AfterFunc(drainTimeout, cancel).Stop()
	n.draining.Store(true)
	n.mu.Lock()
	for name := range n.pending {
		n.queue.Add(mandateKey(name))
	}
	n.mu.Unlock()
	for _, key := range n.recent.keys() {
		n.queue.Add(key)
	}
	n.queue.ShutDown()
	writing.Wait()
}

// writeNext annotates the next object. It reports false after the shutdown.
func (n *Notifier) writeNext(ctx context.Context) bool {
	key, stopped := n.queue.Get()
	if stopped {
		return false
	}
	defer n.queue.Done(key)
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	write := n.writeUnknown
	if key.Kind == kindMandate {
		write = n.writeRequest
	}
	after, err := write(ctx, key)
	if err != nil { // it is tried until it works: its sender has an answer, and may not deliver again
		n.queue.AddRateLimited(key)
		if n.queue.NumRequeues(key)%loggedTries == 0 {
			log.FromContext(ctx).Error(apierror.Redact(err), "Failed to record what a notification names, trying again",
				"kind", key.Kind, "namespace", key.Namespace, "name", key.Name)
		}
		return true
	}
	n.queue.Forget(key)
	if after > 0 {
		n.queue.AddAfter(key, after)
	}
	return true
}

// isGone reports whether an object is deleted, or cannot be read until somebody corrects it.
func isGone(err error) bool { return apierrors.IsNotFound(err) || apierror.IsUnreadable(err) }

// writeUnknown writes ids onto a service, if somebody waits for one. Those for which there is no room follow, when the
// leader has read some.
func (n *Notifier) writeUnknown(ctx context.Context, key connection.Key) (after time.Duration, err error) {
	service, err := n.service(ctx, key)
	if err != nil || service == nil {
		return 0, err
	}
	peers, err := n.peers(ctx, service)
	if err != nil {
		return 0, err
	}
	waiting := n.index.waiting(peers, n.clock.Now().Add(-recentTTL)) // no delivery before that is remembered
	if !waiting.any {
		return 0, nil
	}
	written := engine.UnknownIDs(service)
	known := func(id int64) bool { return n.index.isKnown(id, peers) }
	ids, more := n.recent.take(key, waiting, v1alpha1.MaxCandidates-len(written), known)
	if more {
		after = roomInterval
	}
	named := slices.Clone(written)
	for _, id := range ids { // it has them already if the answer to the last write was lost
		if !slices.Contains(named, id) {
			named = append(named, id)
		}
	}
	if len(named) == len(written) {
		return after, nil
	}
	err = annotate(ctx, n.metadata, string(key.Kind), service, map[string]any{
		v1alpha1.UnknownIDsAnnotation: engine.FormatCandidates(named),
	})
	if err != nil { // they are the first ones of the next try
		n.recent.remember(key, ids, slices.Collect(maps.Keys(waiting.references)))
	}
	return after, err
}

// writeRequest annotates a Mandate, if its application is to be read.
func (n *Notifier) writeRequest(ctx context.Context, key connection.Key) (after time.Duration, err error) {
	name := key.ObjectKey()
	n.mu.Lock()
	h := n.pending[name]
	if h == nil || !h.read {
		delete(n.pending, name) // nothing has come since
		n.mu.Unlock()
		return 0, nil
	}
	due := *h
	h.read = false // what comes from here on is another one
	n.mu.Unlock()
	after, err = n.request(ctx, name, &due)
	if isGone(err) {
		due.read = false
		after, err = interval, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	h.read = h.read || due.read
	h.last, h.deferred = due.last, due.deferred
	return after, err
}

// request writes a hint to its Mandate. It says when to look at the Mandate again.
func (n *Notifier) request(ctx context.Context, name types.NamespacedName, h *hint) (time.Duration, error) {
	mandate := &v1alpha1.Mandate{}
	if err := n.cache.Get(ctx, name, mandate); err != nil {
		return 0, err
	}
	after, conflict := n.requestOf(ctx, mandate, h)
	if !apierrors.IsConflict(conflict) {
		return after, conflict
	}
	// The cache is behind, and nobody knows for how long. The metadata has all that is compared, and no personal data.
	live, err := n.live.Get(ctx, kindMandate, name)
	if err != nil || live == nil || live.UID != mandate.UID {
		return 0, cmp.Or(err, conflict)
	}
	mandate.ObjectMeta = live.ObjectMeta
	return n.requestOf(ctx, mandate, h)
}

// requestOf does so, unless the Mandate has changed: it may have a request of a person.
func (n *Notifier) requestOf(ctx context.Context, m *v1alpha1.Mandate, h *hint) (time.Duration, error) {
	now, request := n.clock.Now(), engine.ReconcileRequest(m)
	last := engine.ParseNotificationRequest(request) // of another replica, or this one
	if h.last.Time.After(last.Time) {
		last = h.last // which the cache may not have yet
	}
	if wait := last.Wait(now); wait > 0 && !n.draining.Load() {
		return wait, nil
	}
	switch {
	case m.Spec.Suspend || m.Status.Outcome != "" && m.Status.Outcome != v1alpha1.OutcomeDeleted:
		// A read of the application would change nothing.
	case !isAcknowledged(m) && h.deferred != request:
		h.deferred = request // it is not hidden, so that the status acknowledges it
		return interval, nil
	case isAcknowledged(m):
		next := last.Next(now)
		annotations := map[string]any{v1alpha1.ReconcileRequestAnnotation: next.String()}
		if err := annotate(ctx, n.metadata, kindMandate, m, annotations); err != nil {
			return 0, err
		}
		h.last = next
	default: // the application is read for that person, and after the delivery
	}
	h.read = false
	return interval, nil
}

// isAcknowledged reports whether the request of a Mandate is not that of a person who still waits for it.
func isAcknowledged(m *v1alpha1.Mandate) bool {
	request := engine.ReconcileRequest(m)
	return request == "" || engine.IsNotification(request) || request == m.Status.LastHandledReconcileAt
}

// annotate sets annotations, if the object has not changed since it was read; nil removes one.
func annotate(
	ctx context.Context, writer client.Writer, kind string, read client.Object, annotations map[string]any,
) error {
	metadata := map[string]any{"annotations": annotations, "resourceVersion": read.GetResourceVersion()}
	data, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	object := engine.MetadataOf(kind, client.ObjectKeyFromObject(read))
	return writer.Patch(ctx, object, client.RawPatch(types.MergePatchType, data))
}
