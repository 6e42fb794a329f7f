package provider

import (
	"context"

	"github.com/mandate-io/idv/internal/client"
)

// sighting is what a look at the service tells about a subscription.
type sighting struct {
	verdict verdict
	matches []client.Webhook // with verdict found
	why     string           // with verdict unclear: completes "... cannot be read back, because"
}

type verdict int

const (
	unclear verdict = iota // nothing was learned: neither that it exists nor that it does not
	found
	absent
)

// asking is how a look is made: turn.ask or turn.askAgain.
type asking func(ctx context.Context, service *client.Client, application int64, urlName string) showing

// lookUp asks the service for the subscription. Errors are those of the call; an answer that tells nothing is no error,
// and never a proof of absence.
func (m subscriptionModel) lookUp(ctx context.Context, service *client.Client, ask asking) (sighting, error) {
	if m.ApplicationID.IsNull() {
		return sighting{why: "there is no application_id"}, nil
	}
	receiver, known := m.receiver()
	if !known {
		return sighting{why: "payload_json replaces the URL or the application"}, nil
	}
	answer := ask(ctx, service, m.ApplicationID.ValueInt64(), m.fieldName("url"))
	switch err := answer.err; {
	case client.IsNotFound(err):
		return sighting{verdict: absent}, nil
	case client.KindOf(err) == client.KindUnreadable:
		return sighting{why: "the answer of the service is not understood"}, nil
	case err != nil:
		return sighting{}, err
	}
	return judge(answer.webhooks, receiver), nil
}

func judge(webhooks *client.Webhooks, receiver string) sighting {
	switch matches := webhooks.WithURL(receiver); {
	case len(matches) > 0:
		return sighting{verdict: found, matches: matches}
	case webhooks.Complete:
		return sighting{verdict: absent}
	case len(webhooks.Items) > 0:
		return sighting{why: "the service shows other webhooks of the application, and not necessarily all"}
	default:
		return sighting{why: "the service's answer holds no webhook with a URL"}
	}
}
