package engine_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
)

func mandate(name string, uid types.UID) *v1alpha1.Mandate {
	return &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: uid}}
}

func TestLocalState(t *testing.T) {
	t.Parallel()
	var state engine.LocalState[int]
	increment := func(n *int) { *n++ }
	acme := mandate("acme", "1")
	state.Update(acme, increment)
	if got := state.Update(acme, increment); got != 2 {
		t.Errorf("after two updates it is %d", got)
	}
	if got := state.Get(mandate("beta", "1")); got != 0 {
		t.Errorf("another object has %d", got)
	}
	successor := mandate("acme", "2")
	if got := state.Get(successor); got != 0 {
		t.Errorf("another object of the name has %d", got)
	}
	if got := state.Update(successor, increment); got != 1 {
		t.Errorf("another object of the name has %d after its first update", got)
	}
	if got := state.Get(acme); got != 0 {
		t.Errorf("the object that is gone has %d", got)
	}
	name := types.NamespacedName{Namespace: "team", Name: "acme"}
	if known := state.UpdateNamed(name, increment); !known || state.Get(successor) != 2 {
		t.Errorf("the object that has the name has %d after its second update, known %t", state.Get(successor), known)
	}
	state.Forget(name)
	if got := state.Get(successor); got != 0 {
		t.Errorf("what was forgotten is %d", got)
	}
	if known := state.UpdateNamed(name, increment); known || state.Get(successor) != 0 {
		t.Errorf("what was forgotten is %d after an update of its name, known %t", state.Get(successor), known)
	}
}

func TestFirstSeen(t *testing.T) {
	t.Parallel()
	var seen engine.FirstSeen
	start := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	seen.See("a", start)
	seen.See("a", start.Add(time.Minute))
	if !seen.Time.Equal(start) {
		t.Errorf("the attempt was first seen at %s", seen.Time)
	}
	seen.See("b", start.Add(time.Hour))
	if !seen.Time.Equal(start.Add(time.Hour)) {
		t.Errorf("the next attempt was first seen at %s", seen.Time)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	backoff := engine.Backoff{Min: time.Second, Max: 10 * time.Second}
	atMax := backoff.Max * 5 / 6
	for failures, shortest := range []time.Duration{
		time.Second, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, atMax, atMax,
	} {
		longest := min(shortest*6/5, backoff.Max)
		for range 100 {
			if got := backoff.After(failures); got < shortest || got > longest {
				t.Fatalf("after %d failures it is %s, want between %s and %s", failures, got, shortest, longest)
			}
		}
	}
	for range 100 {
		got := engine.RequeueBackoff.After(1_000_000)
		if got < engine.MaxRequeue*5/6 || got > engine.MaxRequeue {
			t.Fatalf("after a million failures it is %s", got)
		}
		if got := engine.JitterWithin(time.Hour); got < 50*time.Minute || got > time.Hour {
			t.Fatalf("%s is not within the hour", got)
		}
	}
	delay := engine.Jitter(time.Hour)
	if another := engine.Jitter(time.Hour); another == delay {
		t.Error("two delays are the same: there is no jitter")
	}
}
