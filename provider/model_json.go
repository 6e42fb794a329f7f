package provider

import (
	"bytes"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// normalized writes JSON the same way however the service ordered and spaced it, so that an output made of it does not
// change from run to run; null if it is not JSON. Numbers keep their digits.
//
// A type with semantic equality would do the same and more, but the framework logs both values at TRACE, sensitive or not.
func normalized(raw json.RawMessage) types.String {
	value, err := decodeJSON(raw)
	if err != nil {
		return types.StringNull()
	}
	return encodeJSON(value)
}

// decodeJSON reads one value; its numbers are json.Number.
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
