package provider_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/action"
	dataschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	ephemeralschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/function"
)

// Personal data has a place in ephemeral resources only, and there an error of Terraform's own must not quote it.
func TestPersonalDataIsEphemeral(t *testing.T) {
	personal := []string{"individuals", "email", "first_name", "middle_name", "last_name", "date_of_birth", "gender", "address", "post_zip_code"}
	seen := 0
	for _, k := range kinds(t) {
		kept := strings.HasPrefix(k.name, "data ") || strings.HasPrefix(k.name, "resource ")
		for _, name := range personal {
			attribute, ok := k.attributes[name]
			if ok && kept {
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

func functionKind(t *testing.T, f function.Function) kind {
	t.Helper()
	var name function.MetadataResponse
	var definition function.DefinitionResponse
	f.Metadata(t.Context(), function.MetadataRequest{}, &name)
	f.Definition(t.Context(), function.DefinitionRequest{}, &definition)
	var problems function.DefinitionValidateResponse
	definition.Definition.ValidateImplementation(t.Context(), function.DefinitionValidateRequest{FuncName: name.Name}, &problems)
	attributes := map[string]attribute{}
	for _, parameter := range append(definition.Definition.Parameters, definition.Definition.VariadicParameter) {
		attributes[parameter.GetName()] = described{parameter}
	}
	return kind{name: "function " + name.Name, example: "functions/" + name.Name + "/function.tf",
		description: definition.Definition.MarkdownDescription, attributes: attributes, problems: problems.Diagnostics}
}

// described is a parameter; none of ours is secret.
type described struct{ function.Parameter }

func (d described) IsSensitive() bool { return false }

func actionKind(t *testing.T, a action.Action) kind {
	t.Helper()
	var name action.MetadataResponse
	var schema action.SchemaResponse
	a.Metadata(t.Context(), action.MetadataRequest{ProviderTypeName: "idv"}, &name)
	a.Schema(t.Context(), action.SchemaRequest{}, &schema)
	return kind{name: "action " + name.TypeName, example: "actions/" + name.TypeName + "/action.tf",
		description: schema.Schema.MarkdownDescription, attributes: attributesOf(schema.Schema.Attributes),
		problems: schema.Schema.ValidateImplementation(t.Context())}
}

// attributesOf gives the attributes by name, and those of nested objects below the name of the one that holds them.
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
