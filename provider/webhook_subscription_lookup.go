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
	answer  *answer          // nil without a request
	single  bool             // the response is one webhook, and no list
}

type lookupStatus int

const (
	lookupUnknown lookupStatus = iota // the response proves neither that it exists nor that it does not
	lookupFound
	lookupAbsent
)

// String returns the word of the guide.
func (s lookupStatus) String() string {
	return [...]string{lookupUnknown: "cannot tell", lookupFound: "present", lookupAbsent: "absent"}[s]
}

// lookup asks the service for the subscription. It returns the errors of a request without a usable response. Any other
// response is a result, also one that proves nothing.
func (m subscriptionModel) lookup(
	ctx context.Context, service *client.Client, purpose lookupPurpose, source webhookSource,
) (lookupResult, error) {
	if m.ApplicationID.IsNull() {
		return lookupResult{reason: reasonNoApplication}, nil
	}
	url, known := m.effectiveURL()
	if !known {
		return lookupResult{reason: "`payload_json` replaces the URL or the application"}, nil
	}
	response := source(ctx, service, m.ApplicationID.ValueInt64(), m.fieldName("url"))
	kind, matches := response.answerAbout(url)
	result := lookupResult{status: kind.proves[purpose], matches: matches, answer: kind}
	result.single = response.err == nil && !response.webhooks.List
	if result.status == lookupUnknown {
		result.reason = kind.reason
	}
	if kind == &answerFailure || kind.foreign && purpose == forCreate {
		return result, response.err
	}
	return result, nil
}

const reasonNoApplication = "`application_id` is not set"
