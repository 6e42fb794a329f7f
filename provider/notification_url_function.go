package provider

import (
	"context"
	"fmt"
	"net/url"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/receiver"
)

var _ function.Function = (*notificationURLFunction)(nil)

type notificationURLFunction struct{}

func newNotificationURLFunction() function.Function { return &notificationURLFunction{} }

func (f *notificationURLFunction) Metadata(
	_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse,
) {
	resp.Name = "notification_url"
}

func (f *notificationURLFunction) Definition(
	_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse,
) {
	resp.Definition = function.Definition{
		Summary: "Returns the URL of the operator's notification receiver",
		MarkdownDescription: "Returns the URL at which the Kubernetes operator receives notifications of the service: " +
			"`BASE/notifications/NAMESPACE/NAME/TOKEN`. The function needs no cluster and no service. The result is " +
			"sensitive if the token is sensitive, and ephemeral if the token is ephemeral.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name: "base",
				MarkdownDescription: "URL at which the service reaches the receiver: `spec.notifications.url` of the " +
					"`IdentityService`, such as `https://hooks.example.com`. A path is kept.",
			},
			function.StringParameter{
				Name:           "namespace",
				AllowNullValue: true,
				MarkdownDescription: "Namespace of the `IdentityService`. Pass `null` or `\"\"` for a " +
					"`ClusterIdentityService`, which has none; the URL then contains `-`.",
			},
			function.StringParameter{
				Name:                "name",
				MarkdownDescription: "Name of the `IdentityService` or `ClusterIdentityService`.",
			},
			function.StringParameter{
				Name:           "token",
				AllowNullValue: true,
				MarkdownDescription: "Token of the receiver, with at least 32 characters and no white space. Pass `null` " +
					"for a URL without a token, if the service can send the token in the header `Authorization: Bearer TOKEN`.",
			},
		},
		Return: function.StringReturn{},
	}
}

func (f *notificationURLFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var base, name string
	var namespace, token types.String
	if resp.Error = req.Arguments.Get(ctx, &base, &namespace, &name, &token); resp.Error != nil {
		return
	}
	problem := receiverBaseProblem(base)
	switch {
	case problem != "":
		resp.Error = function.NewArgumentFuncError(0, problem)
	case !isServiceNamespace(namespace.ValueString()):
		resp.Error = function.NewArgumentFuncError(1, fmt.Sprintf("namespace must be the name of a Kubernetes namespace: 1 "+
			"to %d lower-case letters, digits and -, with a letter or digit at both ends; or null for a "+
			"ClusterIdentityService.", maxNamespace))
	case len(name) > maxName || !namePattern.MatchString(name):
		resp.Error = function.NewArgumentFuncError(2, fmt.Sprintf("name must be the metadata.name of an IdentityService: 1 "+
			"to %d lower-case letters, digits, - and ., with a letter or digit at both ends.", maxName))
	case !token.IsNull() && !receiver.IsToken(token.ValueString()):
		resp.Error = function.NewArgumentFuncError(3, fmt.Sprintf("token must have at least %d characters, and no white "+
			"space or control characters. Use trimspace() for a token from a file.", receiver.MinTokenLength))
	default:
		path := receiver.Path(namespace.ValueString(), name)
		resp.Error = resp.Result.Set(ctx, receiver.URL(base, path, token.ValueString()))
	}
}

// receiverBaseProblem returns what is wrong with the base, or "".
func receiverBaseProblem(base string) string {
	parsed, err := url.Parse(base)
	switch {
	case err != nil || !isReceiverURL(base):
		return "base must be a URL such as https://hooks.example.com. Use http only on a loopback host, because the " +
			"service delivers personal data."
	case parsed.User != nil || parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "":
		return "base must have no user, query or fragment."
	default:
		return ""
	}
}

func isServiceNamespace(namespace string) bool {
	return namespace == "" || namespace == receiver.ClusterNamespace ||
		len(namespace) <= maxNamespace && namespacePattern.MatchString(namespace)
}
