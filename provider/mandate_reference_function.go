package provider

import (
	"context"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/mandate-io/idv/internal/reference"
)

var _ function.Function = (*mandateReferenceFunction)(nil)

type mandateReferenceFunction struct{}

func newMandateReferenceFunction() function.Function { return &mandateReferenceFunction{} }

func (f *mandateReferenceFunction) Metadata(
	_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse,
) {
	resp.Name = "mandate_reference"
}

func (f *mandateReferenceFunction) Definition(
	_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse,
) {
	resp.Definition = function.Definition{
		Summary: "Returns the reference of a Mandate's application",
		MarkdownDescription: fmt.Sprintf("Returns the reference that the Kubernetes operator gives the application of a "+
			"`Mandate` without `spec.reference`: prefix, namespace, a dot and name. A reference longer than the "+
			"service's %d characters is shortened and ends in a hash of the whole. The function needs no Mandate, no "+
			"cluster and no service.", reference.MaxLength),
		Parameters: []function.Parameter{
			function.StringParameter{Name: "namespace", MarkdownDescription: "Namespace of the Mandate."},
			function.StringParameter{
				Name:                "name",
				MarkdownDescription: "Name of the Mandate: its `metadata.name`, not its `spec.name`.",
			},
		},
		VariadicParameter: function.StringParameter{
			Name: "prefix",
			MarkdownDescription: "Value of `spec.referencePrefix` in the Mandate's `IdentityService`, if it is set. At " +
				"most one prefix is allowed.",
		},
		Return: function.StringReturn{},
	}
}

// The limits of Kubernetes for names, and of IdentityService for its prefix. No Mandate has a reference beyond them.
const (
	maxNamespace = 63
	maxName      = 253
	maxPrefix    = 50
)

var (
	namespacePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	namePattern      = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

func (f *mandateReferenceFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var namespace, name string
	var prefixes []string
	if resp.Error = req.Arguments.Get(ctx, &namespace, &name, &prefixes); resp.Error != nil {
		return
	}
	prefix := ""
	if len(prefixes) > 0 {
		prefix = prefixes[0]
	}
	if resp.Error = validateReferenceArguments(namespace, name, prefixes); resp.Error == nil {
		resp.Error = resp.Result.Set(ctx, reference.Mandate(prefix, namespace, name))
	}
}

func validateReferenceArguments(namespace, name string, prefixes []string) *function.FuncError {
	switch {
	case len(namespace) > maxNamespace || !namespacePattern.MatchString(namespace):
		return function.NewArgumentFuncError(0, fmt.Sprintf("namespace must be the name of a Kubernetes namespace: 1 to "+
			"%d lower-case letters, digits and -, with a letter or digit at both ends. Pass a prefix as the third "+
			"argument.", maxNamespace))
	case len(name) > maxName || !namePattern.MatchString(name):
		return function.NewArgumentFuncError(1, fmt.Sprintf("name must be the metadata.name of a Mandate: 1 to %d "+
			"lower-case letters, digits, - and ., with a letter or digit at both ends.", maxName))
	case len(prefixes) > 1:
		return function.NewArgumentFuncError(3, "at most one prefix is allowed.")
	case len(prefixes) == 1 && utf8.RuneCountInString(prefixes[0]) > maxPrefix:
		return function.NewArgumentFuncError(2, fmt.Sprintf("prefix must be the spec.referencePrefix of an "+
			"IdentityService, which has at most %d characters.", maxPrefix))
	}
	return nil
}
