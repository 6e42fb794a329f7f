package mandate

import (
	"fmt"
	"hash/maphash"
	"sync"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/test/explore"
)

// state is one point of an exploration: three parts, and what may still be done to them.
type state struct {
	world  *world
	ops    [2]*operator
	budget movesLeft
	via    *explore.Trace
}

func (s *state) then(what string) state {
	next := *s
	next.via = s.via.Then(what)
	return next
}

// explorer walks all states of a scenario.
type explorer struct {
	explore.Search[state]

	scenario scenario
	parts    sync.Map // *world or *operator -> part
	known    sync.Map // what was worked out once, by a key that says all that it depends on
	same     sync.Map // encoding of a *world or *operator -> the one that is used
	rested   sync.Map // resting -> true: it comes to rest, and is as it must be
}

func newExplorer(of scenario) *explorer {
	x := &explorer{scenario: of}
	x.Moves, x.Hash = x.moves, x.hash
	x.Wrong, x.Rest = x.wrongIn, x.faultFree
	x.Deep = of.deep
	if of.deep == 0 {
		x.RestAll = 500
	}
	return x
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

func TestExplore(t *testing.T) {
	explore.Scenarios(t, scenarios(), func(of scenario) (*explore.Search[state], state) {
		return &newExplorer(of).Search, of.start()
	}, report)
}
