package provider_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The shape of the reference data is not documented; these are the readings of it.
func TestReferences(t *testing.T) {
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for _, shape := range []string{"lists", "application_types", "string_ids", "flat"} {
			t.Run(shape, func(t *testing.T) {
				s.speak(t, "references", shape)
				value := statecheck.ExpectKnownValue
				all, kyc := "data.idv_references.all", "data.idv_mandate_type.kyc"
				c.testCase(t, resource.TestStep{
					Config: s.providerBlock() + `
						data "idv_references" "all" {}
						data "idv_mandate_type" "kyc" { code = "KYC" }
						data "idv_mandate_type" "same" { id = data.idv_mandate_type.kyc.id }
						data "idv_mandate_type" "again" { name = data.idv_mandate_type.kyc.name }`,
					ConfigStateChecks: []statecheck.StateCheck{
						value(all, tfjsonpath.New("mandate_types"), knownvalue.ListSizeExact(3)),
						value(all, tfjsonpath.New("mandate_types").AtSliceIndex(0).AtMapKey("code"), knownvalue.StringExact("kyc")),
						value(all, tfjsonpath.New("mandate_types").AtSliceIndex(0).AtMapKey("id"), knownvalue.NotNull()),
						value(all, tfjsonpath.New("countries").AtSliceIndex(0).AtMapKey("name"), knownvalue.NotNull()),
						value(all, tfjsonpath.New("document_types").AtSliceIndex(0).AtMapKey("code"), knownvalue.NotNull()),
						value(all, tfjsonpath.New("json"), knownvalue.StringRegexp(regexp.MustCompile(`"kyc"`))),
						value(kyc, tfjsonpath.New("code"), knownvalue.StringExact("kyc")),
						value(kyc, tfjsonpath.New("name"), knownvalue.NotNull()),
						value("data.idv_mandate_type.same", tfjsonpath.New("code"), knownvalue.StringExact("kyc")),
						value("data.idv_mandate_type.again", tfjsonpath.New("code"), knownvalue.StringExact("kyc")),
					},
				})
			})
		}
	})
}

func TestReferencesAreFetchedOnce(t *testing.T) {
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		s.forget(t)
		w := c.workspace(t, s.environment()...)
		w.configure(t, everything)
		w.must(t, "plan")
		if n := s.requests(t, control.References); n != 1 {
			t.Errorf("want one request for three data sources, got %d", n)
		}
	})
}

func TestMandateTypeThatDoesNotExist(t *testing.T) {
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.workspace(t, s.environment()...)
		w.configure(t, `data "idv_mandate_type" "t" { code = "no-such-type" }`)
		if r := w.run(t, "plan"); len(r.errors) != 1 || !has(r.errors, "no-such-type", `"kyc"`, `"identity"`, `"address"`) {
			t.Errorf("want one error that lists what exists, got %+v", r.errors)
		}
		w.configure(t, "data \"idv_mandate_type\" \"t\" {\n  code = \"kyc\"\n  id = 1\n}")
		if r := w.run(t, "validate"); r.exit == 0 {
			t.Error("want an error for two selectors")
		}
	})
}
