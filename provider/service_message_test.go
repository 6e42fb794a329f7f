package provider

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// TestServiceMessage: only operations about no person show what the service says, and nothing that was sent.
func TestServiceMessage(t *testing.T) {
	secrets := []string{
		"canary-1", "Bearer canarytoken", "ab7", `canary"quote`, "https://hooks.example.com/?key=canarykey", "a/b c",
	}
	service, err := client.New(client.Config{BaseURL: "https://idv.example.com", Credentials: client.Credentials{
		Username: "jane@acme.test", Password: client.Hide("canary-password"),
		ClientID: "app", ClientSecret: client.Hide("canary-client"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	for name, test := range map[string]struct {
		operation     client.Operation
		title, detail string
		want          string // "" for nothing
	}{
		"both":                {client.OpSubscribeWebhook, "Not now", "Ask an admin.", "service: Not now: Ask an admin."},
		"a title":             {client.OpSubscribeWebhook, "Maintenance.", "", "service: Maintenance."},
		"twice the same":      {client.OpSubscribeWebhook, "Maintenance", "Maintenance.", "service: Maintenance."},
		"about a person":      {client.OpRetrieveApplication, "Jane Doe", "jane@example.com", ""},
		"an e-mail":           {client.OpResendInvites, "Jane Doe", "jane@example.com", ""},
		"nothing":             {client.OpSubscribeWebhook, "", "", ""},
		"a secret":            {client.OpSubscribeWebhook, "Bad canary-1", "", hiddenMessage},
		"another letter case": {client.OpSubscribeWebhook, "Bad CANARY-1", "", hiddenMessage},
		"part of a secret":    {client.OpSubscribeWebhook, "", "canarytoken is expired", hiddenMessage},
		"a word of a URL":     {client.OpSubscribeWebhook, "", "canarykey?", hiddenMessage},
		"a short secret":      {client.OpSubscribeWebhook, "", "the secret ab7.", hiddenMessage},
		"no short secret":     {client.OpSubscribeWebhook, "", "grab7s", "service: grab7s."},
		"in JSON":             {client.OpSubscribeWebhook, "", `got "canary\"quote"`, hiddenMessage},
		"in a URL":            {client.OpSubscribeWebhook, "", "a%2Fb+c", hiddenMessage},
		"in base64":           {client.OpSubscribeWebhook, "", "Y2FuYXJ5LTE", hiddenMessage},
		"interrupted":         {client.OpSubscribeWebhook, "", "can\x00ary-1", hiddenMessage},
		"control characters":  {client.OpSubscribeWebhook, "red \x1b[31m", "", "service: red \ufffd[31m."},
		"the password":        {client.OpSubscribeWebhook, "", "canary-password is old", hiddenMessage},
		"HTTP Basic":          {client.OpSubscribeWebhook, "", "YXBwOmNhbmFyeS1jbGllbnQ=", hiddenMessage},
		"an address":          {client.OpSubscribeWebhook, "Closed", "Ask bob@shop.test.", "Closed: " + personalMessage},
		"an address as title": {client.OpSubscribeWebhook, "For bob@shop.test", "", personalMessage},
		"the user":            {client.OpSubscribeWebhook, "", "Jane@acme.test may not", "service: xxxxx may not."},
		"a secret at the end": {client.OpSubscribeWebhook, strings.Repeat("x ", 147) + "canary-1", "", hiddenMessage},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			addRejection(&diags, "Failed", &client.Error{
				Operation: test.operation, Outcome: client.Refused, Kind: client.KindInvalid, Status: 400,
				Problem: &client.Problem{Title: client.Hide(test.title), Detail: client.Hide(test.detail)},
			}, requestFields{messageFilter: messageFilter{secrets: secrets, service: service}})
			text := diags[0].Detail()
			if !strings.Contains(text, test.want) || test.want == "" && strings.Contains(text, "Message") {
				t.Errorf("want %q, got %q", test.want, text)
			}
			for _, secret := range []string{"canary", "CANARY", "ab7.", "Y2Fu", "YXBw", "Jane", "jane"} {
				if strings.Contains(text, secret) {
					t.Errorf("shows %q: %q", secret, text)
				}
			}
		})
	}
}

// TestMessageAboutApplication: what the service says of a subscription of one application can be about its people.
func TestMessageAboutApplication(t *testing.T) {
	service, err := client.New(client.Config{BaseURL: "https://idv.example.com", Credentials: client.Credentials{
		Username: "terraform", Password: client.Hide("password"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	for name, change := range map[string]func(*subscriptionModel){
		"application_id": func(m *subscriptionModel) { m.ApplicationID = types.Int64Value(7) },
		"payload_json":   func(m *subscriptionModel) { m.PayloadJSON = types.StringValue(`{"application_id":7}`) },
	} {
		t.Run(name, func(t *testing.T) {
			model := &subscriptionModel{Events: types.SetNull(types.StringType)}
			change(model)
			failure := &client.Error{
				Operation: client.OpSubscribeWebhook, Outcome: client.Refused, Kind: client.KindInvalid, Status: 400,
				Problem: &client.Problem{
					Title: client.Hide("Mandate closed"), Detail: client.Hide("Mandate of Jane Doe (jane@example.com) is closed"),
				},
			}
			said := func(fields ...client.FieldError) string {
				var diags diag.Diagnostics
				failure.Problem.Errors = fields
				addRejection(&diags, "Failed", failure, model.requestFields(service))
				text := ""
				for _, d := range diags {
					text += d.Detail()
				}
				return text
			}
			text := said() + said(client.FieldError{
				Path:     []client.PathStep{{Name: client.Hide("url"), Field: "url", Index: -1}},
				Messages: []client.Secret{client.Hide("Not for Jane Doe")},
			})
			for _, want := range []string{"HTTP 400", "Mandate closed", "Invalid fields: url", personalMessage} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q: %s", want, text)
				}
			}
			if strings.Contains(text, "Jane") || strings.Contains(text, "@") {
				t.Errorf("it is about a person: %s", text)
			}
		})
	}
}
