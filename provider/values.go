package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/provider/jsonvalue"
)

// convertAll returns an empty list for no items, and never null.
func convertAll[From, To any](items []From, convert func(From) To) []To {
	converted := make([]To, 0, len(items))
	for _, item := range items {
		converted = append(converted, convert(item))
	}
	return converted
}

func int64OrNull(id int64) types.Int64 {
	if id == 0 {
		return types.Int64Null()
	}
	return types.Int64Value(id)
}

func stringOrNull(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

// normalizeJSON sorts the keys and removes the spacing, so that an output made of the value does not change from run to
// run, and payloads that differ only in these are equal. Numbers keep their digits. What is not JSON becomes null.
//
// A type with semantic equality would do the same, but the framework logs both values at TRACE, even if sensitive.
func normalizeJSON(text types.String) types.String {
	value, err := jsonvalue.Decode([]byte(text.ValueString()))
	if err != nil {
		return types.StringNull()
	}
	return types.StringValue(jsonvalue.Encode(value))
}
