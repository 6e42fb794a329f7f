package provider

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/provider/webhookcache"
)

func (r *subscriptionResource) IdentitySchema(
	_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse,
) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"application_id": identityschema.Int64Attribute{
				OptionalForImport: true,
				Description:       "ID of the application; omitted for a subscription to updates about all applications.",
			},
			"url_sha256": identityschema.StringAttribute{
				RequiredForImport: true,
				Description:       "SHA-256 of the URL, as the function url_sha256 computes it.",
			},
		},
	}
}

// ImportState accepts the ID or the identity. Read then looks for the subscription, and fails the import if the service
// clearly does not have it. Where the response proves nothing, the import succeeds: it is the way to take a
// subscription into the state that the user knows to exist.
func (r *subscriptionResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	var identity subscriptionIdentity
	url := types.StringNull()
	if req.ID == "" {
		resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
	} else {
		identity, url = parseImportID(req.ID)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	digest := strings.ToLower(strings.TrimPrefix(identity.URLDigest.ValueString(), digestPrefix))
	if !digestPattern.MatchString(digest) || !identity.ApplicationID.IsNull() && identity.ApplicationID.ValueInt64() < 1 {
		resp.Diagnostics.AddError("Invalid import ID", "Import a webhook subscription by one of these:\n"+
			"* `APPLICATION_ID/sha256:HEX`, or `account/sha256:HEX` for updates about all applications. The function "+
			"`provider::idv::url_sha256` computes the digest of a URL.\n"+
			"* `APPLICATION_ID/URL` or `account/URL`, such as `4711/https://hooks.example.com/idv`, if the URL contains no "+
			"token.\n"+
			"* An identity with `application_id` and `url_sha256`.")
		return
	}
	identity.URLDigest = types.StringValue(digest)
	privateData{Imported: time.Now().UTC(), PlainURL: !url.IsNull()}.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, importedModel(identity, url))...)
}

// parseImportID returns an identity that is not valid if the ID is not.
func parseImportID(id string) (subscriptionIdentity, types.String) {
	scope, rest, _ := strings.Cut(id, "/")
	var identity subscriptionIdentity
	if scope != accountScope {
		applicationID, _ := strconv.ParseInt(scope, 10, 64) // 0 is not valid
		identity.ApplicationID = types.Int64Value(applicationID)
	}
	if isReceiverURL(rest) {
		identity.URLDigest = types.StringValue(webhookcache.URLDigest(rest))
		return identity, types.StringValue(rest)
	}
	if strings.HasPrefix(rest, digestPrefix) {
		identity.URLDigest = types.StringValue(rest)
	}
	return identity, types.StringNull()
}

var digestPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// setImported completes an imported subscription with what the service shows. A URL that may contain a token stays out
// of the state: the user configures it in url_wo.
func (m *subscriptionModel) setImported(webhook client.Webhook) {
	if url := webhook.URL.Reveal(); m.URL.IsNull() && isReceiverURL(url) && !receiver.MayHaveToken(url) {
		m.URL = types.StringValue(url)
	}
	m.Events = storedEvents(webhook.Events, isEventName)
}

// eventPattern matches words in one of the usual forms, such as application.completed or IN_REVIEW.
var eventPattern = regexp.MustCompile(`^([A-Za-z]+|\*)([ ._:/-]([A-Za-z]+|\*|v?\d{1,2}))*$`)

// isEventName reports whether a text is made of words as the name of an event is.
func isEventName(text string) bool { return len(text) <= 64 && eventPattern.MatchString(text) }

var _ list.ListResourceWithConfigure = (*subscriptionListResource)(nil)

// subscriptionListResource lists the subscriptions of one application for `terraform query`. The service has no list of
// all subscriptions.
type subscriptionListResource struct{ subscriptionType }

func newSubscriptionListResource() list.ListResource { return &subscriptionListResource{} }

func (l *subscriptionListResource) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the webhook subscriptions of an application, to import them. The service may return " +
			"only the newest one, and none without an application. Requires Terraform 1.14 or later.",
		Attributes: map[string]schema.Attribute{
			"application_id": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "ID of the application.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
		},
	}
}

func (l *subscriptionListResource) List(
	ctx context.Context, req list.ListRequest, stream *list.ListResultsStream,
) {
	var diags diag.Diagnostics
	var application types.Int64
	diags.Append(req.Config.GetAttribute(ctx, path.Root("application_id"), &application)...)
	webhooks := l.connection.retrieveWebhooks(ctx, application, "Cannot list the webhook subscriptions", &diags)
	if webhooks == nil {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	stream.Results = func(push func(list.ListResult) bool) {
		listed := importable(webhooks)
		// An object is the newest webhook at least, or an answer that nobody understands.
		var incomplete list.ListResult
		incomplete.Diagnostics.AddWarning("The list of webhook subscriptions may be incomplete", fmt.Sprintf(
			"For application %d, the service does not return a list that is known to be complete. It contains %d "+
				"subscriptions with a URL. There may be others.", application.ValueInt64(), len(listed)))
		if !webhooks.Complete && !push(incomplete) {
			return
		}
		for n, webhook := range listed {
			if req.Limit > 0 && int64(n) >= req.Limit || !push(newListResult(ctx, req, application, webhook)) {
				return
			}
		}
	}
}

// importable returns the last webhook of each URL that an import accepts: a URL identifies a subscription of an
// application.
func importable(webhooks *client.Webhooks) []client.Webhook {
	var listed []client.Webhook
	seen := map[string]bool{}
	for _, webhook := range slices.Backward(webhooks.Items) {
		url := webhook.URL.Reveal()
		if digest := webhookcache.URLDigest(url); isReceiverURL(url) && !seen[digest] {
			listed, seen[digest] = append(listed, webhook), true
		}
	}
	slices.Reverse(listed)
	return listed
}

func newListResult(
	ctx context.Context, req list.ListRequest, application types.Int64, webhook client.Webhook,
) list.ListResult {
	result := req.NewListResult(ctx)
	identity := subscriptionIdentity{application, types.StringValue(webhookcache.URLDigest(webhook.URL.Reveal()))}
	model := importedModel(identity, types.StringNull())
	model.setComputed()
	model.setImported(webhook)
	model.setMatches([]client.Webhook{webhook}, privateData{}, &result.Diagnostics)
	result.DisplayName = fmt.Sprintf("%d/%s", application.ValueInt64(), receiver.HostOf(webhook.URL.Reveal()))
	result.Diagnostics.Append(result.Identity.Set(ctx, identity)...)
	if req.IncludeResource {
		result.Diagnostics.Append(result.Resource.Set(ctx, &model)...)
	}
	return result
}

// UpgradeState refuses the states of version 0, which no release has written. What they store of a response has no
// place in this version, and may be a secret that the service returned only once.
func (r *subscriptionResource) UpgradeState(context.Context) map[int64]resource.StateUpgrader {
	refuse := func(_ context.Context, _ resource.UpgradeStateRequest, resp *resource.UpgradeStateResponse) {
		resp.Diagnostics.AddError("The state is that of a development version", "This version of the provider cannot read "+
			"what a development version has stored about the webhook subscription. Copy what you need of its "+
			"`response_json`.\n\nRemove the resource from the state with `state rm`, and import it: see the guide \"Import\".")
	}
	return map[int64]resource.StateUpgrader{0: {StateUpgrader: refuse}}
}
