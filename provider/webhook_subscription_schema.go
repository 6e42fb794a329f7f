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
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The values of deletion_policy, on_existing and drift_detection.
const (
	deletionPrevent = "PREVENT"
	deletionAbandon = "ABANDON"

	existingFail  = "fail"
	existingAdopt = "adopt"

	driftAvailable   = "available"
	driftUnavailable = "unavailable"
)

const subscriptionDescription = "Subscribes a URL to updates about applications (mandates).\n\n" +
	"The service can neither update nor delete a subscription, and it has no list of subscriptions. Every change of " +
	"what was sent needs a second subscription, while the first one continues to deliver. By default, " +
	"`deletion_policy` prevents that.\n\n" +
	"If the response to a request is lost, the provider does not repeat the request. With `application_id`, it reads " +
	"the subscription back. Otherwise, the error says what may exist and how to continue."

// Schema sets no RequiresReplace: ModifyPlan decides about replacements, together with deletion_policy.
func (r *subscriptionResource) Schema(
	ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: subscriptionDescription,
		Attributes:          subscriptionAttributes(),
		Blocks: map[string]schema.Block{
			"timeouts": timeouts.Block(ctx, timeouts.Opts{
				Create: true, Read: true,
				CreateDescription: "Timeout of the creation, as a duration such as `90s`. It includes the pauses that the " +
					"service asks for with `Retry-After`. If the response is lost, the provider looks for the subscription: " +
					"until the end of this timeout if you set it, and for a few seconds otherwise. " +
					"`request_timeout` of the provider also limits each request. (Default: `2m`)",
				ReadDescription: "Timeout of a read, as a duration such as `90s`. (Default: `2m`)",
			}),
		},
	}
}

func subscriptionAttributes() map[string]schema.Attribute {
	attributes := requestAttributes()
	maps.Copy(attributes, policyAttributes())
	maps.Copy(attributes, computedAttributes())
	return attributes
}

// requestAttributes describe the request. A change of one that changes the request forces a new subscription.
func requestAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"url": schema.StringAttribute{
			Required: true,
			MarkdownDescription: "URL that the service delivers to. `http` is allowed on a loopback host only. " +
				"Terraform shows the URL in plans and stores it in the state, so pass a token of the receiver in " +
				"`payload_json_wo` instead. Changing this forces a new subscription.",
			Validators: []validator.String{receiverURLValidator},
		},
		"events": schema.SetAttribute{
			Optional: true, Computed: true,
			ElementType: types.StringType,
			MarkdownDescription: "Types of the events to deliver, which the service does not document. If omitted, the " +
				"service's default applies. Changing this forces a new subscription.",
			Validators: []validator.Set{
				setvalidator.SizeAtLeast(1),
				setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1)),
			},
		},
		"application_id": schema.Int64Attribute{
			Optional: true,
			MarkdownDescription: "ID of the application to deliver updates about. If omitted, the service delivers " +
				"updates about all applications. The service returns webhooks by application only, so the provider " +
				"cannot read a subscription back without this argument. Changing this forces a new subscription.",
			Validators: []validator.Int64{int64validator.AtLeast(1)},
		},
		"payload_json": schema.StringAttribute{
			Optional: true, Sensitive: true,
			MarkdownDescription: "JSON object with additional fields of the request, which the service does not document. " +
				"The provider merges it over the other arguments as RFC 7396 describes: a field replaces the field of the same " +
				"name, and `null` removes it. Terraform stores it in the state, so pass secrets in `payload_json_wo` instead. " +
				"Changing this forces a new subscription, if it changes the request.",
			Validators: []validator.String{jsonObjectValidator},
		},
		"payload_json_wo": schema.StringAttribute{
			Optional: true, Sensitive: true, WriteOnly: true,
			MarkdownDescription: "JSON object with secret fields of the request, merged over `payload_json`. It can come " +
				"from an ephemeral value, and cannot contain the URL or the application. The provider does not store its " +
				"values, even if the service returns them. Requires Terraform or OpenTofu 1.11 or later.",
			Validators: []validator.String{jsonObjectValidator},
		},
		"payload_json_wo_version": schema.Int64Attribute{
			Optional: true, Computed: true,
			MarkdownDescription: "Version of `payload_json_wo`. Changing this forces a new subscription. If " +
				"`payload_json_wo` changes without its version, the provider warns and ignores the change. If omitted, the " +
				"provider detects a change of `payload_json_wo` with a salted PBKDF2 digest in the private state. Set a " +
				"version if `payload_json_wo` differs in every run. Also set one if it is known only after apply, because " +
				"it may then need a new subscription.",
			Validators: []validator.Int64{
				int64validator.AtLeast(0),
				int64validator.AlsoRequires(path.MatchRoot("payload_json_wo")),
			},
		},
		"field_names": schema.MapAttribute{
			Optional:    true,
			ElementType: types.StringType,
			MarkdownDescription: "Names of the request fields for `url`, `events` and `application_id`, if the service " +
				"uses other names, such as `{ url = \"target_url\" }`. Changing this forces a new subscription, if it " +
				"changes the request.",
			Validators: []validator.Map{
				mapvalidator.KeysAre(stringvalidator.OneOf("url", "events", "application_id")),
				mapvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1)),
			},
		},
	}
}

