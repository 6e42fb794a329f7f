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

func (f *mandateReferenceFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "mandate_reference"
}

func (f *mandateReferenceFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "The reference that the Kubernetes operator gives a Mandate's application",
		MarkdownDescription: fmt.Sprintf("Gives the reference under which the service knows the application of a `Mandate` that does not set "+
			"`spec.reference`: prefix, namespace, a dot and name. What is longer than the service's %d characters ends in a hash of the whole. "+
			"It asks nobody: it works without a Mandate, a cluster or the service.", reference.MaxLength),
		Parameters: []function.Parameter{
			function.StringParameter{Name: "namespace", MarkdownDescription: "Namespace of the Mandate."},
			function.StringParameter{Name: "name", MarkdownDescription: "Name of the Mandate: its `metadata.name`, not `spec.name`."},
		},
		VariadicParameter: function.StringParameter{
			Name:                "prefix",
			MarkdownDescription: "`spec.referencePrefix` of the Mandate's `IdentityService`, if it has one. At most one.",
		},
		Return: function.StringReturn{},
	}
}

// What Kubernetes lets names be, and IdentityService its prefix: no Mandate has a reference made of anything else.
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
	switch {
	case len(namespace) > maxNamespace || !namespacePattern.MatchString(namespace):
		resp.Error = function.NewArgumentFuncError(0, fmt.Sprintf("namespace must be the name of a Kubernetes namespace: lower-case letters, "+
			"digits and -, beginning and ending with a letter or digit, 1 to %d characters. A prefix goes into a third argument.", maxNamespace))
	case len(name) > maxName || !namePattern.MatchString(name):
		resp.Error = function.NewArgumentFuncError(1, fmt.Sprintf("name must be the metadata.name of a Mandate: lower-case letters, digits, - and "+
			"., beginning and ending with a letter or digit, 1 to %d characters.", maxName))
	case len(prefixes) > 1:
		resp.Error = function.NewArgumentFuncError(3, "there is at most one prefix.")
	case len(prefixes) == 1:
		prefix = prefixes[0]
	}
	if utf8.RuneCountInString(prefix) > maxPrefix {
		resp.Error = function.NewArgumentFuncError(2, fmt.Sprintf("prefix must be the spec.referencePrefix of an IdentityService, which has at most %d "+
			"characters.", maxPrefix))
	}
	if resp.Error == nil {
		resp.Error = resp.Result.Set(ctx, reference.Mandate(prefix, namespace, name))
	}
}
