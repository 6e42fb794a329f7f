// Package provider is the Terraform provider of the identity verification service.
//
// Webhook subscriptions are a managed resource. Data sources read reference data. Tokens and personal data are
// ephemeral resources, so they are never in a state or a plan. An operation that e-mails a person is an action. Each
// has a file of its own. webhook_subscription_resource.go tells how a subscription is created, read, updated and
// deleted. The files beside it have one concern each.
package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// Address is the source address of the provider.
const Address = "registry.terraform.io/mandate-io/idv"

var (
	_ provider.ProviderWithConfigValidators   = (*idvProvider)(nil)
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
