package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/provider/webhookcache"
)

// lookupResult says whether the service has a subscription.
type lookupResult struct {
	status  lookupStatus
	matches []client.Webhook // with lookupFound
	reason  string           // with lookupUnknown: completes "... cannot be read back, because"
	answer  *answer          // nil without a request
	single  bool             // the response is one webhook, and no list
	// conclusive means that a second response shows the same absence.
	conclusive bool
	// gone means that the subscription is absent, and that the service shows that its application no longer exists.
	gone bool
}

type lookupStatus int

const (
	lookupUnknown lookupStatus = iota // the response proves neither that it exists nor that it does not
	lookupFound
	lookupAbsent
)

// lookup asks the service for the subscription. It returns the errors of a request without a usable response. Any other
// response is a result, also one that proves nothing.
func (m *subscriptionModel) lookup(
	ctx context.Context, purpose lookupPurpose, source webhookcache.Source,
) (lookupResult, error) {
	if m.ApplicationID.IsNull() {
		return lookupResult{reason: reasonNoApplication}, nil
	}
	if !m.isIdentified() {
		return lookupResult{reason: "`payload_json` replaces the URL or the application"}, nil
	}
	response := source(ctx)
	kind, matches := answerAbout(response, m.urlDigest())
	result := lookupResult{status: kind.proves[purpose], matches: matches, answer: kind}
	result.single = response.Err == nil && !response.Webhooks.List
	if result.status == lookupUnknown {
		result.reason = kind.reason
	}
	if kind == &answerFailure || kind.foreign && purpose == forCreate {
		return result, response.Err
	}
	return result, nil
}

// lookup sends one request for all subscriptions of an application that are read at the same time. With twice, absence
// needs two responses.
func (r *subscriptionResource) lookup(
	ctx context.Context, state *subscriptionModel, purpose lookupPurpose, twice bool,
) (lookupResult, error) {
	timeout, _ := state.Timeouts.Read(ctx, defaultTimeout) // validated when it was configured
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	lock, ok := r.connection.acquire(ctx, state.ApplicationID)
	if !ok {
		err := context.Cause(ctx)
		return lookupResult{}, fmt.Errorf("waiting for other subscriptions of the application failed: %w", err)
	}
	defer lock.Release()
	result, err := state.lookup(ctx, purpose, lock.Get)
	if err != nil || result.status != lookupAbsent {
		return result, err
	}
	if purpose == forRefresh && lock.IsGone(ctx) {
		result.gone = true
		return result, nil
	}
	if twice {
		result, err = state.lookup(ctx, purpose, lock.GetPrevious)
		result.conclusive = err == nil && result.status == lookupAbsent
	}
	return result, err
}

// planLookup looks for an equal subscription during the plan of a create, so that the plan says what the apply will
// find. It only warns, and the apply refuses. With create_before_destroy, an apply makes the old object deposed, and
// then plans the new one like any create. An error in that plan would leave the old object deposed. After an error of
// the create itself, the CLI makes it the current one again.
func (r *subscriptionResource) planLookup(ctx context.Context, plan *subscriptionModel, diags *diag.Diagnostics) {
	if r.connection == nil || plan.ApplicationID.IsNull() || !plan.isIdentityKnown() {
		return
	}
	_, managed := r.connection.managed.Load(plan.key())
	if plan.isIdentified() && (r.connection.client == nil || managed) {
		return
	}
	lock, ok := r.connection.acquire(ctx, plan.ApplicationID)
	if !ok {
		return
	}
	defer lock.Release()
	var refused diag.Diagnostics
	result := plan.checkCreate(ctx, lock, 0, &refused)
	for _, refusal := range refused {
		diags.AddWarning(refusal.Summary(), "An apply would fail. "+refusal.Detail())
	}
	if !refused.HasError() && result.status == lookupUnknown {
		diags.AddWarning("Cannot check for an existing webhook subscription", fmt.Sprintf(
			"It is unknown whether a subscription to %s already exists, because %s. The apply creates one. If it exists, the "+
				"service then delivers each update twice.\n\nIf you know that it exists, import it instead:\n\n%s",
			plan.receiver(), result.reason, plan.importBlock()))
	}
}

// isIdentityKnown reports whether the plan knows what identifies the subscription.
func (m *subscriptionModel) isIdentityKnown() bool {
	return isKnown(m.configuredURL()) && isKnown(m.ApplicationID) && isKnown(m.PayloadJSON)
}

// checkCreate looks for equal subscriptions. It adds an error if there may not be a new one: its application is gone,
// there are more than it replaces, or the response is not that of the service.
func (m *subscriptionModel) checkCreate(
	ctx context.Context, lock *webhookcache.Lock, replaced int, diags *diag.Diagnostics,
) lookupResult {
	if m.isIdentified() && lock.IsGone(ctx) { // asked first, so that the webhooks are current when the create follows
		m.addGoneError(diags)
		return lookupResult{}
	}
	result, err := m.lookup(ctx, forCreate, lock.Get)
	if err != nil {
		m.addLookupError(result, err, diags)
	} else if len(result.matches) > replaced {
		m.addExistsError(diags)
	}
	return result
}

func (m *subscriptionModel) addLookupError(result lookupResult, err error, diags *diag.Diagnostics) {
	const summary = "Cannot look up the webhook subscription"
	if result.answer == nil || result.answer == &answerFailure {
		diags.AddError(summary, errorDetail(err))
		return
	}
	diags.AddError(summary, fmt.Sprintf(
		"It is unknown whether a subscription to %s already exists: %s. Nothing was sent.\n\nCheck `base_url`, and any "+
			"proxy or firewall in front of the service. If the service itself responds like this, see the guide "+
			"\"Import\".", m.receiver(), result.answer.reason))
}

func (m *subscriptionModel) addExistsError(diags *diag.Diagnostics) {
	about := "all applications"
	if !m.ApplicationID.IsNull() {
		about = fmt.Sprintf("application %d", m.ApplicationID.ValueInt64())
	}
	diags.AddError("The webhook subscription already exists", fmt.Sprintf(
		"The service already delivers updates about %s to %s. A second subscription would deliver each update twice. "+
			"Nothing was sent.\n\nTo manage the existing subscription, add this block and apply:\n\n%s\n"+
			"If `create_before_destroy` replaces it, it stays in the state: remove that argument, or what replaces it.",
		about, m.receiver(), m.importBlock()))
}

// importBlock is the block that imports the subscription. The provider does not know the name of the resource.
func (m *subscriptionModel) importBlock() string {
	return fmt.Sprintf("import {\n  to = idv_webhook_subscription.NAME\n  id = %q\n}\n", m.identity().importID())
}

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

// answerAbout returns which answer a response is about the subscription to the URL with a digest, and the webhooks with
// that URL.
func answerAbout(r webhookcache.Response, digest string) (*answer, []client.Webhook) {
	if r.Err != nil {
		return answerOfError(r.Err), nil
	}
	switch matches := r.ByDigest[digest]; {
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
