package provider

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"golang.org/x/sync/singleflight"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/provider/webhookcache"
)

// connection is the provider data: what everything below one provider block shares during one run. Resources have none
// while the provider is not configured, as in `terraform validate`.
type connection struct {
	// client is nil while Terraform does not know unknownArgument of the provider block, as in a plan. The plan of a
	// create works without it.
	client          *client.Client
	unknownArgument string

	readReferences singleflight.Group
	references     *client.References

	// fieldNames maps the arguments of a subscription to the names that the service uses for them.
	fieldNames map[string]string

	locks webhookcache.Locks
	// managed, created and abandoned hold the subscriptions of the state, those that this run has created, and those that
	// it has removed from the state, by key.
	managed, created, abandoned sync.Map
	// read holds what this run has read from the state, by key.
	read sync.Map
	// replaces means that this run has created a subscription with ABANDON. If a destroy is planned after that, it is the
	// second half of a replacement with create_before_destroy: all others are planned before anything is created.
	replaces atomic.Bool
}

// serviceClient returns the client, or nil. Each caller without one gets the error: within a check block, it is only a
// warning, so the error of one caller may not fail the run.
func (c *connection) serviceClient(diags *diag.Diagnostics) *client.Client {
	if c.client == nil {
		diags.AddAttributeError(path.Root(c.unknownArgument), "Unknown provider argument", fmt.Sprintf(
			"The provider needs the service for this operation, but the argument `%[1]s` of the provider block is known "+
				"only after apply.\n\nSet `%[1]s` to a value that is known during the plan, or first apply the resources "+
				"that it depends on, with the option `-target`.", c.unknownArgument))
	}
	return c.client
}

// fetchReferences reads the reference data once for all data sources of the run.
func (c *connection) fetchReferences(ctx context.Context, diags *diag.Diagnostics) *client.References {
	service := c.serviceClient(diags)
	if service == nil {
		return nil
	}
	_, err, _ := c.readReferences.Do("", func() (_ any, err error) {
		if c.references == nil { // the group runs one function at a time
			c.references, err = service.RetrieveReferences(ctx)
		}
		return nil, err
	})
	if err != nil {
		diags.AddError("Cannot read the reference data", messageFilter{service: service}.errorDetail(err))
		return nil
	}
	return c.references
}

// retrieveWebhooks returns the webhooks of an application, and nil after an error.
func (c *connection) retrieveWebhooks(
	ctx context.Context, applicationID types.Int64, summary string, diags *diag.Diagnostics,
) *client.Webhooks {
	if diags.HasError() {
		return nil
	}
	service := c.serviceClient(diags)
	if service == nil {
		return nil
	}
	webhooks, err := service.RetrieveWebhook(ctx, applicationID.ValueInt64())
	switch {
	case client.IsNotFound(err): // a service may report in this way that there is no webhook
		return &client.Webhooks{Complete: true}
	case err != nil:
		diags.AddError(summary, errorDetail(err))
		return nil
	}
	return webhooks
}

// acquire waits for the lock of an application. It returns false if the context ends first.
func (c *connection) acquire(ctx context.Context, application types.Int64) (*webhookcache.Lock, bool) {
	return c.locks.Acquire(ctx, webhookcache.Cache{
		Service: c.client, ApplicationID: application.ValueInt64(), URLField: cmp.Or(c.fieldNames["url"], "url"),
	})
}

// complete gives a subscription the field names, if there is one.
func (c *connection) complete(m *subscriptionModel) {
	if m != nil && c != nil {
		m.fieldNames = c.fieldNames
	}
}

// setManaged records that a subscription is in the state of this run. The plan of its replacement finds it, which is no
// error.
func (c *connection) setManaged(m *subscriptionModel) {
	if m.isIdentified() && c != nil {
		c.managed.Store(m.key(), true)
	}
}
