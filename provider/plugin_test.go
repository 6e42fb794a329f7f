package provider_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/provider"
)

// plugin is the provider in this process, called over the plugin protocol: for features that the CLIs of the tests
// lack, and for many cases that would be slow on a CLI.
type plugin struct {
	server  tfprotov6.ProviderServer
	schemas *tfprotov6.GetProviderSchemaResponse
}

// values is a Terraform object in Go types: string, bool, int64, []any, values, or nil for null.
type values = map[string]any

// newPlugin returns a provider that is configured for the service at url.
func newPlugin(t *testing.T, url string) *plugin {
	t.Helper()
	return newPluginWith(t, values{
		"base_url": url, "username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword,
	})
}

// newPluginWith returns a provider with the arguments of its block.
func newPluginWith(t *testing.T, config values) *plugin {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil || len(schemas.Diagnostics) > 0 {
		t.Fatal(err, schemas.Diagnostics)
	}
	p := &plugin{server: server, schemas: schemas}
	configured, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.14.0",
		Config:           p.value(t, schemas.Provider, config),
	})
	if err != nil || len(configured.Diagnostics) > 0 {
		t.Fatal(err, configured.Diagnostics)
	}
	return p
}

// read reads a data source.
func (p *plugin) read(t *testing.T, typeName string, config values) (values, []*tfprotov6.Diagnostic) {
	t.Helper()
	schema := p.schemas.DataSourceSchemas[typeName]
	resp, err := p.server.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{
		TypeName: typeName,
		Config:   p.value(t, schema, config),
	})
	if err != nil {
		t.Fatal(err)
	}
	return goValues(t, schema, resp.State), resp.Diagnostics
}

// open opens an ephemeral resource.
func (p *plugin) open(t *testing.T, typeName string, config values) (values, *tfprotov6.OpenEphemeralResourceResponse) {
	t.Helper()
	schema := p.schemas.EphemeralResourceSchemas[typeName]
	resp, err := p.server.OpenEphemeralResource(t.Context(), &tfprotov6.OpenEphemeralResourceRequest{
		TypeName: typeName,
		Config:   p.value(t, schema, config),
	})
	if err != nil {
		t.Fatal(err)
	}
	return goValues(t, schema, resp.Result), resp
}

// value encodes a configuration. Omitted attributes are null.
func (p *plugin) value(t *testing.T, schema *tfprotov6.Schema, config values) *tfprotov6.DynamicValue {
	t.Helper()
	objectType := schema.ValueType().(tftypes.Object)
	members := map[string]tftypes.Value{}
	for name, attributeType := range objectType.AttributeTypes {
		members[name] = tftypes.NewValue(attributeType, config[name])
	}
	for name := range config {
		if _, known := members[name]; !known {
			t.Fatalf("there is no attribute %s", name)
		}
	}
	encoded, err := tfprotov6.NewDynamicValue(objectType, tftypes.NewValue(objectType, members))
	if err != nil {
		t.Fatal(err)
	}
	return &encoded
}

func goValues(t *testing.T, schema *tfprotov6.Schema, encoded *tfprotov6.DynamicValue) values {
	t.Helper()
	if encoded == nil {
		return nil
	}
	value, err := encoded.Unmarshal(schema.ValueType())
	if err != nil {
		t.Fatal(err)
	}
	result, _ := goValue(t, value).(values)
	return result
}

func goValue(t *testing.T, value tftypes.Value) any {
	t.Helper()
	var err error
	var result any
	switch {
	case value.IsNull():
	case !value.IsKnown():
		t.Fatal("a value is unknown")
	case value.Type().Is(tftypes.String):
		var text string
		err = value.As(&text)
		result = text
	case value.Type().Is(tftypes.Bool):
		var truth bool
		err = value.As(&truth)
		result = truth
	case value.Type().Is(tftypes.Number):
		var number *big.Float
		err = value.As(&number)
		result, _ = number.Int64()
	case value.Type().Is(tftypes.Object{}), value.Type().Is(tftypes.Map{}):
		var members map[string]tftypes.Value
		err = value.As(&members)
		all := values{}
		for name, member := range members {
			all[name] = goValue(t, member)
		}
		result = all
	default:
		var items []tftypes.Value
		err = value.As(&items)
		all := []any{}
		for _, item := range items {
			all = append(all, goValue(t, item))
		}
		result = all
	}
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func hasError(diagnostics []*tfprotov6.Diagnostic, words ...string) bool {
	return hasDiagnostic(diagnostics, tfprotov6.DiagnosticSeverityError, words...)
}

func hasWarning(diagnostics []*tfprotov6.Diagnostic, words ...string) bool {
	return hasDiagnostic(diagnostics, tfprotov6.DiagnosticSeverityWarning, words...)
}

// hasDiagnostic reports whether one of the diagnostics has the severity and contains all the words.
func hasDiagnostic(
	diagnostics []*tfprotov6.Diagnostic, severity tfprotov6.DiagnosticSeverity, words ...string,
) bool {
	return slices.ContainsFunc(diagnostics, func(d *tfprotov6.Diagnostic) bool {
		return d.Severity == severity && containsAll(d.Summary+"\n"+d.Detail, words)
	})
}

func containsAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

func formatDiagnostics(diagnostics []*tfprotov6.Diagnostic) string {
	var lines []string
	for _, d := range diagnostics {
		lines = append(lines, d.Severity.String()+": "+d.Summary+": "+d.Detail)
	}
	return strings.Join(lines, "\n")
}

// callFunction calls a function that returns a string. An argument is a string, or nil for null.
func (p *plugin) callFunction(t *testing.T, name string, arguments ...any) (string, *tfprotov6.FunctionError) {
	t.Helper()
	var encoded []*tfprotov6.DynamicValue
	for _, argument := range arguments {
		value, err := tfprotov6.NewDynamicValue(tftypes.String, tftypes.NewValue(tftypes.String, argument))
		if err != nil {
			t.Fatal(err)
		}
		encoded = append(encoded, &value)
	}
	resp, err := p.server.CallFunction(t.Context(), &tfprotov6.CallFunctionRequest{Name: name, Arguments: encoded})
	if err != nil {
		t.Fatal(err)
	}
	if resp.Error != nil {
		return "", resp.Error
	}
	result, err := resp.Result.Unmarshal(tftypes.String)
	if err != nil {
		t.Fatal(err)
	}
	return goValue(t, result).(string), nil
}
