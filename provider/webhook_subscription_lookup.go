package provider

import (
	"context"

	"github.com/mandate-io/idv/internal/client"
)

// lookupResult says whether the service has a subscription.
type lookupResult struct {
	status  lookupStatus
	matches []client.Webhook // with lookupFound
	reason  string           // with lookupUnknown: completes "... cannot be read back, because"
}

type lookupStatus int

const (
	lookupUnknown lookupStatus = iota // the response proves neither that it exists nor that it does not
	lookupFound
	lookupAbsent
)

// lookup asks the service for the subscription. It returns the errors of the request. A response that proves nothing is
// not an error, and never a proof of absence.
func (m subscriptionModel) lookup(
	ctx context.Context, service *client.Client, source webhookSource,
) (lookupResult, error) {
	if m.ApplicationID.IsNull() {
		return lookupResult{reason: reasonNoApplication}, nil
	}
	url, known := m.effectiveURL()
	if !known {
		return lookupResult{reason: "`payload_json` replaces the URL or the application"}, nil
	}
	response := source(ctx, service, m.ApplicationID.ValueInt64(), m.fieldName("url"))
	switch err := response.err; {
	case client.IsNotFound(err):
		return lookupResult{status: lookupAbsent}, nil
	case client.KindOf(err) == client.KindUnreadable:
		return lookupResult{reason: "the provider does not understand the response of the service"}, nil
	case err != nil:
		return lookupResult{}, err
	}
	return lookupIn(response.webhooks, url), nil
}

const reasonNoApplication = "`application_id` is not set"

func lookupIn(webhooks *client.Webhooks, url string) lookupResult {
	switch matches := webhooks.WithURL(url); {
	case len(matches) > 0:
		return lookupResult{status: lookupFound, matches: matches}
	case webhooks.Complete:
		return lookupResult{status: lookupAbsent}
	case len(webhooks.Items) > 0:
		return lookupResult{reason: "the service returns other webhooks of the application, and possibly not all"}
	default:
		return lookupResult{reason: "the response of the service contains no webhook with a URL"}
	}
}
