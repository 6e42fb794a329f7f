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

// shapes returns the formats of the reference data that the sandbox has: the service does not document its own.
func (s *service) shapes(t *testing.T) []string {
	t.Helper()
	dialects, err := s.control.Dialects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(dialects, func(d control.Switch) bool { return d.Name == "references" })
	if i < 0 || len(dialects[i].Values) < 6 {
		t.Fatal("the sandbox has too few shapes of the reference data")
	}
	return dialects[i].Values
}

// One configuration reads all reference data in every shape, each through a provider block of its own.
func TestReferences(t *testing.T) {
	t.Parallel()
	var configuration strings.Builder
	shapes := newService(t).shapes(t)
	for _, shape := range shapes {
		s := newService(t)
		s.setDialect(t, "references", shape)
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
	const want = `{"about":"Document, liveness and proof of address","countries":5,"country":"United Kingdom",` +
		`"document":"passport","documents":3,"kyc":["kyc",17],"types":{"address":42,"identity":23,"kyc":17},"whole":true}`
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
		s.resetStats(t)
		w := c.inProcess(t, s.providerBlock())
		w.configure(t, sharedConfig+`
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

// Data sources that are read during the first request wait for its response.
func TestReferencesAreFetchedOnceConcurrently(t *testing.T) {
	s := newService(t)
	p := newPlugin(t, s.url)
	s.fault(t, control.Fault{Operation: control.References, Kind: control.Slow, DelayMillis: 200})
	config := p.value(t, p.schemas.DataSourceSchemas["idv_country"], values{"code": "GB"})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			resp, err := p.server.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{
				TypeName: "idv_country",
				Config:   config,
			})
			if err != nil || len(resp.Diagnostics) > 0 {
				t.Errorf("%v %s", err, formatDiagnostics(resp.Diagnostics))
			}
		})
	}
	all.Wait()
	if n := s.requests(t, control.References); n != 1 {
		t.Errorf("want one request for twenty data sources, got %d", n)
	}
}

// A failure is not cached: the next data source sends a request again, and its response is cached.
func TestReferencesAfterAFailure(t *testing.T) {
	s := newService(t)
	p := newPlugin(t, s.url)
	s.fault(t, control.Fault{Operation: control.References, Kind: control.Answer, Status: 400})
	_, diagnostics := p.read(t, "idv_references", nil)
	if !hasError(diagnostics, "Cannot read the reference data", "400") {
		t.Fatalf("want an error, got %s", formatDiagnostics(diagnostics))
	}
	for range 3 {
		references, diagnostics := p.read(t, "idv_references", nil)
		if len(diagnostics) > 0 || len(references["countries"].([]any)) != 5 {
			t.Errorf("want the countries, got %v, %s", references["countries"], formatDiagnostics(diagnostics))
		}
	}
	if n := s.requests(t, control.References); n != 2 {
		t.Errorf("want one failed and one successful request, got %d", n)
	}
	other := newPlugin(t, s.url)
	other.read(t, "idv_references", nil)
	if n := s.requests(t, control.References); n != 3 {
		t.Errorf("want a request of its own for another run, got %d requests", n)
	}
}

func TestReferenceWithoutMatch(t *testing.T) {
	s := newService(t)
	for _, shape := range []string{"lists", "map"} {
		s.setDialect(t, "references", shape)
		p := newPlugin(t, s.url)
		for typeName, available := range map[string][]string{
			"idv_mandate_type":  {`id 17, code "kyc", name "Know your customer"`, `"identity"`, `"address"`},
			"idv_country":       {`code "GB", name "United Kingdom"`, `"AU"`, `"DE"`, `"FR"`, `"US"`},
			"idv_document_type": {`code "passport", name "Passport"`, `"national_id"`},
		} {
			for attribute, value := range map[string]any{"id": int64(999), "code": "no-such", "name": "no such"} {
				_, diagnostics := p.read(t, typeName, values{attribute: value})
				words := append([]string{"No matching", "with " + attribute, fmt.Sprint(value)}, available...)
				if len(diagnostics) != 1 || !hasError(diagnostics, words...) || diagnostics[0].Attribute.String() == "" {
					t.Errorf("%s %s by %s: want one error at the attribute with the entries, got %s",
						shape, typeName, attribute, formatDiagnostics(diagnostics))
				}
			}
		}
	}
}

func TestReferenceOnTheCLIs(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.inProcess(t, s.providerBlock())
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
