package v1alpha1_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const fieldsPage = "../../docs/fields.md"

var update = flag.Bool("update", false, "write "+fieldsPage)

// TestFieldsPage holds docs/fields.md equal to the CRDs, from which it is made.
func TestFieldsPage(t *testing.T) {
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	var page strings.Builder
	page.WriteString("# Fields\n\nThis page describes every field of every kind. A star (\\*) marks a required field. " +
		"`kubectl explain KIND.spec.FIELD`\nshows the same texts. A test generates this page from the CRDs.\n")
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, crd); err != nil {
			t.Fatal(err)
		}
		schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n| field | type | meaning |\n|---|---|---|\n",
			crd.Spec.Names.Kind, inline(schema.Description))
		for _, part := range []string{"spec", "status"} {
			if properties, ok := schema.Properties[part]; ok {
				writeFields(&page, part, &properties)
			}
		}
	}
	if *update {
		if err := os.WriteFile(fieldsPage, []byte(page.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(fieldsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != page.String() {
		t.Error("docs/fields.md is not what the CRDs say; run make update")
	}
}

// writeFields writes a row for each field below path, the required ones with a star.
func writeFields(page *strings.Builder, path string, schema *apiextensionsv1.JSONSchemaProps) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		field := schema.Properties[name]
		full, kind := path+"."+name, field.Type
		below := &field
		if field.Items != nil && field.Items.Schema != nil {
			below = field.Items.Schema
			full, kind = full+"[]", "list of "+below.Type
		}
		star := ""
		if slices.Contains(schema.Required, name) {
			star = " \\*"
		}
		fmt.Fprintf(page, "| `%s`%s | %s%s | %s |\n", full, star, kind, choices(&field), inline(field.Description))
		if path+"."+name == "status.conditions" { // as of any Kubernetes object; docs/conditions.md has ours
			continue
		}
		writeFields(page, full, below)
	}
}

// choices are the values and the default that a field has.
func choices(field *apiextensionsv1.JSONSchemaProps) string {
	var values []string
	for _, value := range field.Enum {
		values = append(values, strings.Trim(string(value.Raw), `"`))
	}
	text := ""
	if len(values) > 0 {
		text = ": " + strings.Join(values, ", ")
	}
	if field.Default != nil {
		text += "; default `" + string(field.Default.Raw) + "`"
	}
	return text
}

func inline(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "\\|")
}
