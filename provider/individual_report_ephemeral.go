package provider

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*individualReportEphemeral)(nil)

// maxReportMiB keeps the answer below the largest message that a provider can send, which is 64 MiB, base64 included.
const maxReportMiB = 16

type individualReportEphemeral struct{ connection *connection }

type individualReportModel struct {
	IndividualID  types.Int64  `tfsdk:"individual_id"`
	ContentType   types.String `tfsdk:"content_type"`
	ContentBase64 types.String `tfsdk:"content_base64"`
}

func newIndividualReportEphemeral() ephemeral.EphemeralResource { return &individualReportEphemeral{} }

func (e *individualReportEphemeral) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "idv_individual_report"
}

func (e *individualReportEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: fmt.Sprintf("Downloads the report about an individual, which exists once the individual has completed the checks. It is a "+
			"person's data, so it is ephemeral: it is in no state and in no plan. It is downloaded anew in every plan and every apply that needs it. "+
			"Above %d MiB it is an error.", maxReportMiB),
		Attributes: map[string]schema.Attribute{
			"individual_id": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "Id of the individual at the service.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
			"content_type": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "What the service calls the format, such as `application/pdf`; null if it does not say. The format is not documented: " +
					"with `application/json`, the report or an address of it may be inside.",
			},
			"content_base64": sensitiveText("The report as it came, in base64. As an environment variable of a provisioner it must not exceed 128 KiB " +
				"on Linux; larger ones fit a write-only argument of a resource that stores them."),
		},
	}
}

func (e *individualReportEphemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	e.connection = connectionOf(req.ProviderData, &resp.Diagnostics)
}

func (e *individualReportEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model individualReportModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if service := e.connection.service(&resp.Diagnostics); service != nil {
		var report bytes.Buffer
		contentType, err := service.IndividualReport(ctx, model.IndividualID.ValueInt64(), &report, maxReportMiB<<20)
		if err != nil {
			resp.Diagnostics.AddError("Cannot download the report", describeReport(err))
			return
		}
		model.ContentType = textOrNull(contentType)
		model.ContentBase64 = types.StringValue(base64.StdEncoding.EncodeToString(report.Bytes()))
	}
	resp.Diagnostics.Append(resp.Result.Set(ctx, model)...)
}

func describeReport(err error) string {
	switch client.KindOf(err) {
	case client.KindTooLarge:
		return sentence(err) + fmt.Sprintf("\n\nThe report is larger than %d MiB, which is more than a provider can hand over. Download it with "+
			"another tool; the ephemeral resource idv_access_token has a token for it.", maxReportMiB)
	case client.KindInvalid, client.KindNotFound, client.KindConflict, client.KindUnreadable:
		return sentence(err) + "\n\nThere is a report only once the individual has completed the checks; the ephemeral resource idv_individual tells how " +
			"far that is."
	default:
		return describe(err)
	}
}
