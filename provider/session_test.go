package provider_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// session is a run of the provider for a subscription, over the plugin protocol: for many cases that would be slow on a
// CLI.
type session struct {
	*plugin
	schema *tfprotov6.Schema
}

func newSession(t *testing.T, url string) *session {
	t.Helper()
	p := newPlugin(t, url)
	return &session{p, p.schemas.ResourceSchemas[subscriptionType]}
}

// plan plans a create.
func (s *session) plan(t *testing.T, config values) *tfprotov6.PlanResourceChangeResponse {
	t.Helper()
	value := s.value(t, s.schema, config)
	planned, err := s.server.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: subscriptionType, PriorState: s.null(t), ProposedNewState: value, Config: value,
	})
	if err != nil {
		t.Fatal(err)
	}
	return planned
}

// apply applies the plan of a create.
func (s *session) apply(
	t *testing.T, config values, planned *tfprotov6.PlanResourceChangeResponse,
) *tfprotov6.ApplyResourceChangeResponse {
	t.Helper()
	applied, err := s.server.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: subscriptionType, PriorState: s.null(t), Config: s.value(t, s.schema, config),
		PlannedState: planned.PlannedState, PlannedPrivate: planned.PlannedPrivate,
	})
	if err != nil {
		t.Fatal(err)
	}
	return applied
}

func (s *session) read(
	t *testing.T, state *tfprotov6.DynamicValue, private []byte,
) *tfprotov6.ReadResourceResponse {
	t.Helper()
	read, err := s.server.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: subscriptionType, CurrentState: state, Private: private,
	})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// imported imports a subscription, and returns its state.
func (s *session) imported(t *testing.T, application int64, url string) (*tfprotov6.DynamicValue, []byte) {
	t.Helper()
	imported, err := s.server.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: subscriptionType, ID: fmt.Sprintf("%d/%s", application, url),
	})
	if err != nil || hasError(imported.Diagnostics) {
		t.Fatal(err, formatDiagnostics(imported.Diagnostics))
	}
	read := s.read(t, imported.ImportedResources[0].State, imported.ImportedResources[0].Private)
	if hasError(read.Diagnostics) || read.NewState == nil {
		t.Fatal(formatDiagnostics(read.Diagnostics))
	}
	return read.NewState, read.Private
}

func (s *session) null(t *testing.T) *tfprotov6.DynamicValue {
	t.Helper()
	objectType := s.schema.ValueType()
	null, err := tfprotov6.NewDynamicValue(objectType, tftypes.NewValue(objectType, nil))
	if err != nil {
		t.Fatal(err)
	}
	return &null
}

// attributes returns a state, nil for none.
func (s *session) attributes(t *testing.T, state *tfprotov6.DynamicValue) values {
	t.Helper()
	return goValues(t, s.schema, state)
}
