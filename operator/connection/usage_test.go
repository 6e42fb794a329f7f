package connection

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// The time that an object waits is that until it takes a slot, however often it is woken up in vain or changes what it
// waits for.
func TestWaitingTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserved(1)
		var waited []time.Duration
		o.limiters.Acquired = func(_ Class, d time.Duration) { waited = append(waited, d) }
		a, b := types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"}
		acquire := func(object types.NamespacedName, class Class, want bool) {
			t.Helper()
			if got := o.TryAcquire(object, class, false); got != want {
				t.Fatalf("%s got a slot: %t", object.Name, got)
			}
		}
		acquire(a, Read, true)
		acquire(b, Read, false)
		elapse(time.Minute)
		acquire(b, Write, false)
		o.Await(b, Read, false)
		elapse(time.Minute)
		o.Release(a)
		o.rateLimitDelay.Store(int64(time.Minute))
		acquire(b, Read, false) // it was woken up
		elapse(time.Minute)
		o.rateLimitDelay.Store(0)
		o.followBreaker()
		acquire(b, Read, true)
		if want := []time.Duration{0, 3 * time.Minute}; !slices.Equal(waited, want) {
			t.Errorf("they waited %v, want %v", waited, want)
		}
	})
}

func TestUsage(t *testing.T) {
	r := NewRegistry(1)
	key := Key{Kind: "IdentityService", Namespace: "team", Name: "default"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody listens
	r.Put(ctx, key, Connection{Ready: true})
	c, _ := r.Get(key)
	for _, name := range []string{"a", "b", "c"} {
		c.Mandates.TryAcquire(types.NamespacedName{Name: name}, Write, true)
	}
	c.Actions.TryAcquire(types.NamespacedName{Name: "d"}, Write, true)
	want := Usage{
		Key: key, State: Closed, Mandates: SlotUsage{Used: 1, Waiting: 2}, Actions: SlotUsage{Used: 1},
	}
	if usage := r.Usage(); !slices.Equal(usage, []Usage{want}) {
		t.Errorf("the usage is %v, want %v", usage, want)
	}
}
