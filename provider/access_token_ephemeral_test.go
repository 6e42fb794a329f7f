package provider_test

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The lifecycle of a token on a CLI: open, renew shortly before it expires, close.
func TestAccessTokenRenewAndClose(t *testing.T) {
	s := newService(t)
	p := newPlugin(t, s.url)
	token, opened := p.open(t, "idv_access_token", nil)
	if left := time.Until(opened.RenewAt); left < 47*time.Minute || left > 48*time.Minute {
		t.Errorf("want a renewal after four fifths of an hour, got one in %s", left)
	}
	if len(opened.Diagnostics) > 0 {
		t.Error(formatDiagnostics(opened.Diagnostics))
	}
	if want := opened.RenewAt.UTC().Format(time.RFC3339); token["renew_at"] != want {
		t.Errorf("renew_at is %v, and %s for the CLI", token["renew_at"], want)
	}

	s.resetStats(t)
	renewed, err := p.server.RenewEphemeralResource(t.Context(), &tfprotov6.RenewEphemeralResourceRequest{
		TypeName: "idv_access_token",
		Private:  opened.Private,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(renewed.Diagnostics) != 1 || !hasWarning(renewed.Diagnostics, "expires while it is in use") {
		t.Errorf("want one warning, got %s", formatDiagnostics(renewed.Diagnostics))
	}
	if !renewed.RenewAt.IsZero() {
		t.Errorf("want no second renewal, got one at %s", renewed.RenewAt)
	}
	if n := s.requests(t, control.Token); n != 0 {
		t.Errorf("want no login, which may revoke the token in use; got %d", n)
	}

	closed, err := p.server.CloseEphemeralResource(t.Context(), &tfprotov6.CloseEphemeralResourceRequest{
		TypeName: "idv_access_token",
		Private:  renewed.Private,
	})
	if err != nil || len(closed.Diagnostics) > 0 {
		t.Fatal(err, formatDiagnostics(closed.Diagnostics))
	}
	reopened, _ := p.open(t, "idv_access_token", nil)
	if reopened["token"] != token["token"] {
		t.Error("the provider has another token after the close")
	}
}
