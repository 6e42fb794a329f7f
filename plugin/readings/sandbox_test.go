package readings_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/plugin/readings"
)

// A sandbox with the configuration that was found out answers as the service did: the reads show the same again.
func TestSandbox(t *testing.T) {
	for name, d := range map[string]dialect.Dialect{
		"as documented": {},
		"otherwise": {
			ExpiresIn: dialect.ExpiresInMilliseconds, TokenBasic: dialect.TokenBasicRequired, TokenForm: dialect.TokenFormBearer,
			IDs: dialect.IDsString, StatusCase: dialect.StatusUpper, Wrap: dialect.WrapData, MemberCase: dialect.MemberCaseCamel,
			ErrorShape: dialect.ErrorShapeNumericID, CompleteMethod: dialect.MethodPost,
			IndividualReference: dialect.IndividualReferenceHidden, IndividualEmail: dialect.IndividualEmailMasked,
			IndividualOrder: dialect.IndividualsNewestFirst, Checks: dialect.ChecksIndividualOnly,
			References: dialect.ReferencesFlat, RetrieveWebhook: dialect.WebhookList,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := newService(t, d)
			found := first.run(first.options())
			file, err := found.Sandbox()
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := config.Parse([]byte(file))
			if err != nil {
				t.Fatalf("%v in\n%s", err, file)
			}
			got := parsed.Accounts[0].Dialect
			// With HTTP Basic required, the client pair is always sent, and either pair looks like that one.
			d.Credentials = got.Credentials
			for _, s := range d.Switches() {
				if value := switchOf(got, s.Name); value != s.Value && found.Find(s.Name).Reading != "" &&
					hidden[s.Name+"="+s.Value] == "" {
					t.Errorf("%s=%s in the file, want %s", s.Name, value, s.Value)
				}
			}
			second := newService(t, got)
			if diff := cmp.Diff(found.Findings, second.run(second.options()).Findings); diff != "" {
				t.Errorf("the sandbox answers otherwise (-service +sandbox):\n%s", diff)
			}
			for _, secret := range append(personal, "token-of-the-receiver", "team") {
				if strings.Contains(file, secret) {
					t.Errorf("%q in\n%s", secret, file)
				}
			}
		})
	}
}

func switchOf(d dialect.Dialect, name string) string {
	for _, s := range d.Switches() {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// The file has the reference data of the account, and neither its credentials nor its people.
func TestSandboxOfAnAccount(t *testing.T) {
	checks := []string{config.DocumentCheck, config.LivenessCheck, config.AddressCheck}
	account := config.Account{
		Username: "real-user", Password: "real-password", ClientID: "real-client", ClientSecret: "real-secret",
		MandateTypes: []config.MandateType{
			{ID: 5, Code: "acme-kyc", Name: "Acme: \"KYC\"", Checks: checks},
			{ID: 6, Code: "acme-kyb", Name: "Acme #2", Description: "yes", Checks: checks},
		},
		Countries: []config.Country{{Code: "NO", Name: "Norway"}, {Code: "CI", Name: "Côte d'Ivoire"}},
		Dialect:   dialect.Dialect{References: dialect.ReferencesMap},
	}
	look := func(account config.Account) *readings.Result {
		stand, err := sandbox.Open(config.Config{Accounts: []config.Account{account}}, sandbox.Process{})
		if err != nil {
			t.Fatal(err)
		}
		defer stand.Close()
		server := httptest.NewServer(stand)
		defer server.Close()
		s := &service{T: t, url: server.URL}
		options := s.options()
		options.Credentials = client.Credentials{
			Username: account.Username, Password: client.Hide(account.Password),
			ClientID: account.ClientID, ClientSecret: client.Hide(account.ClientSecret),
		}
		return s.run(options)
	}
	found := look(account)
	file, err := found.Sandbox()
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{"real-user", "real-password", "real-client", "real-secret"} {
		if strings.Contains(file, hidden) {
			t.Errorf("%q in\n%s", hidden, file)
		}
	}
	parsed, err := config.Parse([]byte(file))
	if err != nil {
		t.Fatalf("%v in\n%s", err, file)
	}
	again := look(parsed.Accounts[0])
	if diff := cmp.Diff(found.Findings, again.Findings); diff != "" {
		t.Errorf("the sandbox answers otherwise (-service +sandbox):\n%s", diff)
	}
	if diff := cmp.Diff(found.References.MandateTypes, again.References.MandateTypes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(found.References.Countries, again.References.Countries); diff != "" {
		t.Error(diff)
	}
}

// Reference data that a sandbox cannot have does not make a file that no sandbox takes.
func TestSandboxOfOddReferenceData(t *testing.T) {
	for _, types := range [][]client.Reference{
		{{ID: 1, Code: "kyc"}, {ID: 2, Code: "kyc"}}, {{Code: "kyc"}}, {{ID: 1}},
	} {
		result := &readings.Result{References: &client.References{MandateTypes: types}}
		file, err := result.Sandbox()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := config.Parse([]byte(file)); err != nil {
			t.Errorf("%+v: %v in\n%s", types, err, file)
		}
	}
}
