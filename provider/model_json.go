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
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\ufeff"))))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return types.StringNull()
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return types.StringNull()
	}
	return types.StringValue(string(bytes.TrimSpace(text.Bytes())))
}
