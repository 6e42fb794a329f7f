package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// subscriptionIdentity is by what Terraform tells subscriptions apart. The service's own id is no part of it: not every
// answer has one.
type subscriptionIdentity struct {
	ApplicationID types.Int64  `tfsdk:"application_id"`
	URL           types.String `tfsdk:"url"`
}

func (r *subscriptionResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"application_id": identityschema.Int64Attribute{
				// Only subscriptions of an application can be imported, but those of none have an identity too.
				OptionalForImport: true,
				Description:       "The application whose updates are delivered. An import needs it.",
			},
			"url": identityschema.StringAttribute{
				RequiredForImport: true,
				Description:       "Where the service delivers to.",
			},
		},
	}
}
