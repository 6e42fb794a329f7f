package provider

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ValidateConfig checks rules across attributes.
func (r *subscriptionResource) ValidateConfig(
	ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse,
) {
	var config subscriptionModel
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("field_names"), &config.FieldNames)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("payload_json_wo"), &config.WriteOnly)...)
	if resp.Diagnostics.HasError() || config.FieldNames.IsUnknown() {
		return
	}
	config.checkFieldNames(&resp.Diagnostics)
	config.checkWriteOnly(&resp.Diagnostics)
}

// checkFieldNames rejects two attributes in one field, where the second would silently replace the first.
func (m subscriptionModel) checkFieldNames(diags *diag.Diagnostics) {
	attributes := map[string]string{}
	for _, attribute := range []string{"url", "events", "application_id"} {
		name := m.fieldName(attribute)
		if other, ok := attributes[name]; ok && name != "" {
			diags.AddAttributeError(path.Root("field_names"), "Invalid field_names", fmt.Sprintf(
				"%#q and %#q have the same field name %q. Give each attribute a field name of its own.",
				other, attribute, name))
		}
		attributes[name] = attribute
	}
}

// checkWriteOnly rejects what identifies the subscription in payload_json_wo: the provider could not find the
// subscription again.
func (m subscriptionModel) checkWriteOnly(diags *diag.Diagnostics) {
	fields := jsonFields(m.WriteOnly.ValueString())
	for _, attribute := range []string{"url", "application_id"} {
		name := m.fieldName(attribute)
		if _, ok := fields[name]; ok {
			// At the resource: at the attribute, Terraform prints the line with the value.
			diags.AddError("Invalid payload_json_wo", fmt.Sprintf(
				"`payload_json_wo` contains the field %q, which identifies the subscription. The provider has to store it to "+
					"find the subscription again.\n\nSet it in %#q or `payload_json` instead.", name, attribute))
		}
	}
}

// firstWriteOnlyVersion is the version of a new subscription. One that the provider sets becomes known with the apply:
// a plan of a replacement cannot increase the old version, because the apply plans again without the old state.
func (m subscriptionModel) firstWriteOnlyVersion() types.Int64 {
	if m.WriteOnlyVersion.IsNull() && !m.WriteOnly.IsNull() {
		return types.Int64Unknown()
	}
	return m.WriteOnlyVersion
}

// defaultWriteOnlyVersion is the version of a payload_json_wo without a configured version.
const defaultWriteOnlyVersion = 1

// nextWriteOnlyVersion is the version of an existing subscription: that of the state, unless payload_json_wo changed.
func (m subscriptionModel) nextWriteOnlyVersion(
	state *subscriptionModel, private privateData, diags *diag.Diagnostics,
) types.Int64 {
	changed := private.WriteOnly.differsFrom(m.WriteOnly)
	switch {
	case !m.WriteOnlyVersion.IsNull():
		if changed && m.WriteOnlyVersion.Equal(state.WriteOnlyVersion) {
			diags.AddAttributeWarning(path.Root("payload_json_wo_version"), "The change of payload_json_wo is ignored",
				"`payload_json_wo` changed but `payload_json_wo_version` did not. Increase the version to replace the "+
					"subscription.")
		}
		return m.WriteOnlyVersion
	case m.WriteOnly.IsNull():
		return types.Int64Null()
	case changed, m.WriteOnly.IsUnknown() && private.WriteOnly != nil:
		return types.Int64Unknown() // so that it is a change, or may be one
	default:
		return types.Int64Value(max(state.WriteOnlyVersion.ValueInt64(), defaultWriteOnlyVersion))
	}
}

// writeOnlyDigest is what the provider keeps of payload_json_wo, which itself is not stored: enough to detect a change.
// It is one digest of the whole payload, because a short secret could be guessed from a digest of its own. The JSON
// names are in the states of users, so they are fixed.
type writeOnlyDigest struct {
	Salt  []byte `json:"salt"`
	Whole []byte `json:"whole"`
}

// newWriteOnlyDigest returns nil for a payload that is null, unknown or not JSON.
func newWriteOnlyDigest(payload types.String) *writeOnlyDigest {
	value, err := decodeJSON(json.RawMessage(payload.ValueString()))
	if err != nil {
		return nil
	}
	digest := &writeOnlyDigest{Salt: []byte(rand.Text())}
	digest.Whole = digest.sum(encodeJSON(value).ValueString())
	return digest
}

// pbkdf2Iterations makes it slow to guess a short secret from the digest in a state. It costs a plan a few
// milliseconds.
const pbkdf2Iterations = 20_000

func (d *writeOnlyDigest) sum(text string) []byte {
	key, err := pbkdf2.Key(sha256.New, text, d.Salt, pbkdf2Iterations, sha256.Size)
	if err != nil {
		return nil // only with parameters that no standard allows
	}
	return key
}

// differsFrom reports whether the payload is not the one of the digest. A payload that is not known yet does not
// differ.
func (d *writeOnlyDigest) differsFrom(payload types.String) bool {
	if d == nil || payload.IsNull() || payload.IsUnknown() {
		return false
	}
	return !hmac.Equal(d.sum(canonicalPayload(payload).ValueString()), d.Whole)
}

// minScalarLength excludes what is so short that any response may contain it by chance.
const minScalarLength = 4

// scalarsOf returns the strings and numbers in a value that are long enough to be compared.
func scalarsOf(value any) []string {
	scalars := slices.DeleteFunc(leavesOf(value), func(leaf string) bool { return len(leaf) < minScalarLength })
	slices.Sort(scalars)
	return slices.Compact(scalars)
}
