package provider_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/action"
	dataschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	ephemeralschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// Only ephemeral resources may have personal data, and there it is sensitive, so that Terraform's errors do not quote
// it.
func TestPersonalDataIsEphemeral(t *testing.T) {
	personal := []string{
		"individuals", "email", "first_name", "middle_name", "last_name", "date_of_birth", "gender", "address",
		"post_zip_code",
	}
	seen := 0
	for _, k := range allSchemas(t) {
		stored := strings.HasPrefix(k.name, "data ") || strings.HasPrefix(k.name, "resource ")
		for _, name := range personal {
			attribute, ok := k.attributes[name]
			if ok && stored {
				t.Errorf("%s: %s would be in the state", k.name, name)
			}
			if holder := name == "individuals" || name == "address"; ok && !holder && !attribute.IsSensitive() {
				t.Errorf("%s: %s is not sensitive", k.name, name)
			}
			if ok {
				seen++
			}
		}
	}
	if seen < len(personal)-1 {
		t.Errorf("only %d personal attributes were found at all", seen)
	}
}

func functionInfo(t *testing.T, f function.Function) schemaInfo {
	t.Helper()
	var name function.MetadataResponse
	var definition function.DefinitionResponse
	f.Metadata(t.Context(), function.MetadataRequest{}, &name)
	f.Definition(t.Context(), function.DefinitionRequest{}, &definition)
	var problems function.DefinitionValidateResponse
	request := function.DefinitionValidateRequest{FuncName: name.Name}
	definition.Definition.ValidateImplementation(t.Context(), request, &problems)
	attributes := map[string]attribute{}
	parameters := definition.Definition.Parameters
	if variadic := definition.Definition.VariadicParameter; variadic != nil {
		parameters = append(parameters, variadic)
	}
	for _, parameter := range parameters {
		attributes[parameter.GetName()] = parameterAttribute{parameter}
	}
	return schemaInfo{
		name:        "function " + name.Name,
		example:     "functions/" + name.Name + "/function.tf",
		description: definition.Definition.MarkdownDescription,
		attributes:  attributes,
		problems:    problems.Diagnostics,
	}
}

// parameterAttribute is a parameter of a function. It is as sensitive as its argument, and so is the result.
type parameterAttribute struct{ function.Parameter }

func (d parameterAttribute) IsSensitive() bool { return true }

func listInfo(t *testing.T, l list.ListResource) schemaInfo {
	t.Helper()
	var name resource.MetadataResponse
	var schema list.ListResourceSchemaResponse
	l.Metadata(t.Context(), resource.MetadataRequest{ProviderTypeName: "idv"}, &name)
	l.ListResourceConfigSchema(t.Context(), list.ListResourceSchemaRequest{}, &schema)
	return schemaInfo{
		name:        "list " + name.TypeName,
		example:     "list-resources/" + name.TypeName + "/list-resource.tfquery.hcl",
		description: schema.Schema.MarkdownDescription,
		attributes:  attributesOf(schema.Schema.Attributes),
		problems:    schema.Schema.ValidateImplementation(t.Context()),
	}
}

func actionInfo(t *testing.T, a action.Action) schemaInfo {
	t.Helper()
	var name action.MetadataResponse
	var schema action.SchemaResponse
	a.Metadata(t.Context(), action.MetadataRequest{ProviderTypeName: "idv"}, &name)
	a.Schema(t.Context(), action.SchemaRequest{}, &schema)
	return schemaInfo{
		name:        "action " + name.TypeName,
		example:     "actions/" + name.TypeName + "/action.tf",
		description: schema.Schema.MarkdownDescription,
		attributes:  attributesOf(schema.Schema.Attributes),
		problems:    schema.Schema.ValidateImplementation(t.Context()),
	}
}

// attributesOf returns the attributes by name. Nested attributes have the name of the outer one as a prefix.
func attributesOf[A attribute](schema map[string]A) map[string]attribute {
	all := map[string]attribute{}
	for name, a := range schema {
		all[name] = a
		var nested map[string]attribute
		switch a := any(a).(type) {
		case dataschema.ListNestedAttribute:
			nested = attributesOf(a.NestedObject.Attributes)
		case ephemeralschema.ListNestedAttribute:
			nested = attributesOf(a.NestedObject.Attributes)
		case ephemeralschema.SingleNestedAttribute:
			nested = attributesOf(a.Attributes)
		}
		for inner := range maps.Keys(nested) {
			all[name+"."+inner] = nested[inner]
		}
	}
	return all
}
