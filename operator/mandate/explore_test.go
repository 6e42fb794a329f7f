package mandate

import (
	"flag"
	"fmt"
	"hash/maphash"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// faultFreeEvery is how many states there are to one that is brought to rest.
const faultFreeEvery = 200

// state is one point of an exploration: three parts, and what may still be done to them.
type state struct {
	world  *world
	ops    [2]*operator
	budget budget
	via    *trace
}

// trace leads back to the beginning.
type trace struct {
	before *trace
	what   string
	depth  int
}

func (s *state) then(what string) state {
	next := *s
	next.via = &trace{s.via, what, s.via.depth + 1}
	return next
}

// explorer walks all states of a scenario breadth first, so that the first violation has the shortest trace.
type explorer struct {
	scenario scenario
	visited  [64]struct {
		sync.Mutex
		states map[uint64]struct{}
	}
	parts sync.Map // *world or *operator -> part
	known sync.Map // what was worked out once, by a key that says all that it depends on
	same  sync.Map // encoding of a *world or *operator -> the one that is used

	states, transitions, faultFreeRuns atomic.Int64
	depth                              int
	found                              atomic.Pointer[violation]
}

// violation is a state that must not be.
type violation struct {
	state state
	what  string
}

// once works something out that depends on nothing but the key. Most of what happens changes one or two of the three
// parts of a state, and has happened before to the same ones.
func once[T any](x *explorer, key any, work func() T) T {
	if known, ok := x.known.Load(key); ok {
		return known.(T)
	}
	known, _ := x.known.LoadOrStore(key, work())
	return known.(T)
}

type (
	taking struct {
		world    *world
		operator *operator
		name     string
		fault    fault
	}
	agingWorld struct {
		world *world
		by    time.Duration
	}
	agingOperator struct {
		operator *operator
		by       time.Duration
	}
	starting struct{ world *world }
	seeing   struct {
		world    *world
		operator *operator
		kind     string
	}
)

func (x *explorer) take(w *world, o *operator, name string, f fault) outcome {
	return once(x, taking{w, o, name, f}, func() outcome {
		made := take(w, o, name, f)
		made.world, made.operator = x.sameWorld(made.world), x.sameOperator(made.operator)
		return made
	})
}

func (x *explorer) aged(s *state, by time.Duration) {
	s.world = once(x, agingWorld{s.world, by}, func() *world { return x.sameWorld(s.world.aged(by)) })
	for i, o := range s.ops {
		s.ops[i] = once(x, agingOperator{o, by}, func() *operator { return x.sameOperator(o.aged(by)) })
	}
}

func (x *explorer) started(w *world) *operator {
	return once(x, starting{w}, func() *operator { return x.sameOperator(started(w)) })
}

// seen is an operator one of whose caches has caught up.
func (x *explorer) seen(o *operator, w *world, kind string, see func(*operator, *world)) *operator {
	return once(x, seeing{w, o, kind}, func() *operator {
		seen := *o
		see(&seen, w)
		return x.sameOperator(&seen)
	})
}

// sameWorld gives the world that is like this one in everything, if there was one before: what follows is known then.
func (x *explorer) sameWorld(w *world) *world {
	p := x.part(w)
	exact := fmt.Appendln(nil, p.hash, p.nonces, w.revision, w.uids, w.nonces)
	for _, name := range sorted(w.mandates) {
		exact = append(exact, w.mandates[name].ResourceVersion+" "...)
	}
	for _, name := range sorted(w.records) {
		exact = append(exact, w.records[name].ResourceVersion+string(w.records[name].UID)+" "...)
	}
	same, _ := x.same.LoadOrStore(maphash.Bytes(seed, exact), w)
	return same.(*world)
}

// sameOperator does so for an operator.
func (x *explorer) sameOperator(o *operator) *operator {
	p := x.part(o)
	same, _ := x.same.LoadOrStore(maphash.Bytes(seed, fmt.Appendln(nil, p.hash, p.nonces, p.copies)), o)
	return same.(*operator)
}

func (x *explorer) part(of interface{ part() part }) part {
	if known, ok := x.parts.Load(of); ok {
		return known.(part)
	}
	p := of.part()
	x.parts.Store(of, p)
	return p
}

// hash of a state. The operators are alike, so their order does not count.
func (x *explorer) hash(s *state) uint64 {
	w := x.part(s.world)
	a, b := x.part(s.ops[0]), x.part(s.ops[1])
	return min(join(s.world, s.budget.part(), w, a, b), join(s.world, s.budget.part(), w, b, a))
}

// isNew reports whether a state has not been seen.
func (x *explorer) isNew(s *state) bool {
	h := x.hash(s)
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

// explore continues until there is no new state, a violation is found, or there are enough states.
// It reports whether that was all.
func (x *explorer) explore(limit int64) (complete bool) {
	frontier := x.expandAll([]state{x.scenario.start()}, limit)
	for len(frontier) > 0 && x.found.Load() == nil && x.states.Load() < limit {
		x.depth++
		frontier = x.expandAll(frontier, limit)
	}
	return len(frontier) == 0
}

// expandAll gives the states that follow those of the frontier and are new.
func (x *explorer) expandAll(frontier []state, limit int64) []state {
	workers := runtime.GOMAXPROCS(0)
	next := make([][]state, workers)
	var started atomic.Int64
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for x.found.Load() == nil && x.states.Load() < limit {
				i := started.Add(1) - 1
				if i >= int64(len(frontier)) {
					return
				}
				x.expand(&frontier[i], func(s state) { next[worker] = append(next[worker], s) })
			}
		})
	}
	group.Wait()
	var all []state
	for _, part := range next {
		all = append(all, part...)
	}
	return all
}

func (x *explorer) expand(s *state, add func(state)) {
	x.moves(s, func(after state, wrong string) {
		x.transitions.Add(1)
		if wrong != "" {
			x.found.CompareAndSwap(nil, &violation{after, wrong})
			return
		}
		if !x.isNew(&after) {
			return
		}
		n := x.states.Add(1)
		if wrong := wrongIn(&after); wrong != "" {
			x.found.CompareAndSwap(nil, &violation{after, wrong})
			return
		}
		if n%faultFreeEvery == 0 {
			x.faultFreeRuns.Add(1)
			if last, wrong := x.faultFree(after); wrong != "" {
				x.found.CompareAndSwap(nil, &violation{last, wrong})
				return
			}
		}
		add(after)
	})
}

func (x *explorer) summary(start time.Time) string {
	return fmt.Sprintf("%d states, %d transitions, %d brought to rest, depth %d, %.1f s",
		x.states.Load(), x.transitions.Load(), x.faultFreeRuns.Load(), x.depth, time.Since(start).Seconds())
}

var exploreStates = flag.Int64("states", 300, "how many states of each scenario to explore")

func TestExplore(t *testing.T) {
	start, total := time.Now(), int64(0)
	for _, name := range sorted(scenarios()) {
		t.Run(name, func(t *testing.T) {
			start, x := time.Now(), &explorer{scenario: scenarios()[name]}
			complete := x.explore(*exploreStates)
			total += x.states.Load()
			t.Logf("%s%s", x.summary(start), map[bool]string{true: ", all there are"}[complete])
			if v := x.found.Load(); v != nil {
				t.Fatal(v.report())
			}
		})
	}
	t.Logf("%d states in %.0f s", total, time.Since(start).Seconds())
}
