package notification

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mandate-io/idv/operator/connection"
)

// However many connections have however many deliveries, few ids are remembered, and one connection costs no other its
// own.
func TestUnknownIDsAreBounded(t *testing.T) {
	synctest.Test(t, unknownIDsAreBounded)
}

func unknownIDsAreBounded(t *testing.T) {
	x := NewIndex()
	key := func(i int) connection.Key {
		return connection.Key{Kind: testKey.Kind, Namespace: testKey.Namespace, Name: fmt.Sprint(i)}
	}
	const floods, others = 40, 1000
	for i := range others {
		x.remember(key(floods+i), []int64{4711}, nil)
	}
	for i := range floods {
		for id := range 2 * maxUnknown {
			x.remember(key(i), []int64{int64(id + 1)}, nil)
		}
		<-time.After(time.Second)
	}
	if count := x.count(); count > 2*maxUnknownInAll {
		t.Errorf("%d ids are remembered, want %d at most", count, 2*maxUnknownInAll)
	}
	for i := range others {
		if !x.remembers(key(floods+i), 4711) {
			t.Fatal("the delivery of another connection is forgotten")
		}
	}
	<-time.After(unknownTTL)
	for id := range maxUnknownInAll {
		x.remember(key(id%floods), []int64{int64(id + 1)}, nil)
	}
	x.remember(key(-1), []int64{1}, nil)
	if count := x.count(); len(x.unknown) > floods+1 || count > maxUnknownInAll {
		t.Errorf("%d connections have %d ids", len(x.unknown), count)
	}
}

func (x *Index) count() (all int) {
	for _, of := range x.unknown {
		all += len(of)
	}
	return all
}
