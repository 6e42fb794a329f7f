package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

var _ list.ListResourceWithConfigure = (*subscriptionListResource)(nil)

// subscriptionListResource lists the subscriptions of one application for `terraform query`. The service has no list of
// all subscriptions.
type subscriptionListResource struct{ connection *connection }

type subscriptionListModel struct {
	ApplicationID types.Int64 `tfsdk:"application_id"`
}

func newSubscriptionListResource() list.ListResource { return &subscriptionListResource{} }

func (l *subscriptionListResource) Metadata(
	_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse,
) {
	resp.TypeName = "idv_webhook_subscription"
}

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

func (l *subscriptionListResource) Configure(
	_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse,
) {
	l.connection = connectionFrom(req.ProviderData, &resp.Diagnostics)
}

func (l *subscriptionListResource) List(
	ctx context.Context, req list.ListRequest, stream *list.ListResultsStream,
) {
	var diags diag.Diagnostics
	var config subscriptionListModel
	diags.Append(req.Config.Get(ctx, &config)...)
	webhooks := l.connection.retrieveWebhooks(ctx, config.ApplicationID, "Cannot list the webhook subscriptions", &diags)
	if webhooks == nil {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	stream.Results = func(push func(list.ListResult) bool) {
		listed := importable(webhooks)
		// An object is the newest webhook at least, or an answer that nobody understands.
		if !webhooks.Complete && !push(incompleteListResult(config.ApplicationID, len(listed))) {
			return
		}
		for n, webhook := range listed {
			if req.Limit > 0 && int64(n) >= req.Limit || !push(newListResult(ctx, req, config.ApplicationID, webhook)) {
				return
			}
		}
	}
}

func incompleteListResult(application types.Int64, returned int) list.ListResult {
	var result list.ListResult
	result.Diagnostics.AddWarning("The list of webhook subscriptions may be incomplete", fmt.Sprintf(
		"For application %d, the service does not return a list that is known to be complete. It contains %d "+
			"subscriptions with a URL. There may be others.", application.ValueInt64(), returned))
	return result
}

// importable returns the last webhook of each URL that an import accepts: a URL identifies a subscription of an
// application.
func importable(webhooks *client.Webhooks) []client.Webhook {
	last := map[string]int{}
	for n, webhook := range webhooks.Items {
		last[client.CanonicalURL(webhook.URL.Reveal())] = n
	}
	var listed []client.Webhook
	for n, webhook := range webhooks.Items {
		if url := webhook.URL.Reveal(); isReceiverURL(url) && last[client.CanonicalURL(url)] == n {
			listed = append(listed, webhook)
		}
	}
	return listed
}

func newListResult(
	ctx context.Context, req list.ListRequest, application types.Int64, webhook client.Webhook,
) list.ListResult {
	result := req.NewListResult(ctx)
	identity := subscriptionIdentity{application, types.StringValue(urlSHA256(webhook.URL.Reveal()))}
	model := importedModel(identity, types.StringNull())
	model.setComputed()
	model.setImported(webhook)
	model.setMatches([]client.Webhook{webhook}, privateData{}, &result.Diagnostics)
	result.DisplayName = fmt.Sprintf("%d/%s", application.ValueInt64(), hostOf(webhook.URL.Reveal()))
	result.Diagnostics.Append(result.Identity.Set(ctx, identity)...)
	if req.IncludeResource {
		result.Diagnostics.Append(result.Resource.Set(ctx, &model)...)
	}
	return result
}
