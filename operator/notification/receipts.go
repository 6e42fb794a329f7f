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
)

// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices/status;clusteridentityservices/status,verbs=patch

const (
	// receiptInterval is how often the status of a service shows that deliveries arrive, and retryReceipt when it is tried
	// again.
	receiptInterval, retryReceipt = 10 * time.Minute, time.Minute
	// maxReceipts is how many services may wait for that.
	maxReceipts = 100
)

// receipts write to the status of services when deliveries arrive. For some days after that, their applications are
// read less often.
type receipts struct {
	cache  client.Reader
	status client.SubResourceWriter
	clock  clock.PassiveClock

	next    *lru.Cache // time.Time by connection.Key: when it may be written
	waiting chan connection.Key
}

func newReceipts(cache client.Reader, status client.SubResourceWriter, clock clock.PassiveClock) *receipts {
	return &receipts{
		cache: cache, status: status, clock: clock,
		next: lru.New(rememberedTokens), waiting: make(chan connection.Key, maxReceipts),
	}
}

// record has the status of a service written, if it is time to. It does not wait.
func (r *receipts) record(key connection.Key) {
	now := r.clock.Now()
	//nolint:forcetypeassert // it holds no other type
	if next, ok := r.next.Get(key); ok && now.Before(next.(time.Time)) {
		return
	}
	r.next.Add(key, now.Add(retryReceipt))
	select {
	case r.waiting <- key:
	default: // the next delivery tries again
	}
}

func (r *receipts) run(ctx context.Context) {
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
func (r *receipts) write(ctx context.Context, key connection.Key) (next time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	service, now := key.NewService(), r.clock.Now()
	if err := r.cache.Get(ctx, key.ObjectKey(), service); err != nil {
		return next, err
	}
	if shown := service.ServiceStatus().Notifications; shown != nil && shown.LastReceivedTime != nil {
		if next = shown.LastReceivedTime.Add(receiptInterval); now.Before(next) {
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
	written := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: string(key.Kind)},
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
	}
	return now.Add(receiptInterval), r.status.Patch(ctx, written, client.RawPatch(types.MergePatchType, data))
}
