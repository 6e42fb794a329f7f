package provider

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/provider/jsonvalue"
)

// dataSource is what all data sources have.
type dataSource struct {
	typeName   string
	schema     schema.Schema
	connection *connection
}

func (d *dataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = d.typeName
}

func (d *dataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = d.schema
}

func (d *dataSource) Configure(
	_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse,
) {
	d.connection, _ = req.ProviderData.(*connection)
}

type referencesDataSource struct{ dataSource }

type referencesModel struct {
	MandateTypes  []referenceModel `tfsdk:"mandate_types"`
	Countries     []referenceModel `tfsdk:"countries"`
	DocumentTypes []referenceModel `tfsdk:"document_types"`
	JSON          types.String     `tfsdk:"json"`
}

func newReferencesDataSource() datasource.DataSource {
	return &referencesDataSource{dataSource{typeName: "idv_references", schema: schema.Schema{
		MarkdownDescription: "Reads the reference data of the service: mandate types, countries and document types. All " +
			"data sources of a run share one request.",
		Attributes: map[string]schema.Attribute{
			"mandate_types":  referenceListAttribute("Types of an application (mandate)"),
			"countries":      referenceListAttribute("Countries that the service knows"),
			"document_types": referenceListAttribute("Identity documents that the service accepts"),
			"json": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "The three lists as one JSON object with sorted keys, and nothing else of the " +
					"response.",
			},
		},
	}}}
}

func (d *referencesDataSource) Read(
	ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse,
) {
	references := d.connection.fetchReferences(ctx, &resp.Diagnostics)
	if references == nil {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, referencesModel{
		MandateTypes:  convertAll(references.MandateTypes, flattenReference),
		Countries:     convertAll(references.Countries, flattenReference),
		DocumentTypes: convertAll(references.DocumentTypes, flattenReference),
		JSON:          types.StringValue(encodeReferences(references)),
	})...)
}

var _ datasource.DataSourceWithConfigValidators = (*referenceDataSource)(nil)

// referenceDataSource finds one entry in one list of the reference data.
type referenceDataSource struct {
	dataSource
	singular, plural string
	entries          func(*client.References) []client.Reference
}

func newMandateTypeDataSource() datasource.DataSource {
	return newReferenceDataSource("mandate type", "mandate types",
		"ID of the mandate type, which a new application refers to.", "Code, such as `kyc`; not case-sensitive.",
		func(r *client.References) []client.Reference { return r.MandateTypes })
}

func newCountryDataSource() datasource.DataSource {
	return newReferenceDataSource("country", "countries",
		"ID of the country; null if the service returns none.", "Country code, such as `GB`; not case-sensitive.",
		func(r *client.References) []client.Reference { return r.Countries })
}

func newDocumentTypeDataSource() datasource.DataSource {
	return newReferenceDataSource("document type", "document types",
		"ID of the document type; null if the service returns none.", "Code, such as `passport`; not case-sensitive.",
		func(r *client.References) []client.Reference { return r.DocumentTypes })
}

func newReferenceDataSource(
	singular, plural, id, code string, entries func(*client.References) []client.Reference,
) datasource.DataSource {
	typeName := "idv_" + strings.ReplaceAll(singular, " ", "_")
	return &referenceDataSource{dataSource{typeName: typeName, schema: schema.Schema{
		MarkdownDescription: fmt.Sprintf("Finds one %s in the reference data by exactly one of `id`, `code` and `name`. "+
			"If no entry or more than one matches, the error lists the candidates.", singular),
		Attributes: map[string]schema.Attribute{
			"id": schema.Int64Attribute{
				Optional: true, Computed: true,
				MarkdownDescription: id,
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
			"code": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: code,
				Validators:          []validator.String{notEmpty},
			},
			"name": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Display name; not case-sensitive.",
				Validators:          []validator.String{notEmpty},
			},
			"description": nullableString("Description"),
		},
	}}, singular, plural, entries}
}

func (d *referenceDataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return []datasource.ConfigValidator{
		datasourcevalidator.ExactlyOneOf(path.MatchRoot("id"), path.MatchRoot("code"), path.MatchRoot("name")),
	}
}

func (d *referenceDataSource) Read(
	ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse,
) {
	var config referenceModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	references := d.connection.fetchReferences(ctx, &resp.Diagnostics)
	if references == nil {
		return
	}
	entries := d.entries(references)
	want := client.Reference{
		ID:   config.ID.ValueInt64(),
		Code: config.Code.ValueString(),
		Name: config.Name.ValueString(),
	}
	selector := selectorsOf(want) // of one attribute, as ConfigValidators demands
	attribute, _, _ := strings.Cut(selector, " ")
	switch matches := client.MatchReferences(entries, want); len(matches) {
	case 1:
		resp.Diagnostics.Append(resp.State.Set(ctx, flattenReference(matches[0]))...)
	case 0:
		resp.Diagnostics.AddAttributeError(path.Root(attribute), fmt.Sprintf("No matching %s", d.singular),
			fmt.Sprintf("The reference data has no %s with %s. %s", d.singular, selector, moreOf(references)+d.list(entries)))
	default:
		resp.Diagnostics.AddAttributeError(path.Root(attribute), fmt.Sprintf("Several matching %s", d.plural),
			fmt.Sprintf("The reference data has %d %s with %s. Select one by an attribute that only it has. %s",
				len(matches), d.plural, selector, d.list(matches)))
	}
}

