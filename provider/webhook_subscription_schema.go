package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The values of deletion_policy.
const (
	deletionPrevent = "PREVENT"
	deletionAbandon = "ABANDON"
)

const subscriptionDescription = "Subscribes a URL to updates about applications (mandates).\n\n" +
	"The service can neither update nor delete a subscription, and it has no list of subscriptions. A change of the " +
	"request needs a second subscription, while the first one continues to deliver. By default, `deletion_policy` " +
	"prevents that.\n\n" +
	"If the response to a request is lost, the provider does not repeat the request. With `application_id`, it reads " +
	"the subscription back. What it cannot read back stays in the state with a warning."

// Schema sets no RequiresReplace: ModifyPlan decides about replacements, together with deletion_policy.
func (r *subscriptionResource) Schema(
	ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse,
) {
	attributes := requestAttributes()
	maps.Copy(attributes, policyAttributes())
	maps.Copy(attributes, computedAttributes())
	resp.Schema = schema.Schema{
		Version:             1,
		MarkdownDescription: subscriptionDescription,
		Attributes:          attributes,
		Blocks: map[string]schema.Block{
			"timeouts": timeouts.Block(ctx, timeouts.Opts{
				Create: true, Read: true,
				CreateDescription: "Timeout of the creation with the pauses that the service asks for, and of the " +
					"search after a lost response, as a duration such as `90s`. (Default: `2m`)",
				ReadDescription: "Timeout of a read, as a duration such as `90s`. (Default: `2m`)",
			}),
		},
	}
}

// requestAttributes describe the request. A change of one that changes the request forces a new subscription.
func requestAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"url": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "URL that the service delivers to, unless `url_wo` has it.",
			Validators:          []validator.String{receiverURLValidator},
		},
		"url_wo": schema.StringAttribute{
			Optional: true, Sensitive: true, WriteOnly: true,
			MarkdownDescription: "URL that the service delivers to, if it contains a token of the receiver.",
			Validators:          []validator.String{receiverURLWriteOnlyValidator},
		},
		"url_wo_version": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Version of `url_wo`, which says whether it changed.",
			Validators:          versionOf("url_wo"),
		},
		"events": schema.SetAttribute{
			Optional: true, Computed: true,
			ElementType:         types.StringType,
			MarkdownDescription: "Types of the events to deliver; the service's default if omitted.",
			Validators: []validator.Set{
				setvalidator.NoNullValues(), setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(notEmpty),
			},
		},
		"application_id": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "ID of the application to deliver updates about; all applications if omitted.",
			Validators:          []validator.Int64{int64validator.AtLeast(1)},
		},
		"payload_json": schema.StringAttribute{
			Optional: true, Sensitive: true,
			MarkdownDescription: "JSON object with further fields of the request, merged over the other arguments " +
				"(RFC 7396).",
			Validators: []validator.String{jsonObjectValidator},
		},
		"payload_json_wo": schema.StringAttribute{
			Optional: true, Sensitive: true, WriteOnly: true,
			MarkdownDescription: "JSON object with secret fields of the request, merged over `payload_json`.",
			Validators:          []validator.String{jsonObjectValidator},
		},
		"payload_json_wo_version": schema.Int64Attribute{
			Optional: true, Computed: true,
			MarkdownDescription: "Version of `payload_json_wo`, which says whether it changed.",
			Validators:          versionOf("payload_json_wo"),
		},
	}
}

// versionOf are the rules for the version of a write-only argument.
func versionOf(writeOnly string) []validator.Int64 {
	return []validator.Int64{int64validator.AtLeast(0), int64validator.AlsoRequires(path.MatchRoot(writeOnly))}
}

// policyAttributes control the provider. A change of one sends nothing.
func policyAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"deletion_policy": schema.StringAttribute{
			Optional: true, Computed: true,
			Default: stringdefault.StaticString(deletionPrevent),
			MarkdownDescription: "Effect of a plan that destroys or replaces the subscription: `PREVENT` fails, and " +
				"`ABANDON` warns. (Default: `PREVENT`)",
			Validators: []validator.String{stringvalidator.OneOf(deletionPrevent, deletionAbandon)},
		},
		"response_export_values": schema.MapAttribute{
			Optional:    true,
			ElementType: types.StringType,
			MarkdownDescription: "What to keep of the response as `output`, as JSON pointers (RFC 6901) by name, " +
				"such as `{ secret = \"/signing/secret\" }`.",
			Validators: []validator.Map{
				mapvalidator.NoNullValues(), mapvalidator.SizeAtLeast(1), mapvalidator.ValueStringsAre(jsonPointerValidator),
			},
		},
	}
}

// computedAttributes hold what the provider learns from the service.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed: true,
			MarkdownDescription: "Import ID: `APPLICATION_ID/sha256:HEX`, or `account/sha256:HEX` without " +
				"`application_id`.",
		},
		"subscription_id": schema.Int64Attribute{
			Computed:            true,
			MarkdownDescription: "The service's own ID of the subscription; null if it shows none.",
		},
		"readable": schema.BoolAttribute{
			Computed:            true,
			MarkdownDescription: "Whether the service returned the subscription at the last read.",
		},
		"response_pointers": schema.ListAttribute{
			Computed:    true,
			ElementType: types.StringType,
			MarkdownDescription: "JSON pointers to the values of the response, without the values; null after an " +
				"import.",
		},
		"output": schema.MapAttribute{
			Computed: true, Sensitive: true,
			ElementType:         types.StringType,
			MarkdownDescription: "Values that `response_export_values` names, as text or as JSON.",
		},
	}
}
