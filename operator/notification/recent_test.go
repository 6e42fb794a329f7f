package notification

import (
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/mandate-io/idv/operator/connection"
)

// However many connections there are, few have deliveries that are remembered: those with the latest ones.
func TestFewConnectionsAreRemembered(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	r := recentDeliveries{clock: clock}
	key := func(i int) connection.Key {
		return connection.Key{Kind: testKey.Kind, Namespace: testKey.Namespace, Name: fmt.Sprint(i)}
	}
	remember := func(i int) { r.remember(key(i), []int64{int64(i)}, nil, false) }
	for i := 1; i <= 3*maxRings; i++ {
		clock.SetTime(clock.Now().Add(time.Second))
		remember(i)
		remember(1) // which has a delivery again and again
	}
	if len(r.connections) != maxRings {
		t.Errorf("%d connections are remembered, want %d", len(r.connections), maxRings)
	}
	for i, want := range map[int]bool{1: true, 2: false, 2 * maxRings: false, 3*maxRings - 1: true, 3 * maxRings: true} {
		if got := r.contains(key(i), terms{application: int64(i)}); got != want {
			t.Errorf("connection %d is remembered: %t, want %t", i, got, want)
		}
	}
	clock.SetTime(clock.Now().Add(recentTTL))
	remember(4711)
	if len(r.connections) != 1 {
		t.Errorf("%d connections are remembered after %s, want the latest", len(r.connections), recentTTL)
	}
}
