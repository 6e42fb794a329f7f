package provider

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"golang.org/x/sync/singleflight"

	"github.com/mandate-io/idv/internal/client"
)

// connection is what one provider block gives to all that use it, for one run.
type connection struct {
	client *client.Client
	// problem is why there is no client. The first that needs the service reports it: it fails the run, and the others
	// go on without the service as well as they can.
	problem  diag.Diagnostic
	reported atomic.Bool
	// pending tells that the problem is only a value that Terraform does not know yet. A plan can do without it.
	pending bool

	fetching   singleflight.Group
	references atomic.Pointer[client.References]

	turns turns
}

// connectionOf takes what Configure handed out; nil while the provider is not configured, as in `terraform validate`.
func connectionOf(data any, diags *diag.Diagnostics) *connection {
	if data == nil {
		return nil
	}
	connection, ok := data.(*connection)
	if !ok {
		diags.AddError("Unexpected provider data", fmt.Sprintf("Got %T. This is a bug of the provider; please report it.", data))
	}
	return connection
}

// service gives the client, or nil. Why there is none is an error of the first that asks.
func (c *connection) service(diags *diag.Diagnostics) *client.Client {
	if c.problem != nil && !c.reported.Swap(true) {
		diags.Append(c.problem)
	}
	return c.client
}

// check reports the problem to the first plan that will need the service, unless it may be gone by the time of the apply.
func (c *connection) check(diags *diag.Diagnostics) {
	if !c.pending {
		c.service(diags)
	}
}

// refuse makes sure that something which cannot go on without the service has an error of its own.
func (c *connection) refuse(diags *diag.Diagnostics) {
	if !diags.HasError() {
		diags.Append(c.problem)
	}
}

// notKnownYet is the problem of an argument of the provider block that Terraform does not know yet.
func notKnownYet(argument string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root(argument), "The provider configuration is not known yet", fmt.Sprintf(
		"This has to ask the service now, but %[1]s of the provider block will be known only after apply. Apply what %[1]s "+
			"depends on first (with -target), or give the provider a value that is known.", argument))
}

// retrieveReferences reads the reference data once for all that ask.
func (c *connection) retrieveReferences(ctx context.Context, diags *diag.Diagnostics) *client.References {
	service := c.service(diags)
	if service == nil {
		return nil
	}
	_, err, _ := c.fetching.Do("", func() (any, error) {
		if c.references.Load() != nil {
			return nil, nil
		}
		references, err := service.RetrieveReferences(ctx)
		c.references.Store(references)
		return nil, err
	})
	if err != nil {
		addError(diags, "Cannot read the reference data", err)
		return nil
	}
	return c.references.Load()
}
