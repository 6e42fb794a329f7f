package sandbox

import (
	"sync"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/state"
)

// batches collect the notifications of each subscription for a while. The zero value is empty.
type batches struct {
	mu      sync.Mutex
	waiting map[int64][]state.Notification // by the id of the subscription
}

// add collects a notification. The first one of a batch decides how the batch is sent.
func (b *batches) add(notification state.Notification, send func([]state.Notification)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == nil {
		b.waiting = map[int64][]state.Notification{}
	}
	id := notification.SubscriptionID
	b.waiting[id] = append(b.waiting[id], notification)
	if len(b.waiting[id]) == 1 {
		time.AfterFunc(batchDelay, func() { send(b.take(id)) })
	}
}

// take ends a batch and returns it.
func (b *batches) take(id int64) []state.Notification {
	b.mu.Lock()
	defer b.mu.Unlock()
	batch := b.waiting[id]
	delete(b.waiting, id)
	return batch
}
