package provider

import (
	"context"
	"net/url"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/receiver"
)

type webhookDataSource struct{ dataSource }

type webhookDataModel struct {
	ApplicationID types.Int64    `tfsdk:"application_id"`
	Webhooks      []webhookModel `tfsdk:"webhooks"`
	Complete      types.Bool     `tfsdk:"complete"`
}

type webhookModel struct {
	ID     types.Int64  `tfsdk:"id"`
	URL    types.String `tfsdk:"url"`
	Events types.Set    `tfsdk:"events"`
}

func newWebhookDataSource() datasource.DataSource {
	return &webhookDataSource{dataSource{typeName: "idv_webhook", schema: schema.Schema{
		MarkdownDescription: "Reads the webhooks of an application, for debugging and monitoring. The service does not " +
			"document the format of its response: it may return one webhook, a list, or an error if there is none. The " +
			"data source always returns a list, which is empty if there is no webhook.",
		Attributes: map[string]schema.Attribute{
			"application_id": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "ID of the application.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
			"webhooks": schema.ListNestedAttribute{
				Computed: true,
				MarkdownDescription: "Webhooks, in the order of the response. Empty if there is none, or if the provider " +
					"does not understand the response; see `complete`.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"id": schema.Int64Attribute{
						Computed: true, MarkdownDescription: "ID of the webhook; null if the service returns none.",
					},
					"url": schema.StringAttribute{
						Computed:  true,
						Sensitive: true,
						MarkdownDescription: "URL that the service delivers to, without user, query and fragment. " +
							"`xxxxx` replaces a segment of the path that is as long as a token. Null if it is not an http or https URL.",
					},
					"events": schema.SetAttribute{
						Computed:    true,
						ElementType: types.StringType,
						MarkdownDescription: "Types of the events to deliver; null if the service returns none, or one that " +
							"does not look like `application.completed`.",
					},
				}},
			},
			"complete": schema.BoolAttribute{
				Computed: true,
				MarkdownDescription: "Whether `webhooks` contains every webhook of the application. It is `false` if the " +
					"service returns nothing, a single webhook or one page of a list, or if the provider does not understand " +
					"the response.",
			},
		},
	}}}
}

func (d *webhookDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model webhookDataModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	webhooks := d.connection.retrieveWebhooks(ctx, model.ApplicationID, "Cannot read the webhooks", &resp.Diagnostics)
	if webhooks == nil {
		return
	}
	model.Webhooks = convertAll(webhooks.Items, flattenWebhook)
	model.Complete = types.BoolValue(webhooks.Complete)
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
}

func flattenWebhook(webhook client.Webhook) webhookModel {
	return webhookModel{
		ID:     int64OrNull(storedID(webhook.ID)),
		URL:    stringOrNull(shownURL(webhook.URL.Reveal())),
		Events: storedEvents(webhook.Events, isCompoundEventName),
	}
}

// isCompoundEventName excludes a single word, which may be the name of a person: nobody has configured it.
func isCompoundEventName(event string) bool {
	return event == "*" || isEventName(event) && strings.ContainsAny(event, "._:/-")
}

// shownURL is a URL without the parts that often contain a token; "" for what is no URL.
func shownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return receiver.DisplayURL(text)
}
