// Package provider is the Terraform provider of the identity verification service.
//
// Webhook subscriptions are a managed resource. Data sources read reference data. Tokens and personal data are
// ephemeral resources, so they are never in a state or a plan. An operation that e-mails a person is an action.
// webhook_subscription_resource.go tells how a subscription is created, read, updated and deleted. The files beside it
// have one concern each.
package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/float64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mandate-io/idv/provider/pluginserver"
)

// Address is the source address of the provider.
const Address = "registry.terraform.io/mandate-io/idv"

var (
	_ provider.ProviderWithConfigValidators   = (*idvProvider)(nil)
	_ provider.ProviderWithValidateConfig     = (*idvProvider)(nil)
	_ provider.ProviderWithEphemeralResources = (*idvProvider)(nil)
	_ provider.ProviderWithFunctions          = (*idvProvider)(nil)
	_ provider.ProviderWithActions            = (*idvProvider)(nil)
	_ provider.ProviderWithListResources      = (*idvProvider)(nil)
)

type idvProvider struct{ version string }

// New returns the constructor that a server of the plugin protocol needs. The version is part of the user agent.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &idvProvider{version: version} }
}

// NewServer returns the constructor of a server of the plugin protocol.
func NewServer(version string) func() tfprotov6.ProviderServer {
	return func() tfprotov6.ProviderServer { return pluginserver.New(&idvProvider{version: version}) }
}

func (p *idvProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "idv"
	resp.Version = p.version
}

func (p *idvProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		newReferencesDataSource,
		newMandateTypeDataSource,
		newCountryDataSource,
		newDocumentTypeDataSource,
		newWebhookDataSource,
	}
}

func (p *idvProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newSubscriptionResource}
}

func (p *idvProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{
		newAccessTokenEphemeral,
		newApplicationEphemeral,
		newIndividualEphemeral,
		newIndividualReportEphemeral,
	}
}

func (p *idvProvider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{newMandateReferenceFunction, newNotificationURLFunction, newURLSHA256Function}
}

func (p *idvProvider) Actions(context.Context) []func() action.Action {
	return []func() action.Action{newResendInvitesAction}
}

func (p *idvProvider) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{newSubscriptionListResource}
}

// argument is an argument of the provider block that is a text.
type argument struct {
	name        string
	description string          // without a period
	preset      string          // the default, for the description
	format      formatValidator // the zero value accepts any text that is not empty
	sensitive   bool
	// credential means that a variable of the environment is for the service of the environment only.
	credential bool
	// onlyInBlock means that there is no variable of the environment.
	onlyInBlock bool
}

var arguments = []argument{
	{name: "base_url", format: baseURLValidator,
		description: "Address of the service without `/api/v1`, such as `https://idv.example.com`"},
	{name: "username", credential: true, description: "Name of a user with API permissions"},
	{name: "password", credential: true, sensitive: true, description: "Password of `username`"},
	{name: "client_id", credential: true, description: "Client ID, if the service requires one"},
	{name: "client_secret", credential: true, sensitive: true, description: "Secret of `client_id`"},
	{name: "token_authorization", format: tokenAuthorizationValidator, preset: "Auto",
		description: "`Authorization` header of the login: `Auto`, `None`, `Basic` or `UserBasic`"},
	{name: "grant_type", format: grantTypeValidator, preset: "password",
		description: "Field `grant_type` of the login: `password` or `client_credentials`"},
	{name: "ca_file", description: "Path of a PEM file with the certificate authorities to trust instead of those of " +
		"the system"},
	{name: "ca_pem", onlyInBlock: true, description: "PEM certificates of the certificate authorities to trust instead " +
		"of those of the system"},
	{name: "proxy_url", format: proxyURLValidator, sensitive: true,
		description: "Proxy for all requests, such as `http://proxy.example.com:3128`"},
	{name: "request_timeout", format: durationValidator, preset: "30s",
		description: "Timeout of one operation with its login and retries, as a duration such as `45s` or `2m`"},
}

// markdown completes the description of an argument.
func (a argument) markdown() string {
	text := a.description
	if !a.onlyInBlock {
		text += fmt.Sprintf("; also as the environment variable %#q", variableOf(a.name))
	}
	if a.preset != "" {
		return fmt.Sprintf("%s. (Default: %#q)", text, a.preset)
	}
	return text + "."
}

func (p *idvProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages webhook subscriptions of an identity verification service, and reads its " +
			"reference data.",
		Attributes: map[string]schema.Attribute{
			"max_requests_per_second": schema.Float64Attribute{
				Optional: true,
				MarkdownDescription: "Maximum number of requests per second for everything that uses this provider " +
					"block, at least 1; if omitted, only `-parallelism` and the service's `Retry-After` limit them.",
				// With less, ten concurrent operations would wait for each other longer than their timeout.
				Validators: []validator.Float64{float64validator.AtLeast(1)},
			},
			"webhook_field_names": schema.MapAttribute{
				Optional:    true,
				ElementType: types.StringType,
				MarkdownDescription: "Names of the request fields for `url`, `events` and `application_id` of a webhook " +
					"subscription, if the service uses other names, such as `{ url = \"target_url\" }`.",
				Validators: []validator.Map{
					mapvalidator.KeysAre(stringvalidator.OneOf("url", "events", "application_id")),
					mapvalidator.NoNullValues(), mapvalidator.ValueStringsAre(notEmpty),
				},
			},
		},
	}
	for _, argument := range arguments {
		var rule validator.String = notEmpty
		if argument.format.valid != nil {
			rule = argument.format
		}
		resp.Schema.Attributes[argument.name] = schema.StringAttribute{
			Optional: true, Sensitive: argument.sensitive, MarkdownDescription: argument.markdown(),
			Validators: []validator.String{rule},
		}
	}
}
