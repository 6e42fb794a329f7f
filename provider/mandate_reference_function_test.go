package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mandate-io/idv/internal/reference"
)

// mandateReference calls the function over the plugin protocol.
func (p *plugin) mandateReference(t *testing.T, arguments ...any) (string, *tfprotov6.FunctionError) {
	t.Helper()
	return p.callFunction(t, "mandate_reference", arguments...)
}

// For every name that Kubernetes accepts, the function returns exactly the operator's reference.
func TestMandateReference(t *testing.T) {
	p := newPlugin(t, newService(t).url)
	long, dotted := strings.Repeat("n", 63), strings.Repeat("m.", 126)+"m"
	for name, test := range map[string]struct{ namespace, name, prefix string }{
		"short":                 {"onboarding", "acme", ""},
		"with dots":             {"team-a", "acme.2026.eu", ""},
		"with a prefix":         {"team-a", "acme", "eu/"},
		"a prefix beyond ASCII": {"team-a", "acme", strings.Repeat("é", 50)},
		"as long as it may be":  {"n", strings.Repeat("m", reference.MaxLength-2), ""},
		"one too long":          {"n", strings.Repeat("m", reference.MaxLength-1), ""},
		"both at their limits":  {long, dotted, ""},
		"all at their limits":   {long, dotted, strings.Repeat("p", 50)},
	} {
		arguments := []any{test.namespace, test.name}
		if test.prefix != "" {
			arguments = append(arguments, test.prefix)
		}
		got, failure := p.mandateReference(t, arguments...)
		if want := reference.Mandate(test.prefix, test.namespace, test.name); failure != nil || got != want {
			t.Errorf("%s: want %q, got %q, %+v", name, want, got, failure)
		}
		if n := len([]rune(got)); n > reference.MaxLength {
			t.Errorf("%s: it has %d characters", name, n)
		}
	}
	if empty, _ := p.mandateReference(t, "team-a", "acme", ""); empty != "team-a.acme" {
		t.Errorf("an empty prefix is none, got %q", empty)
	}
}

// A name that no Mandate can have is an error, so that a typing error does not become a reference that does not exist.
func TestMandateReferenceErrors(t *testing.T) {
	p := newPlugin(t, newService(t).url)
	for name, test := range map[string]struct {
		arguments []any
		argument  int64
		want      string
	}{
		"no namespace":              {[]any{"", "acme"}, 0, "namespace"},
		"a prefix in the namespace": {[]any{"eu/team-a", "acme"}, 0, "third argument"},
		"a namespace with a dot":    {[]any{"team.a", "acme"}, 0, "namespace"},
		"a long namespace":          {[]any{strings.Repeat("n", 64), "acme"}, 0, "63"},
		"no name":                   {[]any{"team-a", ""}, 1, "name"},
		"upper case":                {[]any{"team-a", "Acme"}, 1, "metadata.name"},
		"a long name":               {[]any{"team-a", strings.Repeat("m", 254)}, 1, "253"},
		"a long prefix":             {[]any{"team-a", "acme", strings.Repeat("é", 51)}, 2, "50"},
		"two prefixes":              {[]any{"team-a", "acme", "eu-", "us-"}, 3, "one prefix"},
	} {
		got, failure := p.mandateReference(t, test.arguments...)
		if failure == nil || !strings.Contains(failure.Text, test.want) ||
			failure.FunctionArgument == nil || *failure.FunctionArgument != test.argument {
			t.Errorf("%s: want an error of argument %d with %q, got %q, %+v", name, test.argument, test.want, got, failure)
		}
	}
}

func TestMandateReferenceOnTheCLIs(t *testing.T) {
	t.Parallel()
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.inProcess(t, "")
		// The function needs no provider configuration.
		w.configure(t, `
			locals { long = join("", [for i in range(25) : "0123456789"]) }
			output "short" { value = provider::idv::mandate_reference("team-a", "acme") }
			output "long" { value = provider::idv::mandate_reference("team-a", local.long, "eu-") }`)
		w.must(t, "apply", "-auto-approve")
		output := w.must(t, "output", "-json").output
		for _, want := range []string{"team-a.acme", reference.Mandate("eu-", "team-a", strings.Repeat("0123456789", 25))} {
			if !strings.Contains(output, fmt.Sprintf("%q", want)) {
				t.Errorf("want %q in %s", want, output)
			}
		}
		w.configure(t, `output "wrong" { value = provider::idv::mandate_reference("team-a", "Acme") }`)
		if r := w.run(t, "plan"); len(r.errors) != 1 || !has(r.errors, "metadata.name") {
			t.Errorf("want one error, got %+v", r.errors)
		}
	})
}
