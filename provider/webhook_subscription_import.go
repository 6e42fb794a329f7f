package provider

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

func (r *subscriptionResource) IdentitySchema(
	_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse,
) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"application_id": identityschema.Int64Attribute{
				OptionalForImport: true,
				Description:       "ID of the application. Omit it for a subscription to updates about all applications.",
			},
			"url_sha256": identityschema.StringAttribute{
				RequiredForImport: true,
				Description:       "SHA-256 of the URL, as the function url_sha256 computes it.",
			},
		},
	}
}

// ImportState accepts the ID or the identity. Read then looks for the subscription, and fails the import if the service
// clearly does not have it. Where the response proves nothing, the import succeeds: it is the way to take a
// subscription into the state that the user knows to exist.
func (r *subscriptionResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	var identity subscriptionIdentity
	url := types.StringNull()
	if req.ID == "" {
		resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
	} else {
		identity, url = parseImportID(req.ID)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	digest, valid := parseDigest(identity.URLDigest.ValueString())
	if !valid || !identity.ApplicationID.IsNull() && identity.ApplicationID.ValueInt64() < 1 {
		resp.Diagnostics.AddError("Invalid import ID", "Import a webhook subscription by one of these:\n"+
			"* `APPLICATION_ID/sha256:HEX`, or `account/sha256:HEX` for updates about all applications. The function "+
			"`provider::idv::url_sha256` computes the digest of a URL.\n"+
			"* `APPLICATION_ID/URL` or `account/URL`, such as `4711/https://hooks.example.com/idv`, if the URL contains no "+
			"token.\n"+
			"* An identity with `application_id` and `url_sha256`.")
		return
	}
	identity.URLDigest = types.StringValue(digest)
	privateData{Imported: time.Now().UTC(), PlainURL: !url.IsNull()}.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, importedModel(identity, url))...)
}

// parseImportID returns an identity without a digest if the ID is not valid.
func parseImportID(id string) (subscriptionIdentity, types.String) {
	scope, rest, _ := strings.Cut(id, "/")
	var identity subscriptionIdentity
	if scope != accountScope {
		applicationID, err := strconv.ParseInt(scope, 10, 64)
		if err != nil {
			return identity, types.StringNull()
		}
		identity.ApplicationID = types.Int64Value(applicationID)
	}
	if isReceiverURL(rest) {
		identity.URLDigest = types.StringValue(urlSHA256(rest))
		return identity, types.StringValue(rest)
	}
	if strings.HasPrefix(rest, digestPrefix) {
		identity.URLDigest = types.StringValue(rest)
	}
	return identity, types.StringNull()
}

var digestPattern = regexp.MustCompile(`^(sha256:)?([0-9a-fA-F]{64})$`)

func parseDigest(text string) (string, bool) {
	match := digestPattern.FindStringSubmatch(text)
	if match == nil {
		return "", false
	}
	return strings.ToLower(match[2]), true
}

// setImported completes an imported subscription with what the service shows. A URL that may contain a token stays out
// of the state: the user configures it in url_wo.
func (m *subscriptionModel) setImported(webhook client.Webhook) {
	if url := webhook.URL.Reveal(); m.URL.IsNull() && isReceiverURL(url) && !mayHaveToken(url) {
		m.URL = types.StringValue(url)
	}
	m.Events = storedEvents(webhook.Events, isEventName)
}

// eventPattern matches words in one of the usual forms, such as application.completed or IN_REVIEW.
var eventPattern = regexp.MustCompile(`^([A-Za-z]+|\*)([ ._:/-]([A-Za-z]+|\*|v?\d{1,2}))*$`)

// isEventName reports whether a text is made of words as the name of an event is.
func isEventName(text string) bool { return len(text) <= 64 && eventPattern.MatchString(text) }
