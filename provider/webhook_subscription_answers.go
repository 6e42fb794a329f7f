package provider

import (
	"errors"
	"net/http"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/provider/webhookcache"
)

const reasonNoApplication = "`application_id` is not set"

// lookupPurpose is what a lookup is for. The same response proves less where a mistake does more harm.
type lookupPurpose int

const (
	forCreate lookupPurpose = iota
	forRefresh
	forImport
)

// answer is a kind of response to retrieve webhook, whose format is not documented.
type answer struct {
	description string // for the guide
	// proves says by purpose what the answer proves about the subscription.
	proves [3]lookupStatus
	// reason completes "the subscription cannot be read back, because", where the answer proves nothing.
	reason string
	// foreign means that the answer may be that of a proxy. A create that gets it sends nothing.
	foreign bool
}

var (
	always = [3]lookupStatus{lookupFound, lookupFound, lookupFound}
	absent = [3]lookupStatus{lookupAbsent, lookupAbsent, lookupAbsent}
)

// The rows of the table in the guide "Import", which a test compares.
var (
	answerContainsIt = answer{
		description: "The subscription, alone or in a list", proves: always,
	}
	answerListWithoutIt = answer{
		description: "A complete list without the subscription, such as an empty one", proves: absent,
	}
	answerProblem = answer{
		description: "HTTP 404 or 410 with a problem body (RFC 7807) that has a title", proves: absent,
	}
	// For a create, an empty answer means that there is none: otherwise, a service that has no other way to say so would
	// never get a subscription. A refresh that believed it would take an existing one out of the state.
	answerEmpty = answer{
		description: "Nothing: HTTP 204, an empty body, `null` or `{}`",
		proves:      [3]lookupStatus{forCreate: lookupAbsent},
		reason:      "the response of the service is empty",
	}
	answerOther = answer{
		description: "Another webhook, which is not in a list",
		reason:      "the service returns another webhook of the application, and possibly not all",
	}
	answerPartOfList = answer{
		description: "A list without the subscription, with a next page, a larger count, or an entry without a URL",
		reason:      "the service returns only a part of the webhooks of the application",
	}
	answerUnclear = answer{
		description: "Other JSON, such as a message, or a webhook without a URL",
		reason:      "the response of the service contains no webhook with a URL",
	}
	answerForeignNotFound = answer{
		description: "HTTP 404 or 410 without such a body, such as a page of a proxy", foreign: true,
		reason: "the response is an HTTP 404 without the problem body of the service, so it may come from a proxy",
	}
	answerNotJSON = answer{
		description: "HTTP 2xx without JSON, such as a page of a captive portal", foreign: true,
		reason: "the response is not JSON, so it may come from a proxy",
	}
	answerRedirect = answer{
		description: "A redirect", foreign: true,
		reason: "the response is a redirect, which may come from a proxy",
	}
	answerFailure = answer{
		description: "Any other status, such as 401, 429 or 502, or no response", foreign: true,
		reason: "the request failed",
	}
)

var answers = []*answer{
	&answerContainsIt, &answerListWithoutIt, &answerProblem, &answerEmpty, &answerOther, &answerPartOfList, &answerUnclear,
	&answerForeignNotFound, &answerNotJSON, &answerRedirect, &answerFailure,
}

// answerAbout returns which answer a response is about the subscription to the URL with a digest, and the webhooks with
// that URL.
func answerAbout(r webhookcache.Response, digest string) (*answer, []client.Webhook) {
	if r.Err != nil {
		return answerOfError(r.Err), nil
	}
	switch matches := r.WithDigest(digest); {
	case len(matches) > 0:
		return &answerContainsIt, matches
	case r.Webhooks.Complete:
		return &answerListWithoutIt, nil
	case r.Webhooks.Empty:
		return &answerEmpty, nil
	case r.Webhooks.List:
		return &answerPartOfList, nil
	case len(r.Webhooks.Items) == 1:
		return &answerOther, nil
	default:
		return &answerUnclear, nil
	}
}

func answerOfError(err error) *answer {
	failure, ok := errors.AsType[*client.Error](err)
	switch {
	case client.IsNotFound(err):
		return &answerProblem
	case client.IsUnprovenNotFound(err):
		return &answerForeignNotFound
	case !ok || failure.Kind != client.KindUnreadable:
		return &answerFailure
	case failure.Status >= http.StatusMultipleChoices:
		return &answerRedirect
	default:
		return &answerNotJSON
	}
}
