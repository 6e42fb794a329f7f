// Package explore is for tests that walk every state which a controller, its environment and its users can reach. It
// has what such tests share: the search, the hash of a state, one step of a real reconciliation, and the guards that
// are switched off.
package explore

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// faultFreeEvery is how many states there are to one that is brought to rest.
const faultFreeEvery = 200

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

	visited [64]struct {
		sync.Mutex
		states map[uint64]struct{}
	}
	states, transitions, faultFreeRuns atomic.Int64
	depth                              int
	found                              atomic.Pointer[Violation[S]]
}

// Violation is a state that must not be.
type Violation[S any] struct {
	State S
	What  string
}

// Found is the first violation, or nil.
func (x *Search[S]) Found() *Violation[S] { return x.found.Load() }

// States is how many states were found.
func (x *Search[S]) States() int64 { return x.states.Load() }

// Run continues until there is no new state, a violation is found, or there are enough states. It reports whether that
// was all.
func (x *Search[S]) Run(start S, limit int64) (complete bool) {
	frontier := x.expandAll([]S{start}, limit)
	for len(frontier) > 0 && x.found.Load() == nil && x.states.Load() < limit {
		x.depth++
		frontier = x.expandAll(frontier, limit)
	}
	return len(frontier) == 0
}

// isNew reports whether a state has not been seen.
func (x *Search[S]) isNew(s *S) bool {
	h := x.Hash(s)
	shard := &x.visited[h%uint64(len(x.visited))]
	shard.Lock()
	defer shard.Unlock()
	if _, seen := shard.states[h]; seen {
		return false
	}
	if shard.states == nil {
		shard.states = map[uint64]struct{}{}
	}
	shard.states[h] = struct{}{}
	return true
}

// expandAll gives the states that follow those of the frontier and are new.
func (x *Search[S]) expandAll(frontier []S, limit int64) []S {
	workers := runtime.GOMAXPROCS(0)
	next := make([][]S, workers)
	var started atomic.Int64
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for x.found.Load() == nil && x.states.Load() < limit {
				i := started.Add(1) - 1
				if i >= int64(len(frontier)) {
					return
				}
				x.expand(&frontier[i], func(s S) { next[worker] = append(next[worker], s) })
			}
		})
	}
	group.Wait()
	var all []S
	for _, part := range next {
		all = append(all, part...)
	}
	return all
}

func (x *Search[S]) expand(s *S, add func(S)) {
	x.Moves(s, func(after S, wrong string) {
		x.transitions.Add(1)
		if wrong != "" {
			x.found.CompareAndSwap(nil, &Violation[S]{after, wrong})
			return
		}
		if !x.isNew(&after) {
			return
		}
		n := x.states.Add(1)
		if wrong := x.Wrong(&after); wrong != "" {
			x.found.CompareAndSwap(nil, &Violation[S]{after, wrong})
			return
		}
		if n%faultFreeEvery == 0 {
			x.faultFreeRuns.Add(1)
			if last, wrong := x.Rest(after); wrong != "" {
				x.found.CompareAndSwap(nil, &Violation[S]{last, wrong})
				return
			}
		}
		add(after)
	})
}

// Summary is a line of figures.
func (x *Search[S]) Summary(start time.Time) string {
	return fmt.Sprintf("%d states, %d transitions, %d brought to rest, depth %d, %.1f s",
		x.states.Load(), x.transitions.Load(), x.faultFreeRuns.Load(), x.depth, time.Since(start).Seconds())
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
