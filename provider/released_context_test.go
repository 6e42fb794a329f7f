package provider

import (
	"context"
	"runtime"
	"testing"
	"weak"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// The requests that a run makes for each resource hold nothing when they are answered.
func TestContextsOfCallsAreReleased(t *testing.T) {
	const name = "idv_webhook_subscription"
	s := NewServer("test")()
	for method, run := range map[string]func(context.Context) error{
		"ValidateResourceConfig": func(ctx context.Context) error {
			_, err := s.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: name})
			return err
		},
		"UpgradeResourceState": func(ctx context.Context) error {
			_, err := s.UpgradeResourceState(ctx, &tfprotov6.UpgradeResourceStateRequest{TypeName: name})
			return err
		},
		"UpgradeResourceIdentity": func(ctx context.Context) error {
			_, err := s.UpgradeResourceIdentity(ctx, &tfprotov6.UpgradeResourceIdentityRequest{TypeName: name})
			return err
		},
		"ReadResource": func(ctx context.Context) error {
			_, err := s.ReadResource(ctx, &tfprotov6.ReadResourceRequest{TypeName: name})
			return err
		},
		"PlanResourceChange": func(ctx context.Context) error {
			_, err := s.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{TypeName: name})
			return err
		},
		"ApplyResourceChange": func(ctx context.Context) error {
			_, err := s.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{TypeName: name})
			return err
		},
		"CallFunction": func(ctx context.Context) error {
			_, err := s.CallFunction(ctx, &tfprotov6.CallFunctionRequest{Name: "notification_url"})
			return err
		},
	} {
		t.Run(method, func(t *testing.T) {
			value := serveWithValue(t, run)
			runtime.GC()
			if value.Value() != nil {
				t.Error("the context of the request is still held")
			}
		})
	}
	runtime.KeepAlive(s)
}

// serveWithValue returns a weak pointer to a value of the context of the request.
func serveWithValue(t *testing.T, run func(context.Context) error) weak.Pointer[[]byte] {
	t.Helper()
	type key struct{}
	value := new(make([]byte, 1<<10))
	// A context that can be canceled, as the one of the plugin protocol, knows what is derived from it.
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, value))
	defer cancel()
	if err := run(ctx); err != nil {
		t.Fatal(err)
	}
	return weak.Make(value)
}
