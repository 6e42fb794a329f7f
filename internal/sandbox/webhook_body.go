package sandbox

import (
	"net/url"
	"strconv"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// webhookBody is the body of a delivery in the shape of the dialect.
func webhookBody(about []state.Notification, d dialect.Dialect) (body []byte, contentType string) {
	p := about[0].Payload
	reference := ""
	if p.Application.Reference != nil {
		reference = *p.Application.Reference
	}
	switch d.DeliveryShape {
	case dialect.DeliveryForm:
		form := url.Values{
			"event": {p.Event}, "reference": {reference},
			"application_id": {strconv.FormatInt(p.Application.ID, 10)},
		}
		return []byte(form.Encode()), mediaForm
	case dialect.DeliveryEmpty:
		return nil, ""
	case dialect.DeliveryStringIDs:
		d.IDs = dialect.IDsString
	}
	d.Wrap = "" // applies to responses; a delivery has its own shape
	return encodeBody(webhookContent(about, reference, d.DeliveryShape), d, false), mediaJSON
}

// webhookContent is the content of a delivery of JSON.
func webhookContent(about []state.Notification, reference, shape string) any {
	p, individual := about[0].Payload, about[0].Individual
	switch shape {
	case dialect.DeliveryFlat:
		return map[string]any{
			"event_type": p.Event, "occurred_at": p.Time, "mandate_id": p.Application.ID,
			"mandate_reference": reference, "mandate_status": p.Application.Status.Name,
		}
	case dialect.DeliveryWrapped:
		return map[string]any{"type": p.Event, "data": p}
	case dialect.DeliveryList:
		return []any{p}
	case dialect.DeliveryBatch:
		events := []any{}
		for _, notification := range about {
			events = append(events, notification.Payload)
		}
		return map[string]any{"events": events}
	case dialect.DeliveryThin:
		return map[string]any{"id": p.Application.ID, "event": p.Event}
	case dialect.DeliveryIndividualOnly:
		return map[string]any{"individual_id": individual.ID, "individual_reference": individual.Reference}
	case dialect.DeliveryReferenceOnly:
		return map[string]any{"reference": reference}
	default:
		return p
	}
}
