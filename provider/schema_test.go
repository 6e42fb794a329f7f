package provider_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	tfprovider "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mandate-io/idv/provider"
)

// attribute is the common part of all types of attributes.
type attribute interface {
	GetMarkdownDescription() string
	IsSensitive() bool
}

// schemaInfo is a schema with its place in the examples.
type schemaInfo struct {
	name, example string
	description   string
	attributes    map[string]attribute
	problems      diag.Diagnostics
	importable    bool
}

// descriptionEnd is the end of a sentence, or the default value after it.
var descriptionEnd = regexp.MustCompile("\\.( \\(Default: `[^`]+`\\))?$")

// moreSentences is the beginning of a second one.
var moreSentences = regexp.MustCompile("\\. [A-Z`]")

func TestSchemas(t *testing.T) {
	for _, k := range allSchemas(t) {
		t.Run(k.name, func(t *testing.T) {
			if k.problems.HasError() {
				t.Errorf("the schema is not valid: %v", k.problems)
			}
			if !strings.HasSuffix(k.description, ".") {
				t.Errorf("the description is missing, or no sentence: %q", k.description)
			}
			for name, attribute := range k.attributes {
				if !descriptionEnd.MatchString(attribute.GetMarkdownDescription()) {
					t.Errorf("%s: the description is missing, or no sentence: %q", name, attribute.GetMarkdownDescription())
				}
				if moreSentences.MatchString(attribute.GetMarkdownDescription()) {
					t.Errorf("%s: want one sentence, and a table for the rules: %q", name, attribute.GetMarkdownDescription())
				}
				secret := strings.Contains(name, "password") || strings.Contains(name, "secret") || name == "token"
				if secret && !attribute.IsSensitive() {
					t.Errorf("%s is not sensitive", name)
				}
			}
			if _, err := os.Stat(filepath.Join(examples, k.example)); err != nil {
				t.Errorf("there is no example: %v", err)
			}
			if k.importable {
				for _, file := range []string{"import.sh", "import-by-string-id.tf", "import-by-identity.tf"} {
					if _, err := os.Stat(filepath.Join(examples, filepath.Dir(k.example), file)); err != nil {
						t.Errorf("there is no example of an import: %v", err)
					}
				}
			}
		})
	}
}

func allSchemas(t *testing.T) []schemaInfo {
	t.Helper()
	p := provider.New("test")()
	var own tfprovider.SchemaResponse
	p.Schema(t.Context(), tfprovider.SchemaRequest{}, &own)
	all := []schemaInfo{{name: "provider", example: "provider/provider.tf", description: own.Schema.MarkdownDescription,
		attributes: attributesOf(own.Schema.Attributes), problems: own.Schema.ValidateImplementation(t.Context())}}
	for _, constructor := range p.DataSources(t.Context()) {
		all = append(all, dataSourceInfo(t, constructor()))
	}
	for _, constructor := range p.Resources(t.Context()) {
		all = append(all, resourceInfo(t, constructor()))
	}
	for _, constructor := range p.(tfprovider.ProviderWithEphemeralResources).EphemeralResources(t.Context()) {
		all = append(all, ephemeralInfo(t, constructor()))
	}
	for _, constructor := range p.(tfprovider.ProviderWithFunctions).Functions(t.Context()) {
		all = append(all, functionInfo(t, constructor()))
	}
	for _, constructor := range p.(tfprovider.ProviderWithActions).Actions(t.Context()) {
		all = append(all, actionInfo(t, constructor()))
	}
	for _, constructor := range p.(tfprovider.ProviderWithListResources).ListResources(t.Context()) {
		all = append(all, listInfo(t, constructor()))
	}
	return all
}

func dataSourceInfo(t *testing.T, d datasource.DataSource) schemaInfo {
	t.Helper()
	var name datasource.MetadataResponse
	var schema datasource.SchemaResponse
	d.Metadata(t.Context(), datasource.MetadataRequest{ProviderTypeName: "idv"}, &name)
	d.Schema(t.Context(), datasource.SchemaRequest{}, &schema)
	return schemaInfo{
		name:        "data " + name.TypeName,
		example:     "data-sources/" + name.TypeName + "/data-source.tf",
		description: schema.Schema.MarkdownDescription,
		attributes:  attributesOf(schema.Schema.Attributes),
		problems:    schema.Schema.ValidateImplementation(t.Context()),
	}
}

func resourceInfo(t *testing.T, r resource.Resource) schemaInfo {
	t.Helper()
	var name resource.MetadataResponse
	var schema resource.SchemaResponse
	r.Metadata(t.Context(), resource.MetadataRequest{ProviderTypeName: "idv"}, &name)
	r.Schema(t.Context(), resource.SchemaRequest{}, &schema)
	problems := schema.Schema.ValidateImplementation(t.Context())
	_, importable := r.(resource.ResourceWithImportState)
	if identified, ok := r.(resource.ResourceWithIdentity); ok {
		var identity resource.IdentitySchemaResponse
		identified.IdentitySchema(t.Context(), resource.IdentitySchemaRequest{}, &identity)
		problems.Append(identity.IdentitySchema.ValidateImplementation(t.Context())...)
	}
	return schemaInfo{
		name:        "resource " + name.TypeName,
		example:     "resources/" + name.TypeName + "/resource.tf",
		importable:  importable,
		description: schema.Schema.MarkdownDescription,
		attributes:  attributesOf(schema.Schema.Attributes),
		problems:    problems,
	}
}

func ephemeralInfo(t *testing.T, e ephemeral.EphemeralResource) schemaInfo {
	t.Helper()
	var name ephemeral.MetadataResponse
	var schema ephemeral.SchemaResponse
	e.Metadata(t.Context(), ephemeral.MetadataRequest{ProviderTypeName: "idv"}, &name)
	e.Schema(t.Context(), ephemeral.SchemaRequest{}, &schema)
	return schemaInfo{
		name:        "ephemeral " + name.TypeName,
		example:     "ephemeral-resources/" + name.TypeName + "/ephemeral-resource.tf",
		description: schema.Schema.MarkdownDescription,
		attributes:  attributesOf(schema.Schema.Attributes),
		problems:    schema.Schema.ValidateImplementation(t.Context()),
	}
}
