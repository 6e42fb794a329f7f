package service

import (
	"context"
	"strconv"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// staleCache has one service, and no Mandates. It does not see what is written.
type staleCache struct {
	client.Reader
	service *v1alpha1.IdentityService
}

func (c staleCache) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	c.service.DeepCopyInto(into.(*v1alpha1.IdentityService))
	return nil
}

func (c staleCache) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// statusWriter counts the versions of a service whose status is written.
type statusWriter struct {
	client.SubResourceWriter
	versions int
}

func (w *statusWriter) Patch(
	_ context.Context, written client.Object, _ client.Patch, _ ...client.SubResourcePatchOption,
) error {
	w.versions++
	written.SetResourceVersion(strconv.Itoa(w.versions))
	return nil
}

// A status that the cache does not show yet is not written again, and what comes after it is.
func TestStaleCacheCostsNoWrite(t *testing.T) {
	t.Parallel()
	f, writer := newFixture(t), &statusWriter{}
	again := make(chan struct{}, 10)
	f.password("right")
	f.service.ResourceVersion = "0"
	f.config.Cache, f.config.Status = staleCache{service: f.service}, writer
	f.enqueue = func(connection.Key) { again <- struct{}{} }
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody listens to the registry
	reconcile := func(what string, writes int) {
		t.Helper()
		if _, err := f.Reconcile(ctx, testKey); err != nil || writer.versions != writes {
			t.Errorf("%s: %d writes, %v; want %d", what, writer.versions, err, writes)
		}
	}
	reconcile("the first probe begins", 0)
	<-again
	reconcile("it has ended", 1)
	for range 3 {
		reconcile("the cache is stale", 1)
	}
	f.service.ResourceVersion, f.service.Generation = "2", 2
	reconcile("the specification changes", 2)
	reconcile("the cache is stale once more", 2)
}
