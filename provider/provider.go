// Package provider is the Terraform provider of the identity verification service.
//
// What a thing is decides what it becomes: webhook subscriptions are a managed resource, reference data is read by data
// sources, tokens and personal data are ephemeral and never in a state or a plan, and what e-mails a person is an action.
// Each kind has a file of its own, and so have the concerns of the larger ones: schema, model, request, response, plan.
package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// Address is where registries have the provider.
const Address = "registry.terraform.io/mandate-io/idv"

var (
	_ provider.ProviderWithConfigValidators   = (*idvProvider)(nil)
	_ provider.ProviderWithEphemeralResources = (*idvProvider)(nil)
	_ provider.ProviderWithFunctions          = (*idvProvider)(nil)
	_ provider.ProviderWithActions            = (*idvProvider)(nil)
)

type idvProvider struct{ version string }

// New gives the constructor that servers of the plugin protocol ask for. The version is part of the user agent.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &idvProvider{version: version} }
}

func (p *idvProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "idv", p.version
}

func (p *idvProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		newReferencesDataSource, newMandateTypeDataSource, newCountryDataSource, newDocumentTypeDataSource, newWebhookDataSource,
	}
}

func (p *idvProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newSubscriptionResource}
}

func (p *idvProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{
		newAccessTokenEphemeral, newApplicationEphemeral, newIndividualEphemeral, newIndividualReportEphemeral,
	}
}

func (p *idvProvider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{newMandateReferenceFunction}
}

func (p *idvProvider) Actions(context.Context) []func() action.Action {
	return []func() action.Action{newResendInvitesAction}
}
