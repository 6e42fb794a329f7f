package provider

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"golang.org/x/sync/singleflight"

	"github.com/mandate-io/idv/internal/client"
)

// connection is what one provider block gives to all that use it, for one run.
type connection struct {
	client *client.Client
	// unknown is the argument of the provider block that Terraform does not know yet; then there is no client.
	unknown string
	// problem is why there is no client otherwise.
	problem  diag.Diagnostic
	reported atomic.Bool

	fetching   singleflight.Group
	references atomic.Pointer[client.References]

	creating keyedLocks
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

// service gives the client, or nil. Why there is none is an error of the first that asks; it fails the run, and the
// others are to go on without the service as well as they can.
func (c *connection) service(diags *diag.Diagnostics) *client.Client {
	c.check(diags)
	if c.unknown != "" {
		diags.AddAttributeError(path.Root(c.unknown), "The provider configuration is not known yet", fmt.Sprintf(
			"This has to ask the service now, but %[1]s of the provider block will be known only after apply. Apply what %[1]s "+
				"depends on first (with -target), or give the provider a value that is known.", c.unknown))
	}
	return c.client
}

// check reports the connection's problem to the first that asks. Plans that will need the service do it.
func (c *connection) check(diags *diag.Diagnostics) {
	if c.problem != nil && !c.reported.Swap(true) {
		diags.Append(c.problem)
	}
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

// keyedLocks are locks by key. There is one for every application that has subscriptions in the configuration, too few
// to be worth taking away again.
type keyedLocks struct {
	mu    sync.Mutex
	locks map[int64]*sync.Mutex
}

// lock waits for the key's lock and gives what unlocks it.
func (l *keyedLocks) lock(key int64) (unlock func()) {
	l.mu.Lock()
	if l.locks == nil {
		l.locks = map[int64]*sync.Mutex{}
	}
	if l.locks[key] == nil {
		l.locks[key] = &sync.Mutex{}
	}
	lock := l.locks[key]
	l.mu.Unlock()
	lock.Lock()
	return lock.Unlock
}
