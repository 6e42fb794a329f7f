package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// NewServer returns the constructor of a server of the plugin protocol.
func NewServer(version string) func() tfprotov6.ProviderServer {
	return func() tfprotov6.ProviderServer {
		framework := providerserver.NewProtocol6(New(version)())()
		if all, ok := framework.(frameworkServer); ok {
			return server{all}
		}
		return framework // of another version of the framework; only null arguments of functions fail on OpenTofu
	}
}

// frameworkServer has what the framework's server does beyond the least: tf6server asks for it by type.
type frameworkServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
}

type server struct{ frameworkServer }

// CallFunction implements tfprotov6.FunctionServer. OpenTofu 1.12 sends a null argument as a value without data, which
// the framework cannot decode.
func (s server) CallFunction(
	ctx context.Context, req *tfprotov6.CallFunctionRequest,
) (*tfprotov6.CallFunctionResponse, error) {
	const null = "\xc0" // in MessagePack
	for n, argument := range req.Arguments {
		if argument == nil || len(argument.MsgPack) == 0 && len(argument.JSON) == 0 {
			req.Arguments[n] = &tfprotov6.DynamicValue{MsgPack: []byte(null)}
		}
	}
	return s.frameworkServer.CallFunction(ctx, req)
}
