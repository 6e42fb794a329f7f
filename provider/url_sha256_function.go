package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
)

var _ function.Function = (*urlSHA256Function)(nil)

type urlSHA256Function struct{}

func newURLSHA256Function() function.Function { return &urlSHA256Function{} }

func (f *urlSHA256Function) Metadata(
	_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse,
) {
	resp.Name = "url_sha256"
}

func (f *urlSHA256Function) Definition(
	_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse,
) {
	resp.Definition = function.Definition{
		Summary: "Returns the digest of a URL in the ID of a webhook subscription",
		MarkdownDescription: "Returns the SHA-256 of a URL as 64 hexadecimal digits, for the import of an " +
			"`idv_webhook_subscription`. All forms of a URL that RFC 3986 (6.2) makes equal have the same digest.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "url", MarkdownDescription: "URL that the service delivers to."},
		},
		Return: function.StringReturn{},
	}
}

func (f *urlSHA256Function) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var url string
	if resp.Error = req.Arguments.Get(ctx, &url); resp.Error != nil {
		return
	}
	if !isReceiverURL(url) {
		resp.Error = function.NewArgumentFuncError(0, "url must "+receiverURLValidator.requirement+".")
		return
	}
	resp.Error = resp.Result.Set(ctx, urlSHA256(url))
}
