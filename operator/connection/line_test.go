package connection

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// door is a Line, and what came of it.
type door struct {
	*Line
	far     atomic.Int64 // how far away the next turn is
	mu      sync.Mutex
	called  []string
	tripped int
}

func newDoor(size int) *door {
	d := &door{}
	d.Line = &Line{
		size: size, waiting: map[types.NamespacedName]bool{}, ahead: func() time.Duration { return time.Duration(d.far.Load()) },
		call: d.note, trip: func() { d.tripped++ },
	}
	return d
}

func (d *door) note(who types.NamespacedName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.called = append(d.called, who.Name)
}

// enter tells who of several could enter. A name in capitals is urgent.
func (d *door) enter(names ...string) (in []string) {
	for _, name := range names {
		if d.Enter(types.NamespacedName{Name: name}, name < "a") {
			in = append(in, name)
		}
	}
	return in
}

func (d *door) wants(t *testing.T, called ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.called, called) {
		t.Errorf("called are %q, want %q", d.called, called)
	}
	d.called = nil
}

func TestLineCallsInOrder(t *testing.T) {
	t.Parallel()
	d := newDoor(2)
	if in := d.enter("a", "b", "c", "d", "d", "E"); !slices.Equal(in, []string{"a", "b"}) {
		t.Fatalf("%q entered a line for two", in)
	}
	d.wants(t)
	d.Leave(Answered)
	d.wants(t, "E") // it is urgent
	d.enter("E")
	d.Leave(Unused)
	d.wants(t, "c")
	d.enter("d") // by itself, before c came
	d.enter("c")
	d.Leave(Answered)
	d.wants(t, "c")
}

func TestLineWithoutSize(t *testing.T) {
	t.Parallel()
	d := newDoor(0)
	if in := d.enter("a", "b", "c"); len(in) != 3 {
		t.Errorf("%q entered a line for any number", in)
	}
}

// What fails is tried by one at a time, and soon by nobody; what works again is open to all.
func TestLineTrips(t *testing.T) {
	t.Parallel()
	d := newDoor(3)
	d.enter("a", "b", "c", "d", "e", "f", "g")
	for i, want := range []int{0, 0, 1} {
		d.Leave(Failed)
		if d.tripped != want {
			t.Errorf("tripped %d times after %d failures, want %d", d.tripped, i+1, want)
		}
	}
	d.wants(t, "d")
	if in := d.enter("d", "e"); !slices.Equal(in, []string{"d"}) {
		t.Errorf("%q entered while it has to be found out whether the connection works", in)
	}
	d.Leave(Unused)
	if d.tripped != 1 {
		t.Error("a pass that found out nothing tripped it")
	}
	d.wants(t, "e")
	d.enter("d")
	d.Leave(Failed)
	if d.tripped != 2 {
		t.Error("the next failure did not trip it again")
	}
	d.called = nil
	d.enter("d")
	d.Leave(Answered)
	if len(d.called) == 0 {
		t.Error("nobody is called when it works again")
	}
	if in := d.enter("x", "y", "z"); len(in) != 3 {
		t.Errorf("%q entered, want three again", in)
	}
}

// A turn that is far away is not waited for in the line: somebody is called when it is near.
func TestLineWaitsForTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(2)
		d.far.Store(int64(time.Minute))
		begin := time.Now()
		if in := d.enter("a", "b", "c"); in != nil {
			t.Errorf("%q entered, with a minute to wait", in)
		}
		<-time.After(30 * time.Second)
		d.wants(t)
		d.far.Store(0)
		<-time.After(31 * time.Second)
		d.wants(t, "a", "b")
		if in := d.enter("a", "b", "c"); !slices.Equal(in, []string{"a", "b"}) {
			t.Errorf("%q entered after %s", in, time.Since(begin))
		}
		d.far.Store(int64(900 * time.Millisecond))
		d.Leave(Answered)
		d.wants(t, "c") // a moment is waited for
	})
}

// A connection that failed stays out of use until it was looked at afterwards.
func TestTripped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, key := NewRegistry(), Key{Kind: "IdentityService", Namespace: "a", Name: "b"}
		var told []Key
		r.Tripped = func(k Key) { told = append(told, k) }
		nobodyListens, cancel := context.WithCancel(t.Context())
		cancel()
		put := func(looked time.Time) bool {
			r.Put(nobodyListens, key, Connection{Ready: true, Looked: looked})
			c, _ := r.Get(key)
			return c.Ready
		}
		looked := time.Now()
		if !put(looked) {
			t.Fatal("not Ready at first")
		}
		<-time.After(time.Second)
		c, _ := r.Get(key)
		for range tripAfter {
			c.Mandates.Enter(types.NamespacedName{Name: "m"}, true)
			c.Mandates.Leave(Failed)
		}
		if c, _ := r.Get(key); c.Ready || !slices.Equal(told, []Key{key}) {
			t.Errorf("after failures: Ready is %t, and told was %v", c.Ready, told)
		}
		if put(looked) {
			t.Error("Ready by a look from before the failures")
		}
		<-time.After(time.Second)
		if !put(time.Now()) {
			t.Error("not Ready by a later look")
		}
	})
}
