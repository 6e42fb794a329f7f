package chaos_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// What a failure prints, PLAN takes.
func TestPlansAreRepeatable(t *testing.T) {
	t.Parallel()
	plans := singles()
	for seed := range uint64(50) {
		plans = append(plans, drawn(rand.New(rand.NewPCG(seed, 1)))...)
	}
	for _, p := range plans {
		if got, err := parsePlan(p.String()); err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s was read as %s (%v)", p, got, err)
		}
	}
	for _, text := range []string{"", "kill before", "kill: POST events #1", "kill before: POST events", "kill before: POST nothing #1"} {
		if p, err := parsePlan(text); err == nil {
			t.Errorf("%q was read as %s", text, p)
		}
	}
	one, again := drawn(rand.New(rand.NewPCG(7, 1))), drawn(rand.New(rand.NewPCG(7, 1)))
	if !reflect.DeepEqual(one, again) {
		t.Errorf("one seed gives %v, and %v", one, again)
	}
}

// Plans in one namespace must not touch each other, and none must be left out.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	plans := singles()
	placed := 0
	for i, namespace := range sideBySide(plans) {
		placed += len(namespace)
		seen := map[string]bool{}
		for _, p := range namespace {
			if seen[p.lane()] || p.lane() == everybody && len(namespace) > 1 {
				t.Errorf("namespace %d has %v", i, namespace)
			}
			seen[p.lane()] = true
		}
	}
	if placed != len(plans) {
		t.Errorf("%d of %d plans have a namespace", placed, len(plans))
	}
}
