package provider

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/printable"
	"github.com/mandate-io/idv/provider/jsonvalue"
)

// setResponse stores what response_export_values names, and the service's ID. The format of the response is not
// documented, so anything else of it may be a secret, or personal data.
func (m *subscriptionModel) setResponse(response *client.SubscriptionResponse, diags *diag.Diagnostics) {
	sent := messageFilter{secrets: m.secrets()}
	if id := storedID(response.ID); id != 0 && !sent.repeatsSecret(strconv.FormatInt(id, 10)) {
		m.SubscriptionID = types.Int64Value(id)
	}
	value, err := jsonvalue.Decode(response.Raw.Reveal())
	if err != nil {
		value = nil
	}
	m.Pointers = pointersOf(value, sent)
	missing := m.setOutput(func(_, pointer string) attr.Value {
		exported, found := jsonvalue.At(value, pointer)
		if !found || exported == nil || sent.isRepeatedBy(exported) {
			return nil
		}
		return types.StringValue(textOf(exported))
	})
	warnNoValue(missing, "The response has no value there, or one that repeats `url_wo` or `payload_json_wo`. See "+
		"`response_pointers`.", diags)
}

// setOutput sets the output, which is null without names. It returns the names without a value.
func (m *subscriptionModel) setOutput(valueAt func(name, pointer string) attr.Value) (missing []string) {
	output := map[string]attr.Value{}
	for name, pointer := range stringsOf(m.ExportValues) {
		output[name] = valueAt(name, pointer)
		if output[name] == nil {
			output[name], missing = types.StringNull(), append(missing, name)
		}
	}
	m.Output = types.MapNull(types.StringType)
	if len(output) > 0 {
		m.Output = types.MapValueMust(types.StringType, output)
	}
	return missing
}

// planOutput keeps the values whose pointers stay the same. The service shows the response only once.
func (m *subscriptionModel) planOutput(state *subscriptionModel, diags *diag.Diagnostics) {
	switch {
	case m.ExportValues.Equal(state.ExportValues):
		m.Output = state.Output
		return
	case !isKnown(m.ExportValues):
		m.Output = types.MapUnknown(types.StringType)
		return
	}
	before, values := stringsOf(state.ExportValues), state.Output.Elements()
	missing := m.setOutput(func(name, pointer string) attr.Value {
		if before[name] != pointer {
			return nil
		}
		return values[name]
	})
	warnNoValue(missing, "The provider had the response of the service only when it created the subscription.", diags)
}

func warnNoValue(names []string, reason string, diags *diag.Diagnostics) {
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	diags.AddAttributeWarning(path.Root("response_export_values"), "The output has no value", fmt.Sprintf(
		"The value of %s is null. %s", strings.Join(names, ", "), reason))
}

// textOf returns a string as it is, and all else as JSON.
func textOf(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return jsonvalue.Encode(value)
}

// isRepeatedBy reports whether a value contains a secret, or is a part of one.
func (f messageFilter) isRepeatedBy(value any) bool {
	isPart := func(leaf string) bool {
		return len(leaf) >= printable.MinSecret &&
			slices.ContainsFunc(f.secrets, func(secret string) bool { return strings.Contains(secret, leaf) })
	}
	return f.repeatsSecret(textOf(value)) || slices.ContainsFunc(jsonvalue.Leaves(value), isPart)
}

// maxPointers limits the attribute response_pointers.
const maxPointers = 100

// pointersOf returns the pointers to the values of a response. A name that is unusual, that is also a value, or that
// repeats a secret may be personal, so it is left out with all below it.
func pointersOf(value any, sent messageFilter) types.List {
	values := jsonvalue.Leaves(value)
	pointers := jsonvalue.Pointers(value, func(name string) bool {
		return fieldName.MatchString(name) && !slices.Contains(values, name) && !sent.repeatsSecret(name)
	})
	if len(pointers) == 0 {
		return types.ListNull(types.StringType)
	}
	list, _ := types.ListValueFrom(context.Background(), types.StringType, pointers[:min(len(pointers), maxPointers)])
	return list
}

// setMatches records a subscription that the service returned. The configured attributes stay unchanged: the service
// may write them in another form than was sent, which would be a permanent difference.
func (m *subscriptionModel) setMatches(matches []client.Webhook, private privateData, diags *diag.Diagnostics) {
	m.Readable = types.BoolValue(true)
	// With payload_json_wo, whose values are not known any more, an ID that the state lacks might repeat one of them.
	if id := storedID(matches[len(matches)-1].ID); m.SubscriptionID.IsNull() && id != 0 && private.WriteOnly == nil {
		m.SubscriptionID = types.Int64Value(id)
	}
	if n := len(matches); n > 1 {
		diags.AddWarning("Duplicate webhook subscriptions", fmt.Sprintf(
			"The service has %[1]d subscriptions of application %[2]d to %[3]s and delivers each update %[1]d times. It "+
				"cannot delete a subscription.\n\nMake the receiver ignore duplicates, or ask the service's support to "+
				"remove the other subscriptions.", n, m.ApplicationID.ValueInt64(), m.receiver()))
	}
}

// storedID returns 0 for a number that may be a telephone number with the code of its country.
func storedID(id int64) int64 {
	if digits := len(strconv.FormatInt(id, 10)); id < 1 || digits > 10 && digits < 16 {
		return 0
	}
	return id
}

// storedEvents returns the events of a response; null for none, and if one of them is not valid.
func storedEvents(events []string, valid func(event string) bool) types.Set {
	if len(events) == 0 || slices.ContainsFunc(events, func(event string) bool { return !valid(event) }) {
		return types.SetNull(types.StringType)
	}
	unique := slices.Compact(slices.Sorted(slices.Values(events)))
	set, _ := types.SetValueFrom(context.Background(), types.StringType, unique)
	return set
}
