package provider

import (
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

// maxReportMiB keeps the report, with base64, below 64 MiB: the largest message that a provider can send.
const maxReportMiB = 16

type individualReportEphemeral struct{ ephemeralResource }

type individualReportModel struct {
	IndividualID  types.Int64  `tfsdk:"individual_id"`
	ContentType   types.String `tfsdk:"content_type"`
	ContentBase64 types.String `tfsdk:"content_base64"`
}

func newIndividualReportEphemeral() ephemeral.EphemeralResource {
	return &individualReportEphemeral{ephemeralResource{typeName: "idv_individual_report"}}
}

func (e *individualReportEphemeral) Schema(
	_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: fmt.Sprintf("Downloads the report about an individual. The service has a report once the "+
			"individual has completed the checks. The report is personal data, so Terraform stores it neither in the "+
			"state nor in the plan. Every plan and every apply that needs the report downloads it again. A report "+
			"above %d MiB is an error.", maxReportMiB),
		Attributes: map[string]schema.Attribute{
			"individual_id": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "ID of the individual.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
			"content_type": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "Media type of the report, such as `application/pdf`; null if the service returns " +
					"none. The service does not document the format: an `application/json` report may contain the " +
					"document or its address.",
			},
			"content_base64": sensitiveString("Content of the report, encoded as base64. On Linux, an environment " +
				"variable of a provisioner holds at most 128 KiB; pass a larger report to a write-only argument."),
		},
	}
}

func (e *individualReportEphemeral) Open(
	ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse,
) {
	var model individualReportModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	service := e.connection.serviceClient(&resp.Diagnostics)
	if service == nil {
		return
	}
	report, err := service.IndividualReport(ctx, model.IndividualID.ValueInt64(), maxReportMiB<<20)
	if err != nil {
		resp.Diagnostics.AddError("Cannot download the report", reportErrorDetail(err))
		return
	}
	defer report.Close()
	model.ContentType = stringOrNull(report.ContentType)
	model.ContentBase64 = types.StringValue(base64.StdEncoding.EncodeToString(report.Content))
	resp.Diagnostics.Append(resp.Result.Set(ctx, model)...)
}

func reportErrorDetail(err error) string {
	switch client.KindOf(err) {
	case client.KindTooLarge:
		return fmt.Sprintf("The report is larger than %d MiB, the most that the provider can return.\n\n"+
			"Download it with another tool. The ephemeral resource idv_access_token provides the token.", maxReportMiB)
	case client.KindInvalid, client.KindNotFound, client.KindConflict, client.KindNotReady, client.KindUnreadable:
		return errorCause(err) + "\n\nThe service has a report once the individual has completed the checks. " +
			"The ephemeral resource idv_individual shows the progress."
	default:
		return errorDetail(err)
	}
}
