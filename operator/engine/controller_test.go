package engine_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// A poll that is woken up keeps its low priority, and an urgent object its normal one.
func TestWakeupsKeepPriorities(t *testing.T) {
	t.Parallel()
	queue := priorityqueue.New[reconcile.Request]("test")
	defer queue.ShutDown()
	registry := connection.NewRegistry(1)
	if err := engine.Wakeups(registry.Mandates).Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	nobodyListens, cancel := context.WithCancel(t.Context())
	cancel()
	key := connection.Key{Kind: "IdentityService", Name: "default"}
	registry.Put(nobodyListens, key, connection.Connection{Ready: true})
	limiter := func() *connection.ConcurrencyLimiter {
		c, _ := registry.Get(key)
		return c.Mandates
	}()
	poll, create := types.NamespacedName{Name: "poll"}, types.NamespacedName{Name: "create"}
	holder := types.NamespacedName{Name: "first"}
	if !limiter.TryAcquire(holder, connection.Read, false) ||
		limiter.TryAcquire(poll, connection.Read, false) || limiter.TryAcquire(create, connection.Write, true) {
		t.Fatal("there is not exactly one slot")
	}
	for _, want := range []struct {
		object   types.NamespacedName
		priority int
		class    connection.Class
	}{{create, 0, connection.Write}, {poll, handler.LowPriority, connection.Read}} {
		limiter.Release(holder)
		holder = want.object
		request, priority, _ := queue.GetWithPriority()
		if request.NamespacedName != want.object || priority != want.priority {
			t.Errorf("%s was woken up with priority %d, want %+v", request, priority, want)
		}
		if !limiter.TryAcquire(want.object, want.class, want.priority == 0) {
			t.Errorf("%s got no slot", want.object)
		}
	}
}
