package notification

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
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
	// acknowledgeInterval is how soon it is looked whether the request of a person is acknowledged, and roomInterval
	// whether the leader has read some of the ids that a service has.
	acknowledgeInterval, roomInterval = 10 * time.Second, time.Second
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
	metadata client.Writer // patches annotations
	observe  func(result string)
	limiters limiters // of Mandates
	// queue has Mandates, and services that have ids to write.
	queue    workqueue.TypedRateLimitingInterface[connection.Key]
	draining atomic.Bool // nothing waits any more

	mu sync.Mutex
	// pending is how often each object in the queue was asked for.
	pending map[connection.Key]int
}

func newNotifier(index *Index, of accounts, metadata client.Writer, observe func(result string)) *Notifier {
	n := &Notifier{
		accounts: of, index: index, metadata: metadata, observe: observe,
		limiters: limiters{lru.New(maxCachedConnections), maxWrites, 2 * maxWrites},
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[connection.Key](200*time.Millisecond, maxRetryDelay),
			workqueue.TypedRateLimitingQueueConfig[connection.Key]{Name: "notification"},
		),
		pending: map[connection.Key]int{},
	}
	index.named, index.awaited = n.askMandate, n.ask
	return n
}

// deliver finds out what a delivery is about. It does not wait.
func (n *Notifier) deliver(key connection.Key, contentType string, body []byte) {
	mandates, unknown := n.index.match(key, Candidates(contentType, body))
	for _, name := range mandates {
		n.askMandate(key, name)
	}
	if len(unknown) > 0 {
		n.ask([]connection.Key{key})
	}
	if len(mandates) == 0 {
		n.observe(resultUnmatched)
		return
	}
	n.observe(resultMatched)
}

// askMandate has the application of a Mandate read. The Mandates of one connection come one after another, so that one
// whose service floods the operator does not keep those of others waiting.
func (n *Notifier) askMandate(of connection.Key, name types.NamespacedName) {
	key := connection.Key{Kind: kindMandate, Namespace: name.Namespace, Name: name.Name}
	if n.isFirst(key) {
		now := time.Now()
		n.queue.AddAfter(key, n.limiters.of(of).ReserveN(now, 1).DelayFrom(now))
	}
}

// ask has ids written onto services.
func (n *Notifier) ask(services []connection.Key) {
	for _, key := range services {
		if n.isFirst(key) {
			n.queue.Add(key)
		}
	}
}

// isFirst reports whether an object is not in the queue yet.
func (n *Notifier) isFirst(key connection.Key) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending[key]++
	return n.pending[key] == 1
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
	for key := range n.pending {
		n.queue.Add(key)
	}
	n.mu.Unlock()
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
	n.mu.Lock()
	asked := n.pending[key]
	n.mu.Unlock()
	if asked == 0 { // it was written after the shutdown had queued it again
		return true
	}
	write := n.writeUnknown
	if key.Kind == kindMandate {
		write = n.writeRequest
	}
	after, err := write(ctx, key)
	if err != nil && !isGone(err) { // it is tried until it works: its sender has an answer, and may not deliver again
		n.queue.AddRateLimited(key)
		if n.queue.NumRequeues(key)%loggedTries == 0 {
			log.FromContext(ctx).Error(apierror.Redact(err), "Failed to record what a notification names, trying again",
				"kind", key.Kind, "namespace", key.Namespace, "name", key.Name)
		}
		return true
	}
	n.queue.Forget(key)
	n.mu.Lock()
	defer n.mu.Unlock()
	if after == 0 && n.pending[key] == asked { // nothing has come since
		delete(n.pending, key)
	} else {
		n.queue.AddAfter(key, after)
	}
	return true
}

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
	var account []connection.Key
	for _, peer := range peers {
		account = append(account, connection.KeyOfService(peer))
	}
	named := slices.Clone(engine.UnknownIDs(service))
	ids := n.index.toWrite(key, account, named)
	if most := v1alpha1.MaxCandidates - len(named); len(ids) > most {
		ids, after = ids[:most], roomInterval
	}
	if len(ids) == 0 {
		return after, nil
	}
	for _, u := range ids {
		named = append(named, u.id)
	}
	err = annotate(ctx, n.metadata, string(key.Kind), service, map[string]string{
		v1alpha1.UnknownIDsAnnotation: engine.FormatCandidates(named),
	})
	n.index.wrote(ids, err == nil)
	return after, err
}

// writeRequest annotates a Mandate, if its application is to be read. It says when to look at the Mandate again.
func (n *Notifier) writeRequest(ctx context.Context, key connection.Key) (after time.Duration, err error) {
	m := &v1alpha1.Mandate{}
	if err := n.cache.Get(ctx, key.ObjectKey(), m); err != nil {
		return 0, err
	}
	now, last := time.Now(), engine.ParseNotificationRequest(engine.ReconcileRequest(m)) // of any replica
	switch wait := last.Wait(now); {
	case m.Spec.Suspend || m.Status.Outcome != "" && m.Status.Outcome != v1alpha1.OutcomeDeleted:
		return 0, nil // a read of the application would change nothing
	case !isAcknowledged(m):
		return acknowledgeInterval, nil // it is not hidden, so that the status acknowledges it
	case wait > 0 && !n.draining.Load():
		return wait, nil
	}
	return 0, annotate(ctx, n.metadata, kindMandate, m, map[string]string{
		v1alpha1.ReconcileRequestAnnotation: last.Next(now).String(),
	})
}

// isAcknowledged reports whether the request of a Mandate is not that of a person who still waits for it.
func isAcknowledged(m *v1alpha1.Mandate) bool {
	request := engine.ReconcileRequest(m)
	return request == "" || engine.IsNotification(request) || request == m.Status.LastHandledReconcileAt
}

// annotate sets annotations, if the object has not changed since it was read; "" removes one. If the cache is behind,
// that is a conflict.
func annotate(
	ctx context.Context, writer client.Writer, kind string, read client.Object, annotations map[string]string,
) error {
	changed := map[string]any{}
	for name, value := range annotations {
		if changed[name] = value; value == "" {
			changed[name] = nil
		}
	}
	metadata := map[string]any{"annotations": changed, "resourceVersion": read.GetResourceVersion()}
	data, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	object := engine.MetadataOf(kind, client.ObjectKeyFromObject(read))
	return writer.Patch(ctx, object, client.RawPatch(types.MergePatchType, data))
}

// limiters has a rate limiter for each connection.
type limiters struct {
	cache *lru.Cache // *rate.Limiter by connection.Key
	most  rate.Limit
	burst int
}

func (l limiters) of(key connection.Key) *rate.Limiter {
	known, _ := l.cache.Get(key)
	limiter, ok := known.(*rate.Limiter)
	if !ok {
		limiter = rate.NewLimiter(l.most, l.burst)
		l.cache.Add(key, limiter)
	}
	return limiter
}
