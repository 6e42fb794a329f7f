package engine

import (
	"testing"
	"time"
)

// A namespace whose polls write all the time is delayed, and no other. Nothing is remembered of one that has its whole
// share again.
func TestStatusWrites(t *testing.T) {
	var writes StatusWrites
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for range statusWritesAtOnce - 1 {
		writes.Count("busy", now)
	}
	if d := writes.Delay("busy", now); d != 0 {
		t.Errorf("within its share it waits for %v", d)
	}
	const excess = 3 * statusWritesPerSecond
	for range 1 + excess {
		writes.Count("busy", now)
	}
	if d := writes.Delay("busy", now).Round(time.Second); d != 3*time.Second {
		t.Errorf("three seconds of writes above its share delay it by %v", d)
	}
	if d := writes.Delay("quiet", now); d != 0 {
		t.Errorf("another namespace waits for %v", d)
	}
	if d := writes.Delay("busy", now.Add(4*time.Second)); d != 0 {
		t.Errorf("four seconds later it waits for %v", d)
	}
	writes.Count("other", now.Add(time.Hour))
	if len(writes.shares) != 1 {
		t.Errorf("%d namespaces are remembered, want the one that has written lately", len(writes.shares))
	}
}
