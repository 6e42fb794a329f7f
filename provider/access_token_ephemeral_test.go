package provider_test

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The life of a token as a CLI leads it: opened, renewed when its time is nearly over, closed.
func TestAccessTokenRenewAndClose(t *testing.T) {
	s := newService(t)
	p := newPlugin(t, s.url)
	token, opened := p.open(t, "idv_access_token", nil)
	if left := time.Until(opened.RenewAt); len(opened.Diagnostics) > 0 || left < 47*time.Minute || left > 48*time.Minute {
		t.Errorf("want a renewal after four fifths of an hour, got one in %s, %s", left, said(opened.Diagnostics))
	}
	if stated := opened.RenewAt.UTC().Format(time.RFC3339); token["renew_at"] != stated {
		t.Errorf("renew_at says %v, the CLI was told %s", token["renew_at"], stated)
	}

	s.forget(t)
	renewed, err := p.server.RenewEphemeralResource(t.Context(), &tfprotov6.RenewEphemeralResourceRequest{TypeName: "idv_access_token", Private: opened.Private})
	if err != nil {
		t.Fatal(err)
	}
	if len(renewed.Diagnostics) != 1 || !says(renewed.Diagnostics, tfprotov6.DiagnosticSeverityWarning, "expires while it is in use") || !renewed.RenewAt.IsZero() {
		t.Errorf("want one warning and no second one later, got %s, again at %s", said(renewed.Diagnostics), renewed.RenewAt)
	}
	if n := s.requests(t, control.Token); n != 0 {
		t.Errorf("a renewal logged in %d times: that may end the token that is in use", n)
	}

	closed, err := p.server.CloseEphemeralResource(t.Context(), &tfprotov6.CloseEphemeralResourceRequest{TypeName: "idv_access_token", Private: renewed.Private})
	if err != nil || len(closed.Diagnostics) > 0 {
		t.Fatal(err, said(closed.Diagnostics))
	}
	again, _ := p.open(t, "idv_access_token", nil)
	if again["token"] != token["token"] {
		t.Error("after a close, the provider has lost its token")
	}
}
