package notification

import (
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/mandate-io/idv/operator/connection"
)

// However many connections have however many deliveries, few are remembered, and one connection costs no other its own.
func TestRecentDeliveriesAreBounded(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	r := recentDeliveries{clock: clock}
	key := func(i int) connection.Key {
		return connection.Key{Kind: testKey.Kind, Namespace: testKey.Namespace, Name: fmt.Sprint(i)}
	}
	const floods, others = 40, 1000
	for i := range others {
		r.remember(key(floods+i), []int64{4711}, nil)
	}
	for i := range floods {
		for id := range 2 * maxRecent {
			r.remember(key(i), []int64{int64(id + 1)}, nil)
		}
		clock.SetTime(clock.Now().Add(time.Second))
	}
	if count := r.count(); count > 2*maxRecentInAll {
		t.Errorf("%d deliveries are remembered, want %d at most", count, 2*maxRecentInAll)
	}
	for i := range others {
		if !r.contains(key(floods+i), terms{application: 4711}) {
			t.Fatal("the delivery of another connection is forgotten")
		}
	}
	clock.SetTime(clock.Now().Add(recentTTL))
	for id := range maxRecentInAll {
		r.remember(key(id%floods), []int64{1}, nil)
	}
	r.remember(key(-1), []int64{1}, nil)
	if count := r.count(); len(r.connections) > floods+1 || count > maxRecentInAll {
		t.Errorf("%d connections have %d deliveries", len(r.connections), count)
	}
}

func (r *recentDeliveries) count() (all int) {
	for _, of := range r.connections {
		all += len(of)
	}
	return all
}
