package explore

import (
	"fmt"
	"testing"
)

// walk searches a graph of numbers: what follows each, and what is wrong.
func walk(follows func(int) []int, wrong, unrested func(int) bool, limit int64) *Search[int] {
	says := func(is func(int) bool, n int) string {
		if is(n) {
			return fmt.Sprint("wrong: ", n)
		}
		return ""
	}
	x := &Search[int]{
		Moves: func(s *int, found func(int, string)) {
			for _, next := range follows(*s) {
				found(next, "")
			}
		},
		Hash:  func(s *int) uint64 { return uint64(*s) },
		Wrong: func(s *int) string { return says(wrong, *s) },
		Rest:  func(s int) (int, string) { return s, says(unrested, s) },
	}
	x.Run(0, limit)
	return x
}

func never(int) bool { return false }

// grid has a node for each pair of numbers below 300, each of which leads to the two that are greater by one.
func grid(n int) (follows []int) {
	if n%300 < 299 {
		follows = append(follows, n+1)
	}
	if n/300 < 299 {
		follows = append(follows, n+300)
	}
	return follows
}

func TestSearchFindsEveryState(t *testing.T) {
	x := walk(grid, never, never, 1_000_000)
	if x.States() != 300*300-1 || x.depth != 2*299 || x.rests != x.States() || x.Found() != nil {
		t.Errorf("%s; violation: %+v", x.Summary(now), x.Found())
	}
	if x := walk(grid, never, never, 1000); x.States() != 1000 {
		t.Errorf("of a thousand: %s", x.Summary(now))
	}
}

// TestSearchFindsTheFirst: whatever is wrong anywhere is found, and by the shortest way.
func TestSearchFindsTheFirst(t *testing.T) {
	for _, last := range []int{1, 300, 299*300 + 299, 150*300 + 7} {
		is := func(n int) bool { return n == last }
		for name, x := range map[string]*Search[int]{
			"wrong": walk(grid, is, never, 1_000_000), "not at rest": walk(grid, never, is, 1_000_000),
		} {
			if v := x.Found(); v == nil || v.State != last {
				t.Errorf("%s: of %d, the search finds %+v", name, last, v)
			}
		}
	}
	both := func(n int) bool { return n == 3 || n == 7*300+7 }
	if v := walk(grid, both, never, 1_000_000).Found(); v == nil || v.State != 3 {
		t.Errorf("of two, the search finds %+v first", v)
	}
}

func TestTrace(t *testing.T) {
	trace := NewTrace("begins").Then("goes on")
	trace.Then("goes astray")
	if got := trace.Then("ends").String(); got != "  0. begins\n  1. goes on\n  2. ends\n" {
		t.Errorf("the trace is\n%s", got)
	}
}
