package provider_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// shapes are the readings of the reference data that the sandbox has: its shape is not documented.
func (s *service) shapes(t *testing.T) []string {
	t.Helper()
	dialects, err := s.control.Dialects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(dialects, func(d control.Switch) bool { return d.Name == "references" })
	if i < 0 || len(dialects[i].Values) < 6 {
		t.Fatal("the sandbox has lost shapes of the reference data")
	}
	return dialects[i].Values
}

// One configuration asks services of every shape for everything, each through a provider block of its own.
func TestReferences(t *testing.T) {
	t.Parallel()
	var configuration strings.Builder
	shapes := newService(t).shapes(t)
	for _, shape := range shapes {
		s := newService(t)
		s.speak(t, "references", shape)
		block := strings.Replace(s.providerBlock(), "{\n", fmt.Sprintf("{\n  alias = %q\n", shape), 1)
		fmt.Fprintf(&configuration, `%[2]s
			data "idv_references" %[1]q { provider = idv.%[1]s }
			data "idv_mandate_type" %[1]q {
			  provider = idv.%[1]s
			  code     = "KYC"
			}
			data "idv_mandate_type" "%[1]s_by_id" {
			  provider = idv.%[1]s
			  id       = data.idv_mandate_type.%[1]s.id
			}
			data "idv_mandate_type" "%[1]s_by_name" {
			  provider = idv.%[1]s
			  name     = data.idv_mandate_type.%[1]s.name
			}
			data "idv_country" %[1]q {
			  provider = idv.%[1]s
			  code     = "gb"
			}
			data "idv_document_type" %[1]q {
			  provider = idv.%[1]s
			  name     = "passport"
			}
			output %[1]q {
			  value = jsonencode({
			    types     = { for t in data.idv_references.%[1]s.mandate_types : t.code => t.id }
			    countries = length(data.idv_references.%[1]s.countries)
			    documents = length(data.idv_references.%[1]s.document_types)
			    whole     = can(jsondecode(data.idv_references.%[1]s.json))
			    kyc       = [data.idv_mandate_type.%[1]s_by_id.code, data.idv_mandate_type.%[1]s_by_name.id]
			    about     = data.idv_mandate_type.%[1]s.description
			    country   = data.idv_country.%[1]s.name
			    document  = data.idv_document_type.%[1]s.code
			  })
			}
			`, shape, block)
	}
	const want = `{"about":"Document, liveness and proof of address","countries":5,"country":"United Kingdom","document":"passport","documents":3,` +
		`"kyc":["kyc",17],"types":{"address":42,"identity":23,"kyc":17},"whole":true}`
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.workspace(t)
		w.configure(t, configuration.String())
		w.must(t, "apply", "-auto-approve")
		var outputs map[string]struct{ Value string }
		if err := json.Unmarshal([]byte(w.must(t, "output", "-json").output), &outputs); err != nil {
			t.Fatal(err)
		}
		for _, shape := range shapes {
			if diff := cmp.Diff(want, outputs[shape].Value); diff != "" {
				t.Errorf("%s (-want +got):\n%s", shape, diff)
			}
		}
		w.mustPlanNothing(t)
	})
}

func TestReferencesAreFetchedOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		s.forget(t)
		w := c.workspace(t, s.environment()...)
		w.configure(t, everything+`
			data "idv_country" "all" {
			  for_each = toset(["AU", "DE", "FR", "GB", "US"])
			  code     = each.key
			}`)
		w.must(t, "plan")
		if n := s.requests(t, control.References); n != 1 {
			t.Errorf("want one request for eight data sources, got %d", n)
		}
	})
}

// Data sources that ask while the first request is under way wait for its answer.
func TestReferencesAreFetchedOnceByManyAtATime(t *testing.T) {
	s := newService(t)
	p := newPlugin(t, s.url)
	s.fault(t, control.Fault{Operation: control.References, Kind: control.Slow, DelayMillis: 200})
	config := p.value(t, p.schemas.DataSourceSchemas["idv_country"], values{"code": "GB"})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			answer, err := p.server.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: "idv_country", Config: config})
			if err != nil || len(answer.Diagnostics) > 0 {
				t.Errorf("%v %s", err, said(answer.Diagnostics))
			}
		})
	}
	all.Wait()
	if n := s.requests(t, control.References); n != 1 {
		t.Errorf("want one request for twenty data sources, got %d", n)
	}
}

// A failure is not what the reference data is: the next one asks again, and the answer to that is kept.
func TestReferencesAfterAFailure(t *testing.T) {
	s := newService(t)
	p := newPlugin(t, s.url)
	s.fault(t, control.Fault{Operation: control.References, Kind: control.Answer, Status: 400})
	if _, diagnostics := p.read(t, "idv_references", nil); !says(diagnostics, tfprotov6.DiagnosticSeverityError, "Cannot read the reference data", "400") {
		t.Fatalf("want an error, got %s", said(diagnostics))
	}
	for range 3 {
		if references, diagnostics := p.read(t, "idv_references", nil); len(diagnostics) > 0 || len(references["countries"].([]any)) != 5 {
			t.Errorf("want the countries, got %v, %s", references["countries"], said(diagnostics))
		}
	}
	if n := s.requests(t, control.References); n != 2 {
		t.Errorf("want one request that failed and one that did not, got %d", n)
	}
	other := newPlugin(t, s.url)
	other.read(t, "idv_references", nil)
	if n := s.requests(t, control.References); n != 3 {
		t.Errorf("another run asks for itself, got %d requests", n)
	}
}

func TestReferenceThatDoesNotExist(t *testing.T) {
	s := newService(t)
	for shape, countries := range map[string]string{"lists": `code "GB", name "United Kingdom"`, "map": `code "GB", name "United Kingdom"`} {
		s.speak(t, "references", shape)
		p := newPlugin(t, s.url)
		for typeName, offered := range map[string][]string{
			"idv_mandate_type":  {`id 17, code "kyc", name "Know your customer"`, `"identity"`, `"address"`},
			"idv_country":       {countries, `"AU"`, `"DE"`, `"FR"`, `"US"`},
			"idv_document_type": {`code "passport", name "Passport"`, `"national_id"`},
		} {
			for attribute, value := range map[string]any{"id": int64(999), "code": "no-such", "name": "no such"} {
				_, diagnostics := p.read(t, typeName, values{attribute: value})
				words := append([]string{"There is no such", "with " + attribute, fmt.Sprint(value)}, offered...)
				if len(diagnostics) != 1 || !says(diagnostics, tfprotov6.DiagnosticSeverityError, words...) || diagnostics[0].Attribute.String() == "" {
					t.Errorf("%s %s by %s: want one error at the attribute that lists what exists, got %s", shape, typeName, attribute, said(diagnostics))
				}
			}
		}
	}
}

func TestReferenceOnTheCLIs(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.workspace(t, s.environment()...)
		w.configure(t, `data "idv_mandate_type" "t" { code = "no-such-type" }`)
		if r := w.run(t, "plan"); len(r.errors) != 1 || !has(r.errors, "no-such-type", `"kyc"`, `"identity"`, `"address"`) {
			t.Errorf("want one error that lists what exists, got %+v", r.errors)
		}
		w.configure(t, "data \"idv_country\" \"t\" {\n  code = \"GB\"\n  id = 1\n}\ndata \"idv_document_type\" \"t\" {}")
		if r := w.run(t, "validate"); len(r.errors) != 2 {
			t.Errorf("want an error for two selectors and one for none, got %+v", r.errors)
		}
	})
}
