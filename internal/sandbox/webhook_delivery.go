package sandbox

import (
	"net/url"
	"strconv"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/delivery"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// reorderDelay is how long a delivery waits so that later ones come first.
const reorderDelay = time.Second

// deliver sends a notification as the dialect says.
func (s *Service) deliver(notification state.Notification) {
	d := s.dialect.Get()
	body, contentType := webhookBody(notification.Payload, d)
	webhook := delivery.Request{
		SubscriptionID: notification.SubscriptionID, URL: notification.URL, Event: notification.Event,
		ApplicationID: notification.ApplicationID, Body: body, ContentType: contentType,
	}
	switch d.Deliveries {
	case dialect.DeliveriesNever:
		return
	case dialect.DeliveriesTwice:
		s.queue.Enqueue(webhook)
	case dialect.DeliveriesOutOfOrder:
		webhook.ReorderDelay = reorderDelay
	}
	s.queue.Enqueue(webhook)
}

func webhookBody(p state.Payload, d dialect.Dialect) (body []byte, contentType string) {
	var content any = p
	reference := ""
	if p.Application.Reference != nil {
		reference = *p.Application.Reference
	}
	switch d.DeliveryShape {
	case dialect.DeliveryFlat:
		content = map[string]any{
			"event_type": p.Event, "occurred_at": p.Time, "mandate_id": p.Application.ID,
			"mandate_reference": reference, "mandate_status": p.Application.Status.Name,
		}
	case dialect.DeliveryWrapped:
		content = map[string]any{"type": p.Event, "data": p}
	case dialect.DeliveryStringIDs:
		d.IDs = dialect.IDsString
	case dialect.DeliveryList:
		content = []any{p}
	case dialect.DeliveryReferenceOnly:
		content = map[string]any{"reference": reference}
	case dialect.DeliveryForm:
		form := url.Values{
			"event": {p.Event}, "reference": {reference},
			"application_id": {strconv.FormatInt(p.Application.ID, 10)},
		}
		return []byte(form.Encode()), mediaForm
	case dialect.DeliveryEmpty:
		return nil, ""
	}
	d.Wrap = "" // applies to responses; a delivery has its own shape
	return encodeBody(content, d, false), mediaJSON
}
