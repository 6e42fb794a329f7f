package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// subscriptionIdentity identifies a subscription. The service's own ID is not part of it, because not every response
// contains one.
type subscriptionIdentity struct {
	ApplicationID types.Int64  `tfsdk:"application_id"`
	URL           types.String `tfsdk:"url"`
}

func (r *subscriptionResource) IdentitySchema(
	_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse,
) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"application_id": identityschema.Int64Attribute{
				// Only a subscription of an application can be imported, but one without an application has an identity
				// too.
				OptionalForImport: true,
				Description:       "ID of the application. Required for an import.",
			},
			"url": identityschema.StringAttribute{
				RequiredForImport: true,
				Description:       "URL that the service delivers to.",
			},
		},
	}
}
