package sandbox

import (
	"time"

	"github.com/mandate-io/idv/internal/sandbox/delivery"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

const (
	// lateDelay is how late a delivery is.
	lateDelay = 2 * time.Second
	// reorderDelay is how long a delivery waits so that later ones come first.
	reorderDelay = time.Second
	// batchDelay is how long the events of a batch are collected.
	batchDelay = 500 * time.Millisecond
)

// deliver sends a notification as the dialect says.
func (a *account) deliver(notification state.Notification) {
	d := a.dialect.Get()
	if d.DeliveryShape == dialect.DeliveryBatch {
		a.batches.add(notification, func(batch []state.Notification) { a.enqueue(d, batch...) })
		return
	}
	a.enqueue(d, notification)
}

// enqueue sends one delivery about notifications of one subscription.
func (a *account) enqueue(d dialect.Dialect, about ...state.Notification) {
	first := about[0]
	body, contentType := webhookBody(about, d)
	webhook := delivery.Request{
		SubscriptionID: first.SubscriptionID, URL: first.URL, Event: first.Event,
		ApplicationID: first.ApplicationID, Body: body, ContentType: contentType,
	}
	if d.DeliveredStatus == dialect.DeliveredOnly200 {
		webhook.Only200 = true
		webhook.Failed = func() { a.data.Disable(first.SubscriptionID) }
	}
	switch d.Deliveries {
	case dialect.DeliveriesNever:
		return
	case dialect.DeliveriesTwice:
		a.queue.Enqueue(webhook)
	case dialect.DeliveriesLate:
		webhook.Delay = lateDelay
	case dialect.DeliveriesOutOfOrder:
		if a.reordered.Add(1)%2 == 1 {
			webhook.Delay = reorderDelay
		}
	}
	a.queue.Enqueue(webhook)
}
