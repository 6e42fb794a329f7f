package provider

import (
	"context"

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

// What deletion_policy and on_existing can be, and drift_detection can say.
const (
	deletionPrevent = "PREVENT"
	deletionAbandon = "ABANDON"

	existingFail  = "fail"
	existingAdopt = "adopt"

	driftAvailable   = "available"
	driftUnavailable = "unavailable"
)

// Schema has no RequiresReplace: ModifyPlan decides about replacement, because deletion_policy has a say in it.
func (r *subscriptionResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Subscribes a URL to updates of the service about applications (mandates).\n\n" +
			"The service can neither change nor delete a subscription, and has no list of them. So a change of what was sent needs a second " +
			"subscription, while the first goes on delivering; `deletion_policy` makes sure that this happens to nobody unawares. A request " +
			"whose answer was lost is never sent again blindly: the subscription is read back where `application_id` allows it, and otherwise " +
			"the error says what may exist and what to do.",
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "`APPLICATION_ID/URL`, as for the import, or the URL alone without `application_id`. The service's own id, if it " +
					"gives one, is in `response_json` and `webhook_json`.",
				PlanModifiers: keep,
			},
			"url": schema.StringAttribute{
				Required: true,
				MarkdownDescription: "Where the service delivers to: `https`, or `http` on a loopback host. It is shown in plans and kept in the state as " +
					"it is; a token of the receiver belongs into `payload_json_wo`. A change needs a new subscription.",
				Validators: []validator.String{receiverURLRule},
			},
			"events": schema.SetAttribute{
				Optional: true, Computed: true,
				ElementType: types.StringType,
				MarkdownDescription: "The kinds of events to deliver; the service does not document which there are. Left out: what the service does " +
					"without. Order does not matter. A change needs a new subscription.",
				Validators: []validator.Set{
					setvalidator.SizeAtLeast(1),
					setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1)),
				},
			},
			"application_id": schema.Int64Attribute{
				Optional: true,
				MarkdownDescription: "The application whose updates are wanted; left out: all. Only with it can the subscription be read back, because the " +
					"service shows webhooks by application and in no other way. A change needs a new subscription.",
				Validators: []validator.Int64{int64validator.AtLeast(1)},
			},
			"payload_json": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "A JSON object with further fields of the request, merged over the ones above as RFC 7396 says: it replaces a field, " +
					"and removes it with `null`. The service does not document the fields. Kept in the state; what is secret belongs into `payload_json_wo`. A change other than of spacing or " +
					"order needs a new subscription.",
				Validators: []validator.String{jsonObjectRule},
			},
			"payload_json_wo": schema.StringAttribute{
				Optional: true, Sensitive: true, WriteOnly: true,
				MarkdownDescription: "Like `payload_json`, and merged over it, for what is secret: it is sent and never stored, neither in the plan nor in " +
					"the state, and may come from an ephemeral value. It can hold neither the URL nor the application. What the service repeats " +
					"of it is left out of `response_json` and `webhook_json`, and so is what follows in an answer with more than 200 different values. Needs Terraform or OpenTofu 1.11.",
				Validators: []validator.String{jsonObjectRule},
			},
			"payload_json_wo_version": schema.Int64Attribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Says which `payload_json_wo` it is. Another number needs a new subscription, and with the same number another " +
					"`payload_json_wo` only causes a warning. Left out, the provider notices another `payload_json_wo` itself, by a salted " +
					"and stretched digest in the private part of the state. Set it where `payload_json_wo` differs from run to run or is not " +
					"known when planning.",
				Validators: []validator.Int64{
					int64validator.AtLeast(0),
					int64validator.AlsoRequires(path.MatchRoot("payload_json_wo")),
				},
			},
			"field_names": schema.MapAttribute{
				Optional:    true,
				ElementType: types.StringType,
				MarkdownDescription: "What the service calls `url`, `events` and `application_id`, where it calls them otherwise, such as " +
					"`{ url = \"target_url\" }`. A change needs a new subscription.",
				Validators: []validator.Map{
					mapvalidator.KeysAre(stringvalidator.OneOf("url", "events", "application_id")),
					mapvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1)),
				},
			},
			"deletion_policy": schema.StringAttribute{
				Optional: true, Computed: true,
				Default: stringdefault.StaticString(deletionPrevent),
				MarkdownDescription: "What a plan may do that would leave the subscription behind, by destroying or replacing it. `PREVENT` (default): it " +
					"fails. `ABANDON`: it warns, the subscription goes from the state, and the service goes on delivering to the URL. What " +
					"counts is what was applied before: apply `ABANDON` first, and destroy or replace after that. A change sends nothing. An import cannot know it and takes `PREVENT`; plans keep quiet about another " +
					"choice for five minutes, so that they show what the import found, and bring it into the state after that.",
				Validators: []validator.String{stringvalidator.OneOf(deletionPrevent, deletionAbandon)},
			},
			"on_existing": schema.StringAttribute{
				Optional: true, Computed: true,
				Default: stringdefault.StaticString(existingFail),
				MarkdownDescription: "What to do if a subscription with the same URL and application exists already. `fail` (default): stop, and send " +
					"nothing. `adopt`: take it over, and send nothing. Without `application_id` the service cannot be asked; then `fail` " +
					"subscribes, and `adopt` takes your word that the subscription exists. A change sends nothing.",
				Validators: []validator.String{stringvalidator.OneOf(existingFail, existingAdopt)},
			},
			"response_json": schema.StringAttribute{
				Computed: true, Sensitive: true,
				MarkdownDescription: "What the service answered to the subscription, as JSON with sorted keys; null if it said nothing, and after an " +
					"adoption or an import. Data about a person is left out. A secret that the service made itself is kept, because it may " +
					"be shown this one time only.",
				PlanModifiers: keep,
			},
			"webhook_json": schema.StringAttribute{
				Computed: true, Sensitive: true,
				MarkdownDescription: "The subscription as the service shows it, as JSON with sorted keys; null as long as it could not be read back. " +
					"It lacks data about a person, and what is called a secret, a token, a password, a key or a signature.",
				PlanModifiers: keep,
			},
			"drift_detection": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "`available` if the subscription was found at the service the last time: once it is gone there, it goes from the state, " +
					"with a warning. `unavailable` if it cannot be read back, because there is no `application_id`, the answer does not tell, or the " +
					"service has never shown it; then it stays in the state. What it was sent with is not compared, because the service may " +
					"show it otherwise.",
				PlanModifiers: keep,
			},
		},
		Blocks: map[string]schema.Block{
			"timeouts": timeouts.Block(ctx, timeouts.Opts{
				Create: true, Read: true,
				CreateDescription: "How long a creation may take, as a duration such as `90s`. Default `2m`, of which a few seconds are for looking for a " +
					"subscription whose answer was lost; set it to go on looking until the time is over. Every single call is bounded by " +
					"`request_timeout` of the provider block too.",
				ReadDescription: "How long reading the subscription may take, as a duration such as `90s`. Default `2m`.",
			}),
		},
	}
}

// keep carries a computed value over when only deletion_policy or on_existing changes.
var keep = []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
