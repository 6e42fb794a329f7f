package provider

import (
	"bytes"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// normalizeJSON sorts the keys and removes the spacing, so that an output made of the value does not change from run to
// run. It returns null for what is not JSON. Numbers keep their digits.
//
// A type with semantic equality would do the same, but the framework logs both values at TRACE, even if sensitive.
func normalizeJSON(raw json.RawMessage) types.String {
	value, err := decodeJSON(raw)
	if err != nil {
		return types.StringNull()
	}
	return encodeJSON(value)
}

// decodeJSON reads one value, with numbers as json.Number.
func decodeJSON(raw json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\ufeff"))))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

func encodeJSON(value any) types.String {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return types.StringNull()
	}
	return types.StringValue(string(bytes.TrimSpace(text.Bytes())))
}
