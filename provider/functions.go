package provider

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/provider/webhookcache"
)

// providerFunction is what all functions have.
type providerFunction struct {
	name       string
	definition function.Definition
	run        func(context.Context, function.RunRequest, *function.RunResponse)
}

func (f *providerFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = f.name
}

func (f *providerFunction) Definition(
	_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse,
) {
	resp.Definition = f.definition
}

func (f *providerFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	f.run(ctx, req, resp)
}

// What the errors of more than one function say, and what completes it.
var (
	namespaceRule = fmt.Sprintf("namespace must be the name of a Kubernetes namespace: 1 to %d lower-case letters, "+
		"digits and -, with a letter or digit at both ends", reference.MaxNamespace)
	nameRule = fmt.Sprintf(": 1 to %d lower-case letters, digits, - and ., with a letter or digit at both ends.",
		reference.MaxName)
)

func newMandateReferenceFunction() function.Function {
	return &providerFunction{name: "mandate_reference", run: mandateReference, definition: function.Definition{
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
			MarkdownDescription: "Value of `spec.referencePrefix` in the Mandate's `IdentityService`, if it is set; at " +
				"most one.",
		},
		Return: function.StringReturn{},
	}}
}

func mandateReference(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var namespace, name string
	var prefixes []string
	if resp.Error = req.Arguments.Get(ctx, &namespace, &name, &prefixes); resp.Error != nil {
		return
	}
	prefix := strings.Join(prefixes, "") // at most one
	switch {
	case !reference.IsNamespace(namespace):
		resp.Error = function.NewArgumentFuncError(0, namespaceRule+". Pass a prefix as the third argument.")
	case !reference.IsName(name):
		resp.Error = function.NewArgumentFuncError(1, "name must be the metadata.name of a Mandate"+nameRule)
	case len(prefixes) > 1:
		resp.Error = function.NewArgumentFuncError(3, "at most one prefix is allowed.")
	case utf8.RuneCountInString(prefix) > reference.MaxPrefix:
		resp.Error = function.NewArgumentFuncError(2, fmt.Sprintf("prefix must be the spec.referencePrefix of an "+
			"IdentityService, which has at most %d characters.", reference.MaxPrefix))
	default:
		resp.Error = resp.Result.Set(ctx, reference.Mandate(prefix, namespace, name))
	}
}

func newNotificationURLFunction() function.Function {
	return &providerFunction{name: "notification_url", run: notificationURL, definition: function.Definition{
		Summary: "Returns the URL of the operator's notification receiver",
		MarkdownDescription: "Returns the URL at which the Kubernetes operator receives notifications of the service: " +
			"`BASE/notifications/NAMESPACE/NAME/TOKEN`. The function needs no cluster and no service. The result is " +
			"sensitive if the token is sensitive, and ephemeral if the token is ephemeral.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name: "base",
				MarkdownDescription: "URL at which the service reaches the receiver: `spec.notifications.url` of the " +
					"`IdentityService`, such as `https://hooks.example.com/path`.",
			},
			function.StringParameter{
				Name:           "namespace",
				AllowNullValue: true,
				MarkdownDescription: "Namespace of the `IdentityService`; `null` or `\"\"` for a " +
					"`ClusterIdentityService`, which has none.",
			},
			function.StringParameter{
				Name:                "name",
				MarkdownDescription: "Name of the `IdentityService` or `ClusterIdentityService`.",
			},
			function.StringParameter{
				Name:           "token",
				AllowNullValue: true,
				MarkdownDescription: "Token of the receiver, with at least 32 characters and no white space; `null` " +
					"for a URL without one, if the service can send it in the header `Authorization: Bearer TOKEN`.",
			},
		},
		Return: function.StringReturn{},
	}}
}

func notificationURL(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var base, name string
	var namespace, token types.String
	if resp.Error = req.Arguments.Get(ctx, &base, &namespace, &name, &token); resp.Error != nil {
		return
	}
	parsed, _ := url.Parse(base)
	isClusterWide := slices.Contains([]string{"", receiver.ClusterNamespace}, namespace.ValueString())
	switch {
	case !isReceiverURL(base):
		resp.Error = function.NewArgumentFuncError(0, "base must be a URL such as https://hooks.example.com. Use http only "+
			"on a loopback host, because the service delivers personal data.")
	case parsed.User != nil || parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "":
		resp.Error = function.NewArgumentFuncError(0, "base must have no user, query or fragment.")
	case !isClusterWide && !reference.IsNamespace(namespace.ValueString()):
		resp.Error = function.NewArgumentFuncError(1, namespaceRule+"; or null for a ClusterIdentityService.")
	case !reference.IsName(name):
		resp.Error = function.NewArgumentFuncError(2, "name must be the metadata.name of an IdentityService"+nameRule)
	case !token.IsNull() && !receiver.IsToken(token.ValueString()):
		resp.Error = function.NewArgumentFuncError(3, fmt.Sprintf("token must have at least %d characters, and no white "+
			"space or control characters. Use trimspace() for a token from a file.", receiver.MinTokenLength))
	default:
		path := receiver.Path(namespace.ValueString(), name)
		resp.Error = resp.Result.Set(ctx, receiver.URL(base, path, token.ValueString()))
	}
}

func newURLSHA256Function() function.Function {
	return &providerFunction{name: "url_sha256", run: urlSHA256, definition: function.Definition{
		Summary: "Returns the digest of a URL in the ID of a webhook subscription",
		MarkdownDescription: "Returns the SHA-256 of a URL as 64 hexadecimal digits, for the import of an " +
			"`idv_webhook_subscription`. All forms of a URL that RFC 3986 (6.2) makes equal have the same digest.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "url", MarkdownDescription: "URL that the service delivers to."},
		},
		Return: function.StringReturn{},
	}}
}

func urlSHA256(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var url string
	if resp.Error = req.Arguments.Get(ctx, &url); resp.Error != nil {
		return
	}
	if !isReceiverURL(url) {
		resp.Error = function.NewArgumentFuncError(0, "url must "+receiverURLValidator.requirement+".")
		return
	}
	resp.Error = resp.Result.Set(ctx, webhookcache.URLDigest(url))
}
