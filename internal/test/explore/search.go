// Package explore is for tests that walk every state which a controller, its environment and its users can reach. It
// has what such tests share: the search, the hash of a state, one step of a real reconciliation, and the guards that
// are switched off.
package explore

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// restEvery: above RestAll, one in so many states is brought to rest.
const restEvery = 20

// Search walks all states breadth first, so that the first violation has the shortest trace.
type Search[S any] struct {
	// Moves finds everything that can happen next, and what is wrong with it.
	Moves func(s *S, found func(after S, wrong string))
	// Hash of a state. Two states of one hash are the same.
	Hash func(s *S) uint64
	// Wrong holds a state to what must be so in every state; "" if it is.
	Wrong func(s *S) string
	// Rest brings a state to rest, and says what is wrong then.
	Rest func(s S) (S, string)
	// RestAll is how many states are all brought to rest, where that takes long; 0: every state.
	RestAll int64
	// Deep is how many times as many states are explored as in other scenarios: what is looked for comes late. 0: as many.
	Deep int64

	visited                    map[uint64]struct{}
	states, transitions, rests int64
	depth                      int
	found                      *Violation[S]
}

// Violation is a state that must not be.
type Violation[S any] struct {
	State S
	What  string
}

// Found is the first violation, or nil.
func (x *Search[S]) Found() *Violation[S] { return x.found }

// States is how many states were found.
func (x *Search[S]) States() int64 { return x.states }

// Run continues until there is no new state, a violation is found, or there are enough states. It reports whether that
// was all. It finds the same states in the same order every time: a violation always needs the same number of states.
func (x *Search[S]) Run(start S, limit int64) (complete bool) {
	x.visited = map[uint64]struct{}{}
	frontier := []S{start}
	for len(frontier) > 0 && x.found == nil && x.states < limit {
		var next []S
		for part := range slices.Chunk(frontier, 64) {
			if x.found == nil && x.states < limit {
				next = append(next, x.expand(part, limit)...)
			}
		}
		if frontier = next; len(next) > 0 {
			x.depth++
		}
	}
	return len(frontier) == 0
}

// reached is a state that follows another one, or what is wrong with how it does. number says how many were found
// before and with it.
type reached[S any] struct {
	state  S
	wrong  string
	number int64
}

// expand gives the states that follow some others and are new. What takes long is done in parallel; what is counted is
// counted in order.
func (x *Search[S]) expand(from []S, limit int64) (states []S) {
	follows := inParallel(from, func(s *S) (all []reached[S]) {
		x.Moves(s, func(after S, wrong string) { all = append(all, reached[S]{state: after, wrong: wrong}) })
		return all
	})
	var added []reached[S]
	for _, r := range slices.Concat(follows...) {
		if x.found != nil || x.states >= limit {
			break
		}
		x.transitions++
		switch {
		case r.wrong != "":
			x.found = &Violation[S]{r.state, r.wrong}
		case x.isNew(&r.state):
			x.states++
			r.number = x.states
			added = append(added, r)
		}
	}
	for i, wrong := range inParallel(added, x.check) {
		if wrong != nil {
			x.found, x.states = wrong, added[i].number
			break
		}
		if x.rest(added[i].number) {
			x.rests++
		}
		states = append(states, added[i].state)
	}
	return states
}

// isNew reports whether a state has not been seen.
func (x *Search[S]) isNew(s *S) bool {
	h := x.Hash(s)
	_, seen := x.visited[h]
	x.visited[h] = struct{}{}
	return !seen
}

// check says what is wrong with a state, or with how it comes to rest; nil if nothing is.
func (x *Search[S]) check(r *reached[S]) *Violation[S] {
	if wrong := x.Wrong(&r.state); wrong != "" {
		return &Violation[S]{r.state, wrong}
	}
	if !x.rest(r.number) {
		return nil
	}
	last, wrong := x.Rest(r.state)
	if wrong == "" {
		return nil
	}
	return &Violation[S]{last, wrong}
}

// rest reports whether a state is brought to rest.
func (x *Search[S]) rest(number int64) bool {
	return x.RestAll == 0 || number <= x.RestAll || number%restEvery == 0
}

// inParallel gives what work makes of each, in their order.
func inParallel[T, R any](all []T, work func(*T) R) []R {
	results := make([]R, len(all))
	var started atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		group.Go(func() {
			for i := started.Add(1) - 1; i < int64(len(all)); i = started.Add(1) - 1 {
				results[i] = work(&all[i])
			}
		})
	}
	group.Wait()
	return results
}

// Summary is a line of figures.
func (x *Search[S]) Summary(start time.Time) string {
	return fmt.Sprintf("%d states, %d transitions, %d brought to rest, depth %d, %.1f s",
		x.states, x.transitions, x.rests, x.depth, time.Since(start).Seconds())
}

// Trace leads back to the beginning.
type Trace struct {
	before *Trace
	what   string
	depth  int
}

// NewTrace is a trace with its first entry.
func NewTrace(what string) *Trace { return &Trace{what: what} }

// Then is the trace after one more thing has happened.
func (t *Trace) Then(what string) *Trace { return &Trace{t, what, t.depth + 1} }

// String is a story: what happened, one line each.
func (t *Trace) String() string {
	lines := make([]string, t.depth+1)
	for at := t; at != nil; at = at.before {
		lines[at.depth] = fmt.Sprintf("%3d. %s\n", at.depth, at.what)
	}
	return strings.Join(lines, "")
}
