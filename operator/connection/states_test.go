package connection

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// The controller of services hears of each name once, and of none more than a status shows.
func TestSeeState(t *testing.T) {
	t.Parallel()
	r, key := NewRegistry(0), Key{Name: "default"}
	told := 0
	r.ServiceChanged = func(Key) { told++ }
	first := time.Now()
	for i := range 3 {
		r.SeeState(key, "created", first.Add(time.Duration(i)*time.Second))
		r.SeeState(key, "", first)
	}
	if got := r.States(key); told != 1 || len(got) != 1 || !got["created"].Equal(first.Add(2*time.Second)) {
		t.Errorf("told %d times of %v", told, got)
	}
	for i := range 2 * MaxStates {
		r.SeeState(key, fmt.Sprint(i), first.Add(time.Duration(i+3)*time.Second))
	}
	got := r.States(key)
	if _, kept := got["created"]; told != MaxStates || len(got) != MaxStates || kept || got["99"].IsZero() {
		t.Errorf("told %d times of %v", told, got)
	}
	nobodyListens, cancel := context.WithCancel(t.Context())
	cancel()
	r.Remove(nobodyListens, key)
	if len(r.States(key)) != 0 {
		t.Error("the names of a connection that was removed are kept")
	}
}
