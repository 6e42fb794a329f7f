package provider

import (
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/provider/jsonvalue"
)

// normalizeJSON sorts the keys and removes the spacing, so that an output made of the value does not change from run to
// run. It returns null for what is not JSON. Numbers keep their digits.
//
// A type with semantic equality would do the same, but the framework logs both values at TRACE, even if sensitive.
func normalizeJSON(raw json.RawMessage) types.String {
	value, err := jsonvalue.Decode(raw)
	if err != nil {
		return types.StringNull()
	}
	return encodeJSON(value)
}

func encodeJSON(value any) types.String {
	text, err := jsonvalue.Encode(value)
	if err != nil {
		return types.StringNull()
	}
	return types.StringValue(text)
}
