// Package pluginserver works around two defects of the server of terraform-plugin-framework, for which no upstream
// issue is known: it keeps the contexts of requests (see withReleasedContext), and OpenTofu sends null arguments of
// functions as nothing (see CallFunction). To delete the first workaround, delete the other methods. To delete both,
// delete the package, and serve the framework itself.
package pluginserver

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// New returns a server of the plugin protocol.
func New(p provider.Provider) tfprotov6.ProviderServer {
	framework := providerserver.NewProtocol6(p)()
	if all, ok := framework.(frameworkServer); ok {
		return server{all}
	}
	return framework // of another version of the framework; only null arguments of functions fail on OpenTofu
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
	return withReleasedContext(ctx, req, s.frameworkServer.CallFunction)
}

func (s server) ValidateResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest,
) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return withReleasedContext(ctx, req, s.frameworkServer.ValidateResourceConfig)
}

func (s server) UpgradeResourceState(
	ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest,
) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return withReleasedContext(ctx, req, s.frameworkServer.UpgradeResourceState)
}

func (s server) UpgradeResourceIdentity(
	ctx context.Context, req *tfprotov6.UpgradeResourceIdentityRequest,
) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	return withReleasedContext(ctx, req, s.frameworkServer.UpgradeResourceIdentity)
}

func (s server) ReadResource(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, error) {
	return withReleasedContext(ctx, req, s.frameworkServer.ReadResource)
}

func (s server) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	return withReleasedContext(ctx, req, s.frameworkServer.PlanResourceChange)
}

func (s server) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return withReleasedContext(ctx, req, s.frameworkServer.ApplyResourceChange)
}

// withReleasedContext serves a request with a context that holds nothing once the request is answered.
//
// The framework (1.19) keeps the cancel function of every request until the CLI stops the provider, and that holds the
// context with the loggers and headers of the request: with 500 subscriptions, more than all else in memory.
func withReleasedContext[Q, R any](
	ctx context.Context, req Q, serve func(context.Context, Q) (R, error),
) (R, error) {
	released := &releasedContext{}
	released.inner.Store(&ctx)
	defer released.inner.Store(&ended)
	return serve(released, req)
}

// ended is the context of a request that was answered.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// releasedContext is a context that another one replaces at the end of a request.
type releasedContext struct {
	inner atomic.Pointer[context.Context]
}

func (c *releasedContext) context() context.Context { return *c.inner.Load() }

func (c *releasedContext) Deadline() (time.Time, bool) { return c.context().Deadline() }

func (c *releasedContext) Done() <-chan struct{} { return c.context().Done() }

func (c *releasedContext) Err() error { return c.context().Err() }

func (c *releasedContext) Value(key any) any { return c.context().Value(key) }
