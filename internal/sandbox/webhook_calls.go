package sandbox

import (
	"net/url"
	"strconv"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/delivery"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// overtaken is how long a call waits that later ones are to overtake.
const overtaken = time.Second

// deliver makes the webhook call of a notice, as the dialect has it.
func (s *Service) deliver(notice state.Notice) {
	spoken := s.dialect.Get()
	body, contentType := webhookBody(notice.Payload, spoken)
	call := delivery.Call{
		SubscriptionID: notice.SubscriptionID, URL: notice.URL, Event: notice.Event,
		ApplicationID: notice.ApplicationID, Body: body, ContentType: contentType,
	}
	switch spoken.Deliveries {
	case dialect.DeliveriesNever:
		return
	case dialect.DeliveriesTwice:
		s.queue.Enqueue(call)
	case dialect.DeliveriesOutOfOrder:
		call.OvertakenFor = overtaken
	}
	s.queue.Enqueue(call)
}

func webhookBody(p state.Payload, spoken dialect.Dialect) (body []byte, contentType string) {
	var content any = p
	reference := ""
	if p.Application.Reference != nil {
		reference = *p.Application.Reference
	}
	switch spoken.DeliveryShape {
	case dialect.DeliveryFlat:
		content = map[string]any{
			"event_type": p.Event, "occurred_at": p.Time, "mandate_id": p.Application.ID,
			"mandate_reference": reference, "mandate_status": p.Application.Status.Name,
		}
	case dialect.DeliveryWrapped:
		content = map[string]any{"type": p.Event, "data": p}
	case dialect.DeliveryStringIDs:
		spoken.IDs = dialect.IDsString
	case dialect.DeliveryList:
		content = []any{p}
	case dialect.DeliveryReferenceOnly:
		content = map[string]any{"reference": reference}
	case dialect.DeliveryForm:
		form := url.Values{
			"event": {p.Event}, "application_id": {strconv.FormatInt(p.Application.ID, 10)}, "reference": {reference},
		}
		return []byte(form.Encode()), mediaForm
	case dialect.DeliveryEmpty:
		return nil, ""
	}
	spoken.Wrap = "" // of answers; a call has its own shape
	return encode(content, spoken, false), mediaJSON
}
