package provider_test

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// createJane creates an application with one individual, who has all attributes but a middle name.
func (s *service) createJane(t *testing.T) *client.Application {
	t.Helper()
	created, err := s.client.CreateApplication(t.Context(), client.NewApplication{
		Name: client.Hide("Acme onboarding"), Reference: t.Name(), MandateTypeID: 17,
		Individuals: []client.NewIndividual{{
			Reference:   client.Hide(t.Name() + ".jane"),
			Email:       client.Hide("jane@example.com"),
			Title:       client.Hide("Ms"),
			FirstName:   client.Hide("Jane"),
			LastName:    client.Hide("Doe"),
			DateOfBirth: client.Hide("1990-02-03"),
			Gender:      client.Hide("female"),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	application, err := s.client.RetrieveApplication(t.Context(), created.ID)
	if err != nil {
		t.Fatal(err)
	}
	return application
}

func (s *service) play(t *testing.T, play control.Play) {
	t.Helper()
	if _, err := s.control.Play(t.Context(), play); err != nil {
		t.Fatal(err)
	}
}

// readings are dialects of the sandbox that change the format of individuals and applications.
var readings = map[string]map[string]string{
	"as documented":         {},
	"wrapped in data":       {"retrieveIndividual": "data"},
	"wrapped in individual": {"retrieveIndividual": "individual"},
	"sharedConfig wrapped":  {"wrap": "data"},
	"camel case":            {"memberCase": "camel"},
	"ids as strings":        {"ids": "string"},
	"a status as text":      {"statusShape": "string"},
	"absent as null":        {"absentValues": "null"},
	"absent left out":       {"absentValues": "missing", "extraMembers": "present"},
}

func TestIndividualAndApplication(t *testing.T) {
	s := newService(t)
	jane := s.createJane(t)
	individual := jane.Individuals[0].ID
	s.play(t, control.Play{ApplicationID: jane.ID, Step: control.CompleteActions})
	for reading, dialects := range readings {
		t.Run(reading, func(t *testing.T) {
			if err := s.control.ResetDialects(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.control.SetDialects(t.Context(), dialects); err != nil {
				t.Fatal(err)
			}
			p := newPlugin(t, s.url)
			person, opened := p.open(t, "idv_individual", values{"individual_id": individual})
			if len(opened.Diagnostics) > 0 {
				t.Fatal(formatDiagnostics(opened.Diagnostics))
			}
			want := values{
				"id":             individual,
				"individual_id":  individual,
				"reference":      jane.Individuals[0].Reference.Reveal(),
				"terms_accepted": true,
				"email":          "jane@example.com",
				"title":          "Ms",
				"first_name":     "Jane",
				"middle_name":    nil,
				"last_name":      "Doe",
				"date_of_birth":  "1990-02-03",
				"gender":         "female",
				"checks_pending": int64(3),
			}
			for name, value := range want {
				if diff := cmp.Diff(value, person[name]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			checks := person["checks"].([]any)
			if len(checks) != 3 || checks[0].(values)["name"] != "document" || person["state"] == nil {
				t.Errorf("wrong progress: %v, %v", checks, person["state"])
			}
			address, ok := person["address"].(values)
			if !ok || address["country_code"] == nil || address["road_street"] == nil {
				t.Errorf("incomplete address: %v", person["address"])
			}
			raw, ok := person["json"].(string)
			if !ok || !json.Valid([]byte(raw)) || !strings.Contains(raw, "jane@example.com") {
				t.Errorf("json is not the response: %v", person["json"])
			}
			application, opened := p.open(t, "idv_application", values{"application_id": jane.ID})
			if len(opened.Diagnostics) > 0 {
				t.Fatal(formatDiagnostics(opened.Diagnostics))
			}
			if application["name"] != "Acme onboarding" ||
				application["reference"] != jane.Reference ||
				application["archived"] != false ||
				application["mandate_type"].(values)["code"] != "kyc" ||
				application["state"] == nil {
				t.Errorf("wrong application: %v", application)
			}
			first := application["individuals"].([]any)[0].(values)
			if first["id"] != individual || first["checks_pending"] != int64(3) {
				t.Errorf("wrong individual of the application: %v", first)
			}
		})
	}
}

func TestEphemeralReadErrors(t *testing.T) {
	s := newService(t)
	p := newPlugin(t, s.url)
	for typeName, test := range map[string]struct {
		operation control.Operation
		argument  string
	}{
		"idv_application":       {control.RetrieveApplication, "application_id"},
		"idv_individual":        {control.RetrieveIndividual, "individual_id"},
		"idv_individual_report": {control.IndividualReport, "individual_id"},
	} {
		t.Run(typeName, func(t *testing.T) {
			_, opened := p.open(t, typeName, values{test.argument: int64(4711)})
			if len(opened.Diagnostics) != 1 || !hasError(opened.Diagnostics, "Cannot", "404") {
				t.Errorf("want one error, got %s", formatDiagnostics(opened.Diagnostics))
			}
			s.fault(t, control.Fault{Operation: test.operation, Kind: control.Answer, Status: 403, Times: control.Always})
			_, opened = p.open(t, typeName, values{test.argument: int64(4711)})
			if len(opened.Diagnostics) != 1 || !hasError(opened.Diagnostics, "API permissions") {
				t.Errorf("want one error, got %s", formatDiagnostics(opened.Diagnostics))
			}
		})
	}
}

func TestIndividualReport(t *testing.T) {
	s := newService(t)
	jane := s.createJane(t)
	individual := jane.Individuals[0].ID
	p := newPlugin(t, s.url)
	for _, status := range []string{"400", "404", "409"} {
		s.setDialect(t, "reportNotReady", status)
		_, opened := p.open(t, "idv_individual_report", values{"individual_id": individual})
		const want = "once the individual has completed the checks"
		if len(opened.Diagnostics) != 1 || !hasError(opened.Diagnostics, want) {
			t.Errorf("HTTP %s: want an error with %q, got %s", status, want, formatDiagnostics(opened.Diagnostics))
		}
	}
	s.play(t, control.Play{ApplicationID: jane.ID})
	for format, want := range map[string]struct{ contentType, prefix string }{
		"pdf":         {"application/pdf", "%PDF-"},
		"json_base64": {"application/json", "{"},
		"json_url":    {"application/json", "{"},
	} {
		s.setDialect(t, "reportFormat", format)
		report, opened := p.open(t, "idv_individual_report", values{"individual_id": individual})
		if len(opened.Diagnostics) > 0 {
			t.Errorf("%s: %s", format, formatDiagnostics(opened.Diagnostics))
			continue
		}
		content, err := base64.StdEncoding.DecodeString(report["content_base64"].(string))
		if err != nil || !strings.HasPrefix(string(content), want.prefix) || report["content_type"] != want.contentType {
			t.Errorf("%s: got %v: %.20q, %v", format, report["content_type"], content, err)
		}
	}
}

// The echo provider writes ephemeral values into the state, where a test can read them.
func TestEphemeralResourcesOnTheCLIs(t *testing.T) {
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		jane := s.createJane(t)
		s.play(t, control.Play{ApplicationID: jane.ID})
		echoed := func(path ...string) tfjsonpath.Path {
			p := tfjsonpath.New("data")
			for _, step := range path {
				p = p.AtMapKey(step)
			}
			return p
		}
		c.testCase(t, resource.TestStep{
			Config: s.providerBlock() + `
				variable "application_id" { default = ` + strconv.FormatInt(jane.ID, 10) + ` }
				ephemeral "idv_application" "a" { application_id = var.application_id }
				ephemeral "idv_individual" "i" { individual_id = ephemeral.idv_application.a.individuals[0].id }
				ephemeral "idv_individual_report" "r" { individual_id = ephemeral.idv_individual.i.id }
				provider "echo" {
				  data = { a = ephemeral.idv_application.a, i = ephemeral.idv_individual.i, r = ephemeral.idv_individual_report.r }
				}
				resource "echo" "e" {}`,
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue("echo.e", echoed("a", "reference"), knownvalue.StringExact(jane.Reference)),
				statecheck.ExpectKnownValue("echo.e", echoed("i", "first_name"), knownvalue.StringExact("Jane")),
				statecheck.ExpectKnownValue("echo.e", echoed("r", "content_type"), knownvalue.StringExact("application/pdf")),
			},
		})
	})
}
