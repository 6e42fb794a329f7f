package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// A null in a collection is an error. The framework would otherwise read the whole collection as empty.
func TestNullElementsAreRefused(t *testing.T) {
	t.Parallel()
	s := newSession(t, newStubServer(t, nil))
	text, null := tftypes.NewValue(tftypes.String, "/x"), tftypes.NewValue(tftypes.String, nil)
	texts := map[string]tftypes.Value{"url": text, "events": null}
	for name, value := range map[string]any{
		"events": []tftypes.Value{text, null}, "response_export_values": texts,
	} {
		validated, err := s.server.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{
			TypeName: subscriptionType, Config: s.value(t, s.schema, values{"url": hookURL, name: value}),
		})
		if err != nil || !hasError(validated.Diagnostics, "null value") {
			t.Errorf("%s: want an error, got %v, %s", name, err, formatDiagnostics(validated.Diagnostics))
		}
	}
	validated, err := s.server.ValidateProviderConfig(t.Context(), &tfprotov6.ValidateProviderConfigRequest{
		Config: s.value(t, s.schemas.Provider, values{"webhook_field_names": texts}),
	})
	if err != nil || !hasError(validated.Diagnostics, "null value") {
		t.Errorf("webhook_field_names: want an error, got %v, %s", err, formatDiagnostics(validated.Diagnostics))
	}
}
