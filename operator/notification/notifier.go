package notification

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandates,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices;clusteridentityservices,verbs=get;list;watch;patch

const (
	// acknowledgeInterval is how soon it is looked whether the request of a person is acknowledged, and roomInterval
	// whether the leader has read some of the ids that a service has.
	acknowledgeInterval, roomInterval = 10 * time.Second, time.Second
	// maxWrites is how many Mandates of a connection are annotated each second, on average, by so many writers.
	maxWrites, writers = 50, 4
	// maxRetryDelay is the longest pause before an annotation that failed is tried again, and loggedTries after how many
	// tries the log says so, again and again.
	maxRetryDelay, loggedTries = time.Minute, 10
	// writeTimeout of one try, and drainTimeout of all that are left at a shutdown.
	writeTimeout, drainTimeout = 5 * time.Second, time.Second

	kindMandate = "Mandate"
)

// hint is what is to be written: that the application of a Mandate is to be read, or, without a Mandate, which ids of a
// service are not known.
type hint struct {
	service connection.Key
	mandate types.NamespacedName
}

// Notifier has the applications read that deliveries are about: it annotates their Mandates, or the service with ids
// that are not known, which the leader sees.
type Notifier struct {
	accounts
	index    *Index
	limiters perKey[connection.Key, *rate.Limiter] // of Mandates
	failures workqueue.TypedRateLimiter[hint]
	queue    workqueue.TypedDelayingInterface[hint]
	draining bool // nothing waits any more

	mu      sync.Mutex
	delayed sets.Set[hint] // those that wait for a time
}

func newNotifier(index *Index, of accounts) *Notifier {
	n := &Notifier{
		accounts: of, index: index, delayed: sets.New[hint](),
		limiters: newPerKey[connection.Key](func() *rate.Limiter { return rate.NewLimiter(maxWrites, 2*maxWrites) }),
		failures: workqueue.NewTypedItemExponentialFailureRateLimiter[hint](200*time.Millisecond, maxRetryDelay),
		queue: workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[hint]{Name: "notification"}),
	}
	index.changed = func(h hint) { n.enqueue(h, 0) }
	return n
}

// deliver finds out what a delivery is about. It does not wait.
func (n *Notifier) deliver(key connection.Key, contentType string, body []byte) (result string) {
	mandates, unknown := n.index.match(key, Candidates(contentType, body))
	if len(unknown) > 0 {
		n.enqueue(hint{service: key}, 0)
	}
	result = resultUnmatched
	for _, name := range mandates {
		result = resultMatched
		n.enqueue(hint{key, name}, 0)
	}
	return result
}

// enqueue has a hint written in some time, unless one like it waits.
func (n *Notifier) enqueue(h hint, after time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.delayed.Has(h) {
		return
	}
	if after > 0 {
		n.delayed.Insert(h)
	}
	n.queue.AddAfter(h, after)
}

// run writes hints until ctx ends. What is left then is written at once: its sender has an answer.
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
	n.queue.ShutDown()
	writing.Wait()
	n.draining = true
	n.mu.Lock() // the index goes on
	left := n.delayed.UnsortedList()
	n.mu.Unlock()
	workqueue.ParallelizeUntil(writes, writers, len(left), func(i int) { n.write(writes, left[i]) })
}

// writeNext writes the next hint. It reports false after the shutdown.
func (n *Notifier) writeNext(ctx context.Context) bool {
	h, stopped := n.queue.Get()
	if stopped {
		return false
	}
	defer n.queue.Done(h)
	n.mu.Lock()
	n.delayed.Delete(h)
	n.mu.Unlock()
	if after := n.write(ctx, h); after > 0 {
		n.enqueue(h, after)
	}
	return true
}

// write says when to write the same hint again; 0: not by itself. What fails is tried until it works: its sender has an
// answer, and may not deliver again.
func (n *Notifier) write(ctx context.Context, h hint) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	annotate := n.writeRequest
	if h.mandate.Name == "" {
		annotate = n.writeUnknown
	}
	after, err := annotate(ctx, h)
	if err == nil || isGone(err) {
		n.failures.Forget(h)
		return after
	}
	after = n.failures.When(h)
	if n.failures.NumRequeues(h)%loggedTries == 0 {
		log.FromContext(ctx).Error(apierror.Redact(err), "Failed to record what a notification names, trying again",
			"service", h.service, "mandate", h.mandate)
	}
	return after
}

// writeUnknown writes ids onto a service, if somebody waits for one. Those for which there is no room follow.
func (n *Notifier) writeUnknown(ctx context.Context, h hint) (after time.Duration, err error) {
	service, err := n.service(ctx, h.service)
	if err != nil {
		return 0, err
	}
	account, err := n.peers(ctx, service)
	if err != nil {
		return 0, err
	}
	named := engine.IDsIn(service, v1alpha1.UnknownIDsAnnotation)
	ids := n.index.toWrite(h.service, account, named)
	if most := v1alpha1.MaxCandidates - len(named); len(ids) > most {
		ids, after = ids[:most], roomInterval
	}
	if len(ids) == 0 {
		return after, nil
	}
	for _, u := range ids {
		named = append(named, u.id)
	}
	err = n.annotate(ctx, string(h.service.Kind), service, map[string]string{
		v1alpha1.UnknownIDsAnnotation: engine.FormatIDs(named),
	})
	n.index.wrote(ids, err == nil)
	return after, err
}

// writeRequest annotates a Mandate, if its application is to be read. A connection whose service floods the operator
// does not keep the Mandates of others waiting.
func (n *Notifier) writeRequest(ctx context.Context, h hint) (after time.Duration, err error) {
	m := &v1alpha1.Mandate{}
	if err := n.Reader.Get(ctx, h.mandate, m); err != nil {
		return 0, err
	}
	now, last := time.Now(), engine.ParseNotificationRequest(engine.ReconcileRequest(m)) // of any replica
	switch wait := last.Wait(now); {
	case m.Spec.Suspend || isExpired(m, now):
		return 0, nil // the application is not read
	case !isAcknowledged(m):
		return acknowledgeInterval, nil // it is not hidden, so that the status acknowledges it
	case n.draining:
	case wait > 0:
		return wait, nil
	case !n.limiters.of(h.service).Allow():
		return time.Second, nil
	}
	return 0, n.annotate(ctx, kindMandate, m, map[string]string{
		v1alpha1.ReconcileRequestAnnotation: last.Next(now).String(),
	})
}

// isExpired reports whether the service has deleted the application. Until then, what contradicts an outcome is said.
func isExpired(m *v1alpha1.Mandate, now time.Time) bool {
	outcome, expiry := m.Status.Outcome, m.Status.ExpiryTime
	return outcome == v1alpha1.OutcomeExpired || outcome != "" && expiry != nil && expiry.Time.Before(now)
}

// isAcknowledged reports whether the request of a Mandate is not that of a person who still waits for it.
func isAcknowledged(m *v1alpha1.Mandate) bool {
	request := engine.ReconcileRequest(m)
	return request == "" || engine.IsNotification(request) || request == m.Status.LastHandledReconcileAt
}
