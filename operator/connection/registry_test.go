package connection

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A connection whose circuit has opened is not Ready until a later probe.
func TestOpenCircuitStaysOpenUntilTheNextProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := NewRegistry(0)
		key := Key{Kind: "IdentityService", Namespace: "a", Name: "b"}
		var opened []Key
		r.OnOpen(func(k Key) { opened = append(opened, k) })
		nobodyListens, cancel := context.WithCancel(t.Context())
		cancel()
		put := func(probed time.Time) bool {
			r.Put(nobodyListens, key, Connection{Ready: true, Probed: probed})
			c, _ := r.Get(key)
			return c.Ready
		}
		probed := time.Now()
		if !put(probed) {
			t.Fatal("not Ready at first")
		}
		<-time.After(time.Second)
		c, _ := r.Get(key)
		for range failureThreshold {
			c.Mandates.TryAcquire(types.NamespacedName{Name: "m"}, true)
			c.Mandates.Release(Failed)
		}
		if c, _ := r.Get(key); c.Ready || !slices.Equal(opened, []Key{key}) {
			t.Errorf("after failures: Ready is %t, and OnOpen was called with %v", c.Ready, opened)
		}
		if put(probed) {
			t.Error("Ready by a probe from before the failures")
		}
		<-time.After(time.Second)
		if !put(time.Now()) {
			t.Error("not Ready by a later probe")
		}
	})
}
