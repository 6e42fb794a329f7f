package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// invoke plans and invokes an action as Terraform 1.14 does, and returns its progress messages.
func (p *plugin) invoke(t *testing.T, actionType string, config values) ([]string, []*tfprotov6.Diagnostic) {
	t.Helper()
	server := p.server.(tfprotov6.ActionServer)
	encoded := p.value(t, p.schemas.ActionSchemas[actionType].Schema, config)
	validated, err := server.ValidateActionConfig(t.Context(), &tfprotov6.ValidateActionConfigRequest{
		ActionType: actionType,
		Config:     encoded,
	})
	if err != nil || len(validated.Diagnostics) > 0 {
		return nil, validated.Diagnostics
	}
	planned, err := server.PlanAction(t.Context(), &tfprotov6.PlanActionRequest{
		ActionType: actionType,
		Config:     encoded,
	})
	if err != nil || len(planned.Diagnostics) > 0 {
		t.Fatal(err, formatDiagnostics(planned.Diagnostics))
	}
	stream, err := server.InvokeAction(t.Context(), &tfprotov6.InvokeActionRequest{
		ActionType: actionType,
		Config:     encoded,
	})
	if err != nil {
		t.Fatal(err)
	}
	var messages []string
	var diagnostics []*tfprotov6.Diagnostic
	completed := false
	for event := range stream.Events {
		switch event := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			messages = append(messages, event.Message)
		case tfprotov6.CompletedInvokeActionEventType:
			diagnostics, completed = event.Diagnostics, true
		}
	}
	if !completed {
		t.Error("the action does not complete")
	}
	return messages, diagnostics
}

// countResends counts the repeated invitations.
func (s *service) countResends(t *testing.T) int {
	t.Helper()
	emails, err := s.control.Outbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, email := range emails {
		if email.Kind == control.Resend {
			n++
		}
	}
	return n
}

func TestResendInvites(t *testing.T) {
	resend := control.ResendInvites
	for name, test := range map[string]struct {
		dialects  map[string]string
		fault     *control.Fault
		emails    int
		wantError []string // nil: success
	}{
		"as documented":            {emails: 1},
		"an answer without a body": {dialects: map[string]string{"resendResetAnswer": "204"}, emails: 1},
		"accepted":                 {dialects: map[string]string{"resendResetAnswer": "202"}, emails: 1},
		"the individual as answer": {dialects: map[string]string{"resendResetAnswer": "individual"}, emails: 1},
		"the response is lost": {
			fault:  &control.Fault{Operation: resend, Kind: control.Close, AfterWork: true},
			emails: 1, wantError: []string{"may have been sent", "ask the individual"},
		},
		"an error after the e-mail": {
			fault:  &control.Fault{Operation: resend, Kind: control.Answer, Status: 500, AfterWork: true},
			emails: 1, wantError: []string{"may have been sent"},
		},
		"an error before the e-mail": {
			fault:  &control.Fault{Operation: resend, Kind: control.Answer, Status: 503},
			emails: 0, wantError: []string{"may have been sent"},
		},
		"rejected": {
			fault:  &control.Fault{Operation: resend, Kind: control.Answer, Status: 404},
			emails: 0, wantError: []string{"Cannot resend", "HTTP 404", "no e-mail was sent"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			individual := s.createJane(t).Individuals[0].ID
			p := newPlugin(t, s.url)
			if err := s.control.SetDialects(t.Context(), test.dialects); err != nil {
				t.Fatal(err)
			}
			if test.fault != nil {
				s.fault(t, *test.fault)
			}
			messages, diagnostics := p.invoke(t, "idv_resend_invites", values{"individual_id": individual})
			if sent, requests := s.countResends(t), s.requests(t, resend); sent != test.emails || requests != 1 {
				t.Errorf("want %d e-mails by one request, got %d by %d", test.emails, sent, requests)
			}
			succeeds := test.wantError == nil
			if succeeds != (len(diagnostics) == 0) || succeeds != (len(messages) == 1) ||
				!succeeds && !hasError(diagnostics, test.wantError...) {
				t.Errorf("want an error with %q, got %q and %s", test.wantError, messages, formatDiagnostics(diagnostics))
			}
		})
	}
}

func TestResendInvitesRequiresAnID(t *testing.T) {
	s := newService(t)
	p := newPlugin(t, s.url)
	_, diagnostics := p.invoke(t, "idv_resend_invites", values{"individual_id": int64(0)})
	if !hasError(diagnostics, "individual_id") || s.requests(t, control.ResendInvites) != 0 {
		t.Errorf("want an error and no request, got %s", formatDiagnostics(diagnostics))
	}
}

func TestResendInvitesPlanSendsNothing(t *testing.T) {
	s := newService(t)
	individual := s.createJane(t).Individuals[0].ID
	p := newPlugin(t, s.url)
	encoded := p.value(t, p.schemas.ActionSchemas["idv_resend_invites"].Schema, values{"individual_id": individual})
	for range 2 {
		_, err := p.server.(tfprotov6.ActionServer).PlanAction(t.Context(), &tfprotov6.PlanActionRequest{
			ActionType: "idv_resend_invites",
			Config:     encoded,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := s.requests(t, control.ResendInvites); n != 0 {
		t.Errorf("planning sent %d requests", n)
	}
}
