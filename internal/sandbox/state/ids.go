package state

import (
	"math/rand/v2"
	"sync"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// IDs generates ids as a service with many accounts does: large, with gaps, and
// each kind in its own range, so that no id is valid for two kinds. Only with
// dialect.IDsFromOne, every kind has the same ids.
type IDs struct {
	mu                                    sync.Mutex
	application, individual, check, other sequence
}

type sequence struct {
	last, gap int64
	fromOne   int64
	random    *rand.Rand
}

// NewIDs returns a generator; a seed of 0 selects a random one.
func NewIDs(seed uint64) *IDs {
	for seed == 0 {
		seed = rand.Uint64()
	}
	random := rand.New(rand.NewPCG(seed, seed))
	kind := func(base, spread, gap int64) sequence {
		return sequence{last: base + random.Int64N(spread), gap: gap, random: random}
	}
	return &IDs{
		application: kind(41_000_000, 9_000_000, 211),
		individual:  kind(730_000_000, 90_000_000, 57),
		check:       kind(1<<41, 1<<40, 977), // more than 32 bits, and still exact in a float64
		other:       kind(5_000_000, 900_000, 13),
	}
}

// JobID returns the id of a job, which is no application's.
func (a *Account) JobID() int64 {
	defer a.lock()()
	return a.nextID(&a.ids.other)
}

// idOffsets enlarge ids without collisions when the size changes. Above 60 bits, a
// float64 is exact for only one in 256 ids.
var idOffsets = map[string]int64{dialect.IDsAbove40Bits: 1 << 43, dialect.IDsAbove53Bits: 1 << 60}

func (a *Account) nextID(kind *sequence) int64 {
	a.ids.mu.Lock()
	defer a.ids.mu.Unlock()
	return kind.next(a.dialect.Get().IDSize)
}

func (s *sequence) next(size string) int64 {
	if size == dialect.IDsFromOne {
		s.fromOne++
		return s.fromOne
	}
	s.last += 1 + s.random.Int64N(s.gap)
	return s.last + idOffsets[size]
}
