package provider

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ImportState accepts APPLICATION_ID/URL or the identity. Read then looks for the subscription, and fails the import if
// the service clearly does not have it. Where the response proves nothing, the import succeeds: it is the way to take a
// subscription into the state that the user knows to exist.
func (r *subscriptionResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	var identity subscriptionIdentity
	if req.ID == "" {
		resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
	} else {
		identity = parseImportID(req.ID)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	if identity.ApplicationID.ValueInt64() < 1 || !isReceiverURL(identity.URL.ValueString()) {
		resp.Diagnostics.AddError("Invalid import ID",
			"Import a webhook subscription by APPLICATION_ID/URL, such as 4711/https://hooks.example.com/idv, or by an "+
				"identity with `application_id` and `url`.\n\nThe service does not return a subscription without an "+
				"application. Set `on_existing = \"adopt\"` to take such a subscription into the state.")
		return
	}
	privateData{Imported: time.Now().UTC()}.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity)...)
	imported := importedModel(identity.URL, identity.ApplicationID, types.SetNull(types.StringType))
	resp.Diagnostics.Append(resp.State.Set(ctx, imported)...)
}

func parseImportID(id string) subscriptionIdentity {
	application, url, _ := strings.Cut(id, "/")
	applicationID, err := strconv.ParseInt(application, 10, 64)
	if err != nil {
		return subscriptionIdentity{}
	}
	return subscriptionIdentity{ApplicationID: types.Int64Value(applicationID), URL: types.StringValue(url)}
}
