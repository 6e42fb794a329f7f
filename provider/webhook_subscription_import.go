package provider

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ImportState takes APPLICATION_ID/URL or the identity. Read does the rest: it looks for the subscription, and fails the
// import if the service clearly does not have it. Where that cannot be told, an import is the way to have in the state what
// somebody knows to exist.
func (r *subscriptionResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	var wanted subscriptionIdentity
	if req.ID == "" {
		resp.Diagnostics.Append(req.Identity.Get(ctx, &wanted)...)
	} else {
		wanted = parseImportID(req.ID)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	if wanted.ApplicationID.ValueInt64() < 1 || !isReceiverURL(wanted.URL.ValueString()) {
		resp.Diagnostics.AddError("Invalid import id", "A webhook subscription is imported by APPLICATION_ID/URL, such as "+
			"4711/https://hooks.example.com/idv, or by an identity with application_id and url. A subscription without an application cannot "+
			`be imported, because the service does not show it; take it over with on_existing = "adopt".`)
		return
	}
	history{Imported: time.Now().UTC()}.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, wanted)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, existingModel(wanted.URL, wanted.ApplicationID, types.SetNull(types.StringType)))...)
}

func parseImportID(id string) subscriptionIdentity {
	application, url, _ := strings.Cut(id, "/")
	applicationID, err := strconv.ParseInt(application, 10, 64)
	if err != nil {
		return subscriptionIdentity{}
	}
	return subscriptionIdentity{ApplicationID: types.Int64Value(applicationID), URL: types.StringValue(url)}
}