// policyAttributes control the provider. A change of one sends nothing.
func policyAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"deletion_policy": schema.StringAttribute{
			Optional: true, Computed: true,
			Default: stringdefault.StaticString(deletionPrevent),
			MarkdownDescription: "Effect of a plan that destroys or replaces the subscription. With `PREVENT`, the plan " +
				"fails. With `ABANDON`, the plan warns, Terraform removes the subscription from the state, and the " +
				"service continues to deliver to the URL. The last applied value counts, so apply `ABANDON` before you " +
				"destroy or replace. After an import, the value is `PREVENT`. Changing this sends nothing. (Default: `PREVENT`)",
			Validators: []validator.String{stringvalidator.OneOf(deletionPrevent, deletionAbandon)},
		},
		"on_existing": schema.StringAttribute{
			Optional: true, Computed: true,
			Default: stringdefault.StaticString(existingFail),
			MarkdownDescription: "Action if a subscription with the same URL and application already exists. With " +
				"`fail`, the plan fails. With `adopt`, the provider adopts the subscription if its settings are as configured, " +
				"and sends nothing. If the provider cannot tell whether one exists, `fail` creates a subscription with a " +
				"warning in the plan, and `adopt` fails. Without `application_id`, the provider cannot check: `fail` creates " +
				"a subscription, and `adopt` assumes that one exists. Changing this sends nothing. (Default: `fail`)",
			Validators: []validator.String{stringvalidator.OneOf(existingFail, existingAdopt)},
		},
		"keep_response_fields": keepResponseFields,
	}
}

var keepResponseFields = schema.SetAttribute{
	Optional:    true,
	ElementType: types.StringType,
	MarkdownDescription: "Names of additional fields of the response to keep unchanged in `response_json`. Letter case, " +
		"`_` and `-` make no difference. Use this if the service returns a secret under a name that the provider does not " +
		"know. Terraform stores such a field in the state, so do not name one that may hold personal data. Changing this " +
		"sends nothing and takes effect with the next subscription.",
	Validators: []validator.Set{
		setvalidator.SizeAtLeast(1),
		setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1)),
	},
}

// computedAttributes hold what the provider learns from the service.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed: true,
			MarkdownDescription: "Import ID `APPLICATION_ID/URL`, or the URL alone without `application_id`. Terraform " +
				"prints it, so `xxxxx` replaces a segment of the path with 32 characters or more, and the user, query and " +
				"fragment of the URL are left out. The service's own ID, if it returns one, is in `response_json` and " +
				"`webhook_json`.",
			PlanModifiers: useStateForUnknown,
		},
		"response_json": schema.StringAttribute{
			Computed: true, Sensitive: true,
			MarkdownDescription: "Response of the service to the subscription, as JSON with sorted keys. It holds only the " +
				"fields that the guide [Secrets and personal data](../guides/secrets.md) lists, among them a secret that " +
				"the service generated, and those of `keep_response_fields`. Null if the response has none of them, and " +
				"after an adoption or an import.",
			PlanModifiers: useStateForUnknown,
		},
		"webhook_json": schema.StringAttribute{
			Computed: true, Sensitive: true,
			MarkdownDescription: "Subscription as the service returns it, as JSON with sorted keys. It holds the same fields " +
				"as `response_json`, but never a secret. Null until the provider has read the subscription back.",
			PlanModifiers: useStateForUnknown,
		},
		"drift_detection": schema.StringAttribute{
			Computed: true,
			MarkdownDescription: "`available` if the service returned the subscription at the last read. If two responses " +
				"of the service prove that it no longer exists, the provider removes it from the state with a warning. " +
				"`unavailable` if the subscription cannot be read back: `application_id` is not set, the response proves " +
				"nothing, or the service has never returned it. It then stays in the state. The provider does not compare " +
				"the arguments, because the service may return them in another form.",
			PlanModifiers: useStateForUnknown,
		},
	}
}

// useStateForUnknown keeps a computed value if only deletion_policy or on_existing changes.
var useStateForUnknown = []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