const maxListed = 300 // more than there are countries

// list is the part of an error that shows the entries to choose from.
func (d *referenceDataSource) list(entries []client.Reference) string {
	if len(entries) == 0 {
		return fmt.Sprintf("The response lists no %s, or lists them in a form that the provider does not understand. If you "+
			"know the ID, set it without this data source.", d.plural)
	}
	var lines []string
	for _, entry := range entries[:min(len(entries), maxListed)] {
		lines = append(lines, "  "+selectorsOf(entry))
	}
	if more := len(entries) - maxListed; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return "Available:\n\n" + strings.Join(lines, "\n") + "\n\n"
}

// moreOf says that the entry may be on a page that the provider could not read.
func moreOf(references *client.References) string {
	if references.Complete {
		return ""
	}
	return "The service has more reference data than it sends in one response, and does not say how to request more. " +
		"If you know the ID, set it without this data source. "
}

// selectorsOf names an entry by every attribute that can select it.
func selectorsOf(entry client.Reference) string {
	var selectors []string
	if entry.ID != 0 {
		selectors = append(selectors, fmt.Sprintf("id %d", entry.ID))
	}
	if entry.Code != "" {
		selectors = append(selectors, fmt.Sprintf("code %q", entry.Code))
	}
	if entry.Name != "" {
		selectors = append(selectors, fmt.Sprintf("name %q", entry.Name))
	}
	if len(selectors) == 0 {
		return "an entry without id, code and name"
	}
	return strings.Join(selectors, ", ")
}

// referenceModel is one entry of the reference data. What the service does not return is null.
type referenceModel struct {
	ID          types.Int64  `tfsdk:"id"`
	Code        types.String `tfsdk:"code"`
	Name        types.String `tfsdk:"name"`
	Description types.String `tfsdk:"description"`
}

func flattenReference(reference client.Reference) referenceModel {
	return referenceModel{
		ID:          int64OrNull(reference.ID),
		Code:        stringOrNull(reference.Code),
		Name:        stringOrNull(reference.Name),
		Description: stringOrNull(reference.Description),
	}
}

// referenceJSON is a client.Reference as JSON, with sorted keys.
type referenceJSON struct {
	Code        string `json:"code,omitempty"`
	Description string `json:"description,omitempty"`
	ID          int64  `json:"id,omitempty"`
	Name        string `json:"name,omitempty"`
}

func encodeReferences(references *client.References) string {
	encode := func(r client.Reference) referenceJSON {
		return referenceJSON{Code: r.Code, Description: r.Description, ID: r.ID, Name: r.Name}
	}
	return jsonvalue.Encode(map[string][]referenceJSON{
		"mandate_types":  convertAll(references.MandateTypes, encode),
		"countries":      convertAll(references.Countries, encode),
		"document_types": convertAll(references.DocumentTypes, encode),
	})
}

func referenceListAttribute(description string) schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Computed: true,
		MarkdownDescription: description + "; empty if the service returns none, or a list that the provider does not " +
			"understand.",
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"id": schema.Int64Attribute{
				Computed: true, MarkdownDescription: "ID; null if the service returns none.",
			},
			"code":        nullableString("Code"),
			"name":        nullableString("Display name"),
			"description": nullableString("Description"),
		}},
	}
}

func nullableString(name string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: name + "; null if the service returns none."}
}

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
			"data source always returns a list, which is empty if there is no webhook. `complete` is `false` if the service " +
			"returns nothing, a single webhook or one page of a list, or if the provider does not understand the response. In " +
			"a URL, `xxxxx` replaces a segment of the path that is as long as a token.",
		Attributes: map[string]schema.Attribute{
			"application_id": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "ID of the application.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
			"webhooks": schema.ListNestedAttribute{
				Computed: true,
				MarkdownDescription: "Webhooks, in the order of the response; empty if there is none, or if the provider " +
					"does not understand the response.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"id": schema.Int64Attribute{
						Computed: true, MarkdownDescription: "ID of the webhook; null if the service returns none.",
					},
					"url": schema.StringAttribute{
						Computed:  true,
						Sensitive: true,
						MarkdownDescription: "URL that the service delivers to, without the parts that often contain a token; " +
							"null if it is no URL.",
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
				Computed:            true,
				MarkdownDescription: "Whether `webhooks` contains every webhook of the application.",
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
