package notification

import (
	"context"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices/status;clusteridentityservices/status,verbs=patch

const (
	// receivedTimeInterval is how often the status of a service shows that deliveries arrive, and receivedTimeRetry when
	// it is tried again.
	receivedTimeInterval, receivedTimeRetry = 10 * time.Minute, time.Minute
	// maxSkew is between the clocks of two replicas.
	maxSkew = 10 * time.Minute
	// maxReceivedTimes is how many services may wait for that.
	maxReceivedTimes = 100
)

// receivedTimes writes lastReceivedTime to the status of services. For some days after that, their applications are
// read less often.
type receivedTimes struct {
	cache  client.Reader
	status client.SubResourceWriter
	clock  clock.PassiveClock

	next    *lru.Cache // time.Time by connection.Key: when it may be written
	waiting chan connection.Key
}

func newReceivedTimes(cache client.Reader, status client.SubResourceWriter, clock clock.PassiveClock) *receivedTimes {
	return &receivedTimes{
		cache: cache, status: status, clock: clock,
		next: lru.New(maxCachedConnections), waiting: make(chan connection.Key, maxReceivedTimes),
	}
}

// record has the status of a service written, if it is time to. It does not wait.
func (r *receivedTimes) record(key connection.Key) {
	now := r.clock.Now()
	//nolint:forcetypeassert // it holds no other type
	if next, ok := r.next.Get(key); ok && now.Before(next.(time.Time)) {
		return
	}
	r.next.Add(key, now.Add(receivedTimeRetry))
	select {
	case r.waiting <- key:
	default: // the next delivery tries again
	}
}

func (r *receivedTimes) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case key := <-r.waiting:
			next, err := r.write(ctx, key)
			if err == nil {
				r.next.Add(key, next)
			} else if client.IgnoreNotFound(err) != nil {
				log.FromContext(ctx).Error(apierror.Redact(err), "Failed to record that notifications arrive",
					"kind", key.Kind, "namespace", key.Namespace, "name", key.Name)
			}
		}
	}
}

// write writes the status of a service, unless another replica has, and says when to write it again.
func (r *receivedTimes) write(ctx context.Context, key connection.Key) (next time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	service, now := key.NewService(), r.clock.Now()
	if err := r.cache.Get(ctx, key.ObjectKey(), service); err != nil {
		return next, err
	}
	if shown := service.ServiceStatus().Notifications; shown != nil && shown.LastReceivedTime != nil {
		// A time from the future is of a replica whose clock was fast. It is not believed.
		next = shown.LastReceivedTime.Add(receivedTimeInterval)
		if now.Before(next) && next.Sub(now) <= receivedTimeInterval+maxSkew {
			return next, nil
		}
	}
	received := metav1.NewTime(now.Truncate(time.Second))
	data, err := json.Marshal(map[string]any{"status": map[string]any{
		"notifications": v1alpha1.NotificationsStatus{LastReceivedTime: &received},
	}})
	if err != nil {
		return next, err
	}
	patched := engine.MetadataOf(string(key.Kind), key.ObjectKey())
	return now.Add(receivedTimeInterval), r.status.Patch(ctx, patched, client.RawPatch(types.MergePatchType, data))
}
