package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mandate-io/idv/provider"
)

// protocol calls the provider over the plugin protocol, for features that the CLIs of the tests lack.
type protocol struct {
	tfprotov6.ProviderServer
	schema *tfprotov6.GetProviderSchemaResponse
}

const subscriptionType = "idv_webhook_subscription"

func newProtocol(t *testing.T) protocol {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return protocol{server, schema}
}

// object encodes a value of a schema. Omitted attributes are null.
func object(t *testing.T, schema *tfprotov6.Schema, attributes map[string]tftypes.Value) *tfprotov6.DynamicValue {
	t.Helper()
	objectType := schema.ValueType().(tftypes.Object)
	values := map[string]tftypes.Value{}
	for name, attributeType := range objectType.AttributeTypes {
		values[name] = tftypes.NewValue(attributeType, nil)
		if value, ok := attributes[name]; ok {
			values[name] = value
		}
	}
	encoded, err := tfprotov6.NewDynamicValue(objectType, tftypes.NewValue(objectType, values))
	if err != nil {
		t.Fatal(err)
	}
	return &encoded
}

// attributesOfState returns the attributes of a subscription as Go values, without those that are null.
func (p protocol) attributesOfState(t *testing.T, state *tfprotov6.DynamicValue) map[string]any {
	t.Helper()
	value, err := state.Unmarshal(p.schema.ResourceSchemas[subscriptionType].ValueType())
	if err != nil {
		t.Fatal(err)
	}
	var attributes map[string]tftypes.Value
	if err := value.As(&attributes); err != nil {
		t.Fatal(err)
	}
	known := map[string]any{}
	for name, attribute := range attributes {
		if !attribute.IsNull() {
			known[name] = plainValue(t, attribute)
		}
	}
	return known
}

func plainValue(t *testing.T, value tftypes.Value) any {
	t.Helper()
	var text string
	var items []tftypes.Value
	var fields map[string]tftypes.Value
	switch {
	case value.Type().Is(tftypes.String):
		_ = value.As(&text)
		return text
	case value.Type().Is(tftypes.Number), value.Type().Is(tftypes.Bool):
		return value.String()
	case value.As(&items) == nil:
		all := []any{}
		for _, item := range items {
			all = append(all, plainValue(t, item))
		}
		return all
	case value.As(&fields) == nil:
		all := map[string]any{}
		for name, field := range fields {
			if !field.IsNull() {
				all[name] = plainValue(t, field)
			}
		}
		return all
	}
	t.Fatalf("a value of an unexpected type %s", value.Type())
	return nil
}

func noErrors(t *testing.T, err error, diagnostics []*tfprotov6.Diagnostic) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			t.Fatalf("%s: %s", d.Summary, d.Detail)
		}
	}
}
